package mcp

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/model"
	"github.com/shadowcourt/shadowcourt/host/trial"
)

// play is a trial in which an agent plays personas. Safe for concurrent use.
type play struct {
	id     string
	models []string // that the agent plays
	wait   time.Duration

	mu      sync.Mutex
	changed chan struct{} // closed and replaced when anything below changes
	pending *call
	calls   int
	ended   bool
	result  *trial.Trial
	err     error
}

// call is a question to the agent.
type call struct {
	number     int
	completion *abi.Completion
	schema     *model.AnswerSchema // nil for free text
	answer     chan string
}

func newPlay(id string, models []string, wait time.Duration) *play {
	return &play{id: id, models: models, wait: wait, changed: make(chan struct{})}
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
	p.change(func() { p.ended, p.result, p.err = true, t, err })
}

// next waits until the agent is asked something or the trial has ended, and gives the call or nil.
func (p *play) next(ctx context.Context) (*call, error) {
	for {
		p.mu.Lock()
		c, ended, changed := p.pending, p.ended, p.changed
		p.mu.Unlock()
		switch {
		case ended:
			return nil, nil
		case c != nil:
			return c, nil
		}
		select {
		case <-changed:
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
		if answer, err = c.schema.Accept(answer); err != nil {
			return strings.Split(err.Error(), "\n"), nil
		}
	}
	p.pending = nil // answered: a second answer finds nothing
	c.answer <- answer
	return nil, nil
}
