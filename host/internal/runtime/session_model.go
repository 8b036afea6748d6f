package runtime

import (
	"context"
	"fmt"
	"slices"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/codec"
	"github.com/shadowcourt/shadowcourt/host/internal/runtime/invoker"
	"github.com/shadowcourt/shadowcourt/host/record"
	"github.com/shadowcourt/shadowcourt/host/trial"
)

// maxCompletions is how many completions one node call may ask for (SPEC.md §2.12).
const maxCompletions = 16

// models are those that the persona of a call may ask: none after a completion that was not asked.
func (s *Session) models(ctx context.Context, b *broker, completions []abi.CompletionResult) ([]abi.ModelOffer, error) {
	if b.denied(abi.CapComplete) != "" || !b.plays() || len(completions) >= maxCompletions {
		return nil, nil
	}
	if s.generation.runtime.config.Models == nil && !s.recorder.replays() {
		return nil, nil
	}
	if slices.ContainsFunc(completions, func(r abi.CompletionResult) bool { return r.Outcome == abi.CompletionNotAsked }) {
		return nil, nil
	}
	answer, err := s.askModels(ctx, b, &abi.CompletionQuery{Models: b.persona.Models})
	return answer.Models, err
}

// plays says whether the module of the call is the one that its persona names, and not its fallback.
func (b *broker) plays() bool { return b.persona != nil && b.module == b.persona.Module }

// complete asks a model. The time of the trial stands still meanwhile. A question that was asked in the trial before, such as by a
// pass after a remand or by a call that is made again, has the answer of that time, and is neither listed nor paid for a second time.
func (s *Session) complete(ctx context.Context, b *broker, completion *abi.Completion) (*abi.CompletionResult, error) {
	defer invoker.Pause(ctx)()
	began := s.generation.runtime.config.Now()
	query := &abi.CompletionQuery{Completion: completion}
	_, again := s.answers[useKey(abi.CapComplete, record.DigestOf(codec.AppendCompletionQuery(nil, query)))]
	answer, err := s.askModels(ctx, b, query)
	if err != nil {
		return nil, err
	}
	result := answer.Result
	if result == nil { // the record of the trial that is tried again does not have it
		result = &abi.CompletionResult{Outcome: abi.CompletionNotAsked, Detail: "the record has no answer of it"}
	}
	result.Model = completion.Model
	if again {
		return result, nil
	}
	s.completions = append(s.completions, trial.NewCompletion(b.at, b.by, result))
	s.modelUsage.InputTokens += result.InputTokens
	s.modelUsage.OutputTokens += result.OutputTokens
	s.modelUsage.Cost = trial.RoundMoney(s.modelUsage.Cost + result.Cost)
	s.modelUsage.Waited += s.generation.runtime.config.Now().Sub(began)
	return result, nil
}

// askModels puts a query to the broker of a call, which records it as a use of the call.
func (s *Session) askModels(ctx context.Context, b *broker, query *abi.CompletionQuery) (abi.CompletionAnswer, error) {
	message, err := b.Ask(ctx, abi.CapComplete, codec.AppendCompletionQuery(nil, query))
	if err != nil {
		return abi.CompletionAnswer{}, err
	}
	answer, err := codec.DecodeCompletionAnswer(message, len(message))
	if err != nil {
		return abi.CompletionAnswer{}, fmt.Errorf("the answer of the models: %w", err)
	}
	return answer, nil
}

// Completions that were asked for in the trial, in their order.
func (t *Trial) Completions() []trial.Completion { return t.completions }

// ModelUsage is what the trial had of language models.
func (t *Trial) ModelUsage() trial.ModelUsage { return t.modelUsage }

// Replaced notes that a fallback played in place of a module that failed.
func (t *Trial) Replaced(f trial.Fallback) { t.fallbacks = append(t.fallbacks, f) }

// Fallbacks that played, in their order.
func (t *Trial) Fallbacks() []trial.Fallback { return t.fallbacks }
