package host

import (
	"context"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/trial"
)

// Casebook is the memory of earlier cases that modules may ask, where they
// were granted it. It must be safe for concurrent use, and must not change
// while a Host is open on it: the same question has the same answer.
type Casebook interface {
	// Recall gives the cases whose failure looks like that of the case.
	Recall(ctx context.Context, subject *abi.Case, limit int) ([]abi.PriorCase, error)
	// Correlate gives the cases whose text is about the same.
	Correlate(ctx context.Context, text string, limit int) ([]abi.PriorCase, error)
	// Digest of all that it holds.
	Digest() string
}

// Source is the source of the module under test, which modules may ask where
// they were granted it. It must be safe for concurrent use, and must not
// change while a Host is open on it.
type Source interface {
	Source(ctx context.Context, query abi.SourceQuery) (abi.SourceAnswer, error)
	// Digest of all that it holds.
	Digest() string
}

// Models are language models that personas may ask, where they were granted the capability complete. It must be safe for concurrent use.
type Models interface {
	// Offers are the models of these names that there are, in the same order.
	Offers(ctx context.Context, names []string) []abi.ModelOffer
	// Complete asks a model; asked is what the trial had of models before. Its error is that of the context, or of the host; what goes
	// wrong with the model is an outcome.
	Complete(ctx context.Context, completion abi.Completion, asked trial.ModelUsage) (abi.CompletionResult, error)
	// Digest of what the answers depend on beside the questions.
	Digest() string
}

// Experiments runs the tests of a case again for personas that were granted it. It must be safe for concurrent use.
type Experiments interface {
	// Offers are the experiments that can be run for the case, the cheapest first; the same for the same case. None where
	// nothing can be run.
	Offers(ctx context.Context, subject *abi.Case) ([]abi.ExperimentOffer, error)
	// Why says in a line why nothing is offered for the case, or not every experiment; empty if all are.
	Why(subject *abi.Case) string
	// Run runs one of them. Its error is that of the context, or of the host; what goes wrong with the run is an outcome.
	Run(ctx context.Context, subject *abi.Case, experiment abi.Experiment) (abi.ExperimentResult, error)
	// Digest of what the answers depend on beside the case: the trees, the tools, the configuration.
	Digest() string
}
