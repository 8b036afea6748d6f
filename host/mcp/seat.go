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

// Offers offers each name: who plays it is known when it is asked.
func (Seat) Offers(names []string) []abi.ModelOffer {
	offers := make([]abi.ModelOffer, len(names))
	for i, name := range names {
		offers[i] = abi.ModelOffer{Model: name, ContextTokens: contextTokens, AnswerTokens: answerTokens}
	}
	return offers
}

// Complete waits for the agent that plays the model in the trial of the context. Nobody plays in a trial that no agent plays in.
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
