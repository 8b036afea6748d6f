package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/model"
	"github.com/shadowcourt/shadowcourt/host/trial"
)

// play is a trial in which an agent plays personas. Safe for concurrent use.
type play struct {
	id     string
	owner  *sdk.ServerSession // the only one that may see it
	of     string             // id of the case
	labels map[string]string  // what the labels of the case mean
	models []string           // that the agent plays
	wait   time.Duration
	cancel context.CancelFunc
	over   chan struct{} // closed when the trial has ended

	mu      sync.Mutex
	changed chan struct{} // closed and replaced when anything below changes
	pending *call
	calls   int
	result  *trial.Trial // once the trial has ended
	err     error
}

// call is a question to the agent.
type call struct {
	number     int
	completion *abi.Completion
	schema     *model.AnswerSchema // nil for free text
	answer     chan string
}

func newPlay(id string, owner *sdk.ServerSession, of string, models []string, wait time.Duration) *play {
	return &play{id: id, owner: owner, of: of, models: models, wait: wait, changed: make(chan struct{}), over: make(chan struct{})}
}

// ended says whether the trial has ended.
func (p *play) ended() bool {
	select {
	case <-p.over:
		return true
	default:
		return false
	}
}

// waits is the number of the call that waits for an answer; 0 if there is none.
func (p *play) waits() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.pending == nil {
		return 0
	}
	return p.pending.number
}

// change changes the play, and wakes those who wait for that.
func (p *play) change(do func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	do()
	close(p.changed)
	p.changed = make(chan struct{})
}

// ask puts a question to the agent and waits for its answer. The trial's goroutine calls it.
func (p *play) ask(ctx context.Context, completion *abi.Completion) (abi.CompletionResult, error) {
	result := abi.CompletionResult{Model: completion.Model, Outcome: abi.CompletionFailed, Answers: []string{}}
	c := &call{completion: completion, answer: make(chan string, 1)}
	if completion.Schema != "" {
		var err error
		if c.schema, err = model.CompileSchema(completion.Schema); err != nil {
			result.Detail = "the schema of the answer: " + err.Error()
			return result, nil
		}
	}
	p.change(func() {
		p.calls++
		c.number = p.calls
		p.pending = c
	})
	defer p.change(func() { p.pending = nil })
	timer := time.NewTimer(p.wait)
	defer timer.Stop()
	select {
	case answer := <-c.answer:
		result.Outcome, result.Answers = abi.CompletionAnswered, []string{answer}
		return result, nil
	case <-timer.C:
		result.Outcome, result.Detail = abi.CompletionNotAsked, fmt.Sprintf("the agent gave no answer within %v", p.wait)
		return result, nil
	case <-ctx.Done():
		return result, ctx.Err()
	}
}

// end notes what came of the trial.
func (p *play) end(t *trial.Trial, err error) {
	p.change(func() { p.result, p.err = t, err })
	close(p.over)
}

// next waits until the agent is asked something or the trial has ended, and gives the call or nil.
func (p *play) next(ctx context.Context) (*call, error) {
	for {
		p.mu.Lock()
		c, changed := p.pending, p.changed
		p.mu.Unlock()
		switch {
		case p.ended():
			return nil, nil
		case c != nil:
			return c, nil
		}
		select {
		case <-changed:
		case <-p.over:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// errNoCall says that an answer is to nothing that was asked.
var errNoCall = errors.New("no such call is waiting for an answer: call next_call")

// submit gives the answer to a call. What breaks its schema is returned, and the call goes on waiting.
func (p *play) submit(number int, answer string) (problems []string, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	c := p.pending
	if c == nil || c.number != number {
		return nil, errNoCall
	}
	if c.schema != nil {
		document, err := c.schema.Accept(answer)
		switch {
		case err != nil && !strings.ContainsAny(answer, "{[") && !json.Valid([]byte(answer)):
			return []string{notJSON(answer)}, nil
		case err != nil:
			return strings.Split(err.Error(), "\n"), nil
		}
		answer = document
	}
	p.pending = nil // answered: a second answer finds nothing
	c.answer <- answer
	return nil, nil
}

// notJSON says that an answer has no JSON, and what to submit.
func notJSON(answer string) string {
	const most = 40
	if len(answer) > most {
		answer = strings.ToValidUTF8(answer[:most], "") + "…"
	}
	return fmt.Sprintf("the answer is the text %q and no JSON: submit a value that conforms to the call's schema, or its JSON as a text", answer)
}

// What an agent is offered as a model. It counts its tokens itself.
const (
	contextTokens = 64 << 10
	answerTokens  = 8 << 10
)

// Seat gives the personas of a host to agents: it is the host.Models of a host whose models are agents. Safe for concurrent use.
type Seat struct{}

// Offers are the names that an agent plays in the trial of the context.
func (Seat) Offers(ctx context.Context, names []string) []abi.ModelOffer {
	var offers []abi.ModelOffer
	p, _ := ctx.Value(playKey{}).(*play)
	for _, name := range names {
		if p != nil && slices.Contains(p.models, name) {
			offers = append(offers, abi.ModelOffer{Model: name, ContextTokens: contextTokens, AnswerTokens: answerTokens})
		}
	}
	return offers
}

// Complete waits for the agent that plays the model in the trial of the context.
func (Seat) Complete(ctx context.Context, completion abi.Completion, _ trial.ModelUsage) (abi.CompletionResult, error) {
	p, ok := ctx.Value(playKey{}).(*play)
	if !ok || !slices.Contains(p.models, completion.Model) {
		return abi.CompletionResult{Model: completion.Model, Outcome: abi.CompletionNotAsked, Answers: []string{}, Detail: "no agent plays it"}, nil
	}
	return p.ask(ctx, &completion)
}

// Digest says that answers are an agent's: nothing tells which ones it will give.
func (Seat) Digest() string { return "agents" }

// playKey finds the play of a trial in its context.
type playKey struct{}

// waitForAnswer is how long a trial waits for the answer of an agent.
const waitForAnswer = 30 * time.Minute
