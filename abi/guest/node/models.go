package node

import (
	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/guest"
)

// NewCompletion asks a model that the request offers for one answer, of so many tokens at most, and no more than the model may give. An
// empty system message is left out. Schema, Samples, Temperature and Seed are the module's to set.
func NewCompletion(offer *abi.ModelOffer, tokens int, system, user string) *abi.Completion {
	c := &abi.Completion{Model: offer.Model, AnswerTokens: min(tokens, offer.AnswerTokens), Samples: 1}
	for _, m := range [...]abi.ChatMessage{{Role: abi.ChatSystem, Content: system}, {Role: abi.ChatUser, Content: user}} {
		if m.Content != "" {
			c.Messages = append(c.Messages, m)
		}
	}
	return c
}

// NoAnswer is nil where a model gave an answer, and otherwise the failure that says why not: model_failed, model_invalid and so on. After
// it the persona's fallback plays, where the pipeline names one.
func NoAnswer(r *abi.CompletionResult) *abi.Failure {
	if len(r.Answers) > 0 {
		return nil
	}
	return guest.Fail("model_"+string(r.Outcome), r.Detail)
}
