package court

import (
	"context"
	"fmt"
	"slices"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/codec"
	"github.com/shadowcourt/shadowcourt/host/trial"
)

// maxCompletions is how many completions one node call may ask for (SPEC.md §2.12).
const maxCompletions = 16

// models are those that the persona of a call may ask: none after a completion that was not asked.
func (s *session) models(ctx context.Context, b *broker, completions []abi.CompletionResult) ([]abi.ModelOffer, error) {
	if b.denied(abi.CapComplete) != "" || !b.plays() || len(completions) >= maxCompletions {
		return nil, nil
	}
	if s.services.Models == nil && !s.recorder.replays() {
		return nil, nil
	}
	if slices.ContainsFunc(completions, func(r abi.CompletionResult) bool { return r.Outcome == abi.CompletionNotAsked }) {
		return nil, nil
	}
	answer, err := b.askModels(ctx, codec.AppendCompletionQuery(nil, &abi.CompletionQuery{Models: b.persona.Models}))
	return answer.Models, err
}

// plays says whether the module of the call is the one that its persona names, and not its fallback.
func (b *broker) plays() bool { return b.persona != nil && b.module == b.persona.Module }

// complete asks a model. The time of the trial stands still meanwhile. A question that was asked in the trial before, such as by a
// pass after a remand or by a call that is made again, has the answer of that time, and is neither listed nor paid for a second time.
func (s *session) complete(ctx context.Context, b *broker, completion *abi.Completion) (*abi.CompletionResult, error) {
	defer s.pause()()
	began := s.services.Now()
	query := codec.AppendCompletionQuery(nil, &abi.CompletionQuery{Completion: completion})
	_, again := s.answers[keyOfUse(abi.CapComplete, query)]
	answer, err := b.askModels(ctx, query)
	if err != nil {
		return nil, err
	}
	result := answer.Result
	if result == nil { // the record of the trial that is replayed does not have it
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
	s.modelUsage.Waited += s.services.Now().Sub(began)
	return result, nil
}

// askModels puts a query to the broker, which records it as a use of the call.
func (b *broker) askModels(ctx context.Context, query []byte) (answer abi.CompletionAnswer, err error) {
	message, err := b.Ask(ctx, abi.CapComplete, query)
	if err == nil {
		if answer, err = codec.DecodeCompletionAnswer(message, len(message)); err != nil {
			err = fmt.Errorf("the answer of the models: %w", err)
		}
	}
	return answer, err
}
