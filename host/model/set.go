// Package model asks language models for personas: it implements the host's interface for the capability complete.
//
// A file models.yaml says which models there are ([Load]). Each is asked at a provider: any endpoint with the interface of OpenAI, or
// Anthropic. [Open] makes a [Set] of them, which validates answers by their schema, repairs a broken answer once, keeps budgets, and
// answers from a [Cassette] where there is one. Whatever goes wrong with a model is an outcome of the completion, with a
// line that says what happened.
package model

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/strictyaml"
)

// Config says what a [Set] is made of. Only the definition is needed.
type Config struct {
	Definition *Definition
	// Cassette records answers, or plays them.
	Cassette *Cassette
	// Getenv reads the variables that hold keys. Default: os.Getenv.
	Getenv func(string) string
	// Transport carries requests. Default: one for each provider.
	Transport http.RoundTripper
	// Proxy says through which proxy a request goes. Default: that of the environment (HTTPS_PROXY, HTTP_PROXY, NO_PROXY).
	Proxy func(*http.Request) (*url.URL, error)
	// Clock is what timeouts and waits run by. Default: the system's.
	Clock Clock
	// Random spreads retries; it gives numbers from 0 to 1. Default: that of math/rand.
	Random func() float64
}

// Set are the models of a definition. Safe for concurrent use.
type Set struct {
	definition *Definition
	endpoints  map[string]*endpoint // none where a cassette plays
	cassette   *Cassette
	clock      Clock
	ledger     ledger
}

// Open makes a set. A key that is missing is no error: completions of its models are not asked, with the reason, and [Set.Warnings] says so.
// net/http writes to the standard logger what a server sends out of turn, which may be a key: direct that logger elsewhere ([log.SetOutput]).
func Open(c Config) (*Set, error) {
	if c.Definition == nil {
		return nil, errors.New("there is no definition of models")
	}
	if c.Getenv == nil {
		c.Getenv = os.Getenv
	}
	if c.Proxy == nil {
		c.Proxy = http.ProxyFromEnvironment
	}
	if c.Clock == nil {
		c.Clock = systemClock{}
	}
	if c.Random == nil {
		c.Random = random
	}
	s := &Set{definition: c.Definition, cassette: c.Cassette, clock: c.Clock, endpoints: map[string]*endpoint{}}
	if s.cassette.plays() {
		return s, nil
	}
	for name, p := range c.Definition.Providers {
		s.endpoints[name] = newEndpoint(name, p, &c)
	}
	return s, nil
}

// Close ends idle connections and completes the cassette. No completion may run.
func (s *Set) Close() error {
	for _, e := range s.endpoints {
		e.client.CloseIdleConnections()
	}
	return s.cassette.close()
}

// Warnings say which models can't be asked, a line for each provider.
func (s *Set) Warnings() []string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(s.endpoints)) {
		if e := s.endpoints[name]; e.noKey != "" {
			all = append(all, fmt.Sprintf("the models of the provider %s are not asked: %s", name, e.noKey))
		}
	}
	return all
}

// Notes say what is worth knowing of how models are asked: through which proxies, a line for each provider.
func (s *Set) Notes() []string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(s.endpoints)) {
		if e := s.endpoints[name]; e.proxy != "" && e.noKey == "" {
			all = append(all, fmt.Sprintf("the provider %s is asked through the proxy %s", name, e.proxy))
		}
	}
	return all
}

// Offers implements the host's interface.
func (s *Set) Offers(_ context.Context, names []string) []abi.ModelOffer {
	var offers []abi.ModelOffer
	for _, name := range names {
		if m := s.definition.Models[name]; m != nil {
			offers = append(offers, abi.ModelOffer{Model: name, ContextTokens: m.ContextTokens, AnswerTokens: m.AnswerTokens})
		}
	}
	return offers
}

// Digest names what answers depend on beside the questions: the models with their names, providers, addresses and parameters.
func (s *Set) Digest() string {
	type bound struct {
		Binding       binding `json:"binding"`
		ContextTokens int     `json:"context_tokens"`
		AnswerTokens  int     `json:"answer_tokens"`
	}
	models := map[string]bound{}
	for name, m := range s.definition.Models {
		models[name] = bound{s.definition.binding(m), m.ContextTokens, m.AnswerTokens}
	}
	return digestOf(struct {
		Form   string           `json:"form"`
		Models map[string]bound `json:"models"`
	}{exchangeForm, models})
}

// The limits of the answers to one completion, in bytes.
const (
	maxAnswerBytes  = 256 << 10
	maxAnswersBytes = 1 << 20
)

// Complete implements the host's interface. Its error is that of the context.
func (s *Set) Complete(ctx context.Context, completion abi.Completion, asked trial.ModelUsage) (abi.CompletionResult, error) {
	result := abi.CompletionResult{Model: completion.Model, Answers: []string{}}
	without := func(outcome abi.CompletionOutcome, detail string) (abi.CompletionResult, error) {
		result.Outcome, result.Detail = outcome, detail
		return result, nil
	}
	if err := ctx.Err(); err != nil {
		return result, err
	}
	q := &question{set: s, completion: &completion, purse: &purse{budgets: s.definition.Budgets, asked: asked, ledger: &s.ledger}}
	if f := q.prepare(); f != nil {
		return without(f.outcome, f.detail)
	}
	began := s.clock.Now()
	within, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	if !s.cassette.plays() {
		most, by, why := q.purse.begin()
		q.rejection = cmp.Or(q.rejection, why)
		if most > 0 {
			stop := s.clock.AfterFunc(most, func() {
				cancel(failed(fmt.Sprintf("no answer within the %s s that the budget of the %s leaves", figure(most.Seconds()), by)))
			})
			defer stop()
		}
	}
	samples := q.samples(within)
	q.purse.end(s.clock.Now().Sub(began))
	if err := ctx.Err(); err != nil {
		return result, err
	}
	conclude(&result, samples)
	return result, nil
}

// conclude makes a result of samples.
func conclude(result *abi.CompletionResult, samples []sample) {
	var first *failure
	bytes := 0
	for i := range samples {
		one := &samples[i]
		result.InputTokens += one.inputTokens
		result.OutputTokens += one.outputTokens
		result.Cost += one.cost
		if one.failure == nil && bytes+len(one.answer) > maxAnswersBytes {
			one.failure = tooLong(fmt.Sprintf("the answers have more than %d bytes together", maxAnswersBytes))
		}
		if one.failure == nil {
			bytes += len(one.answer)
			result.Answers = append(result.Answers, one.answer)
		} else if first == nil || first.outcome == abi.CompletionNotAsked && one.failure.outcome != abi.CompletionNotAsked {
			first = one.failure
		}
	}
	result.Cost = trial.RoundMoney(result.Cost)
	switch {
	case first == nil:
		result.Outcome = abi.CompletionAnswered
	case len(result.Answers) > 0:
		result.Outcome = abi.CompletionPartial
		result.Detail = fmt.Sprintf("%d of %d samples have no answer: %s", len(samples)-len(result.Answers), len(samples), first.detail)
	default:
		result.Outcome, result.Detail = first.outcome, first.detail
	}
}

// prepare checks a question before anything is asked.
func (q *question) prepare() *failure {
	s, c := q.set, q.completion
	q.model = s.definition.Models[c.Model]
	if q.model == nil {
		return notAsked(fmt.Sprintf("there is no model %s; there are %s", oneLine(strictyaml.Clip(c.Model)), cmp.Or(strings.Join(s.definition.Names(), ", "), "none")))
	}
	if !s.cassette.plays() {
		q.endpoint = s.endpoints[q.model.Provider]
		if q.endpoint.noKey != "" {
			q.rejection = fmt.Sprintf("the model %s is not there: %s", c.Model, q.endpoint.noKey)
		}
	}
	if len(c.Messages) == 0 {
		return &failure{outcome: abi.CompletionInvalid, detail: "the question has no messages"}
	}
	if c.AnswerTokens > q.model.AnswerTokens {
		return tooLong(fmt.Sprintf("an answer of %d tokens is asked for, and the model %s gives %d", c.AnswerTokens, c.Model, q.model.AnswerTokens))
	}
	if tokens := bytesOf(c.Messages)/4 + c.AnswerTokens; tokens > q.model.ContextTokens {
		return tooLong(fmt.Sprintf("question and answer have about %d tokens, and the context of the model %s has %d", tokens, c.Model, q.model.ContextTokens))
	}
	if c.Schema != "" {
		var err error
		if q.schema, err = compileSchema(c.Schema); err != nil {
			return &failure{outcome: abi.CompletionInvalid, detail: "the schema of the question is rejected, and nothing was asked: " + cut(oneLine(err.Error()), 400)}
		}
	}
	return nil
}

func bytesOf(messages []abi.ChatMessage) int {
	n := 0
	for _, m := range messages {
		n += len(m.Content)
	}
	return n
}
