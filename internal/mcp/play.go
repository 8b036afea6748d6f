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
	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/model"
	"github.com/shadowcourt/shadowcourt/host/trial"
)

// play is a trial in which an agent plays personas. Safe for concurrent use.
type play struct {
	id     string
	of     string            // id of the case
	labels map[string]string // what the labels of the case mean
	models []string          // that the agent plays
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

func newPlay(id, of string, models []string, wait time.Duration) *play {
	return &play{id: id, of: of, models: models, wait: wait, changed: make(chan struct{}), over: make(chan struct{})}
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

// begin begins a trial in which the agent plays. The trial calls end; where it does not begin, the caller does.
func (s *Server) begin(h *host.Host, end func(), e *docket.Entry, models []string) (*play, error) { // without a context: the trial outlives the request
	s.mu.Lock()
	defer s.mu.Unlock()
	waiting := 0
	for _, p := range s.plays {
		if !p.ended() {
			waiting++
		}
	}
	switch {
	case s.ctx.Err() != nil:
		return nil, errEnds
	case waiting >= maxPlays:
		return nil, fmt.Errorf("%d plays have not ended: play them, or end some with end_play; list_plays names them", waiting)
	}
	s.played++
	p := newPlay(fmt.Sprintf("play-%d", s.played), e.Case.ID, models, s.config.Answer)
	p.labels = meanings(h, e)
	var ctx context.Context
	ctx, p.cancel = context.WithCancel(context.WithValue(s.ctx, playKey{}, p))
	s.plays = append(s.plays, p)
	s.trials.Go(func() {
		defer end()
		defer p.cancel()
		p.end(s.try(ctx, h, e.Case))
		s.forget()
	})
	return p, nil
}

// forget drops the oldest plays that ended beyond the limit. The others are kept for an agent that lost the answer.
func (s *Server) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	ended := 0
	for _, p := range s.plays {
		if p.ended() {
			ended++
		}
	}
	s.plays = slices.DeleteFunc(s.plays, func(p *play) bool {
		drop := ended > maxTrials && p.ended()
		if drop {
			ended--
		}
		return drop
	})
}

// find gives a play.
func (s *Server) find(id string) (*play, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.plays {
		if p.id == id {
			return p, nil
		}
	}
	return nil, fmt.Errorf("there is no play %q: begin one with play; list_plays names those that you have", id)
}

// drop ends a play and forgets it.
func (s *Server) drop(ctx context.Context, p *play) error {
	p.cancel()
	select {
	case <-p.over:
	case <-ctx.Done():
		return ctx.Err()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.plays = slices.DeleteFunc(s.plays, func(other *play) bool { return other == p })
	return nil
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

type playInput struct {
	Report   string   `json:"report,omitempty" jsonschema:"the text of a report with the case, as for try_case"`
	Path     string   `json:"path,omitempty" jsonschema:"in place of report: its path, as for try_case"`
	Format   string   `json:"format,omitempty" jsonschema:"auto, jsonl, gotest, junit, reportportal or dotnet; default auto"`
	Case     string   `json:"case,omitempty" jsonschema:"id of the case, where the report has several"`
	Personas []string `json:"personas" jsonschema:"the personas to play; the others are played by modules"`
}

type callInput struct {
	Play string `json:"play" jsonschema:"the play that the tool play began"`
}

type submitInput struct {
	Play   string `json:"play"`
	Call   int    `json:"call" jsonschema:"the number of the call"`
	Answer any    `json:"answer" jsonschema:"the answer: a value that conforms to the call's schema, or its JSON as a text; any text where the call has none"`
}

type callOutput struct {
	Play string `json:"play"`
	// A call that waits for an answer.
	Call     int             `json:"call,omitempty"`
	Persona  string          `json:"persona,omitempty"`
	Messages []messageOutput `json:"messages,omitempty"`
	// Labels of the case with what they mean.
	Labels map[string]string `json:"labels,omitempty"`
	Schema any               `json:"schema,omitempty"`
	// Problems of the answer that was submitted: correct it and submit it again.
	Problems []string `json:"problems,omitempty"`
	// Result of the trial, once it has ended.
	Result map[string]any `json:"result,omitempty"`
}

type messageOutput struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

func (s *Server) play(ctx context.Context, _ *sdk.CallToolRequest, in playInput) (*sdk.CallToolResult, callOutput, error) {
	if len(in.Personas) == 0 {
		return nil, callOutput{}, fmt.Errorf("name the personas to play: some of %s", strings.Join(s.config.Personas, ", "))
	}
	for _, p := range in.Personas {
		if !slices.Contains(s.config.Personas, p) {
			return nil, callOutput{}, fmt.Errorf("%q is no persona to play; there are %s", p, strings.Join(s.config.Personas, ", "))
		}
	}
	h, end, cases, _, err := s.entries(ctx, &reportInput{Report: in.Report, Path: in.Path, Format: in.Format, Case: in.Case})
	if err != nil {
		return nil, callOutput{}, err
	}
	if len(cases) > 1 {
		end()
		return nil, callOutput{}, fmt.Errorf("the report has %d cases: name one with `case`, such as %q", len(cases), cases[0].Case.ID)
	}
	p, err := s.begin(h, end, &cases[0], in.Personas) //nolint:contextcheck // the trial outlives the request
	if err != nil {
		end()
		return nil, callOutput{}, err
	}
	out, err := s.proceed(ctx, p)
	return nil, out, err
}

func (s *Server) nextCall(ctx context.Context, _ *sdk.CallToolRequest, in callInput) (*sdk.CallToolResult, callOutput, error) {
	p, err := s.find(in.Play)
	if err != nil {
		return nil, callOutput{}, err
	}
	out, err := s.proceed(ctx, p)
	return nil, out, err
}

type listPlaysOutput struct {
	Plays []listedPlay `json:"plays"`
}

type listedPlay struct {
	Play     string   `json:"play"`
	Case     string   `json:"case"`
	Personas []string `json:"personas"`
	Call     int      `json:"call,omitempty" jsonschema:"the number of the call that waits for your answer"`
	Ended    bool     `json:"ended" jsonschema:"the trial has ended: next_call gives the result"`
}

func (s *Server) listPlays(_ context.Context, _ *sdk.CallToolRequest, _ nothingInput) (*sdk.CallToolResult, listPlaysOutput, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := listPlaysOutput{Plays: []listedPlay{}}
	for _, p := range s.plays {
		out.Plays = append(out.Plays, listedPlay{p.id, p.of, p.models, p.waits(), p.ended()})
	}
	return nil, out, nil
}

func (s *Server) endPlay(ctx context.Context, _ *sdk.CallToolRequest, in callInput) (*sdk.CallToolResult, textOutput, error) {
	p, err := s.find(in.Play)
	if err != nil {
		return nil, textOutput{}, err
	}
	if err := s.drop(ctx, p); err != nil {
		return nil, textOutput{}, err
	}
	return nil, textOutput{p.id + " has ended"}, nil
}

func (s *Server) submit(ctx context.Context, _ *sdk.CallToolRequest, in submitInput) (*sdk.CallToolResult, callOutput, error) {
	p, err := s.find(in.Play)
	if err != nil {
		return nil, callOutput{}, err
	}
	answer, ok := in.Answer.(string)
	if !ok {
		data, err := json.Marshal(in.Answer)
		if err != nil {
			return nil, callOutput{}, err
		}
		answer = string(data)
	}
	if len(answer) > maxAnswerBytes {
		return nil, callOutput{}, fmt.Errorf("the answer has %d bytes; at most %d are allowed", len(answer), maxAnswerBytes)
	}
	problems, err := p.submit(in.Call, answer)
	if err != nil {
		return nil, callOutput{}, err
	}
	if len(problems) > 0 {
		return nil, callOutput{Play: p.id, Call: in.Call, Problems: problems}, nil
	}
	out, err := s.proceed(ctx, p)
	return nil, out, err
}

// maxAnswerBytes limits an answer: records keep it.
const maxAnswerBytes = 256 << 10

// proceed waits for the next call or the end of a trial.
func (s *Server) proceed(ctx context.Context, p *play) (callOutput, error) {
	c, err := p.next(ctx)
	if err != nil {
		return callOutput{}, err
	}
	if c == nil {
		if p.err != nil {
			return callOutput{}, p.err
		}
		result, err := resultOf(p.result)
		return callOutput{Play: p.id, Labels: p.labels, Result: result}, err
	}
	out := callOutput{Play: p.id, Call: c.number, Persona: c.completion.Model, Labels: p.labels}
	if c.completion.Schema != "" {
		if err := json.Unmarshal([]byte(c.completion.Schema), &out.Schema); err != nil {
			return out, err
		}
	}
	for _, m := range c.completion.Messages {
		out.Messages = append(out.Messages, messageOutput{string(m.Role), m.Content})
	}
	return out, nil
}
