package mcp

import (
	"context"
	"slices"
	"time"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/trial"
)

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
