package host

import "github.com/shadowcourt/shadowcourt/host/internal/court"

// Light answers for the classifier under review. A case that brings its own
// classification needs none; with one, the court may remand. It must be safe for concurrent use.
//
//	Answer(ctx context.Context, req LightRequest) (LightResponse, error)
type Light = court.Light

// LightRequest asks Light for a classification. Feedback, Previous and
// Evidence are nil the first time.
//
//	Case     *abi.Case
//	Feedback *abi.RemandFeedback
//	Previous *abi.LightAnswer
//	// Evidence is all that is before the court. It begins with the items of
//	// the indictment, in its order, so that the feedback's indexes point into it.
//	Evidence []abi.Evidence
type LightRequest = court.LightRequest

// LightResponse is Light's classification, and the evidence that it gathered
// besides that of the case. Its items are named after Light: the court reads the source_ref "scan:7" as "light-scan:scan:7".
// After a remand Remand accounts for every
// question and every challenged item; its answers may hold new evidence, too.
//
//	Answer   abi.LightAnswer
//	Evidence []abi.Evidence
//	Remand   *abi.RemandAnswer
type LightResponse = court.LightResponse

// Casebook is the memory of earlier cases that modules may ask, where they
// were granted it. It must be safe for concurrent use, and must not change
// while a Host is open on it: the same question has the same answer.
//
//	// Recall gives the cases whose failure looks like that of the case.
//	Recall(ctx context.Context, subject *abi.Case, limit int) ([]abi.PriorCase, error)
//	// Correlate gives the cases whose text is about the same.
//	Correlate(ctx context.Context, text string, limit int) ([]abi.PriorCase, error)
//	// Digest of all that it holds.
//	Digest() string
type Casebook = court.Casebook

// Source is the source of the module under test, which modules may ask where
// they were granted it. It must be safe for concurrent use, and must not
// change while a Host is open on it.
//
//	Source(ctx context.Context, query abi.SourceQuery) (abi.SourceAnswer, error)
//	// Digest of all that it holds.
//	Digest() string
type Source = court.Source

// Models are language models that personas may ask, where they were granted the capability complete. It must be safe for concurrent use.
//
//	// Offers are the models of these names that there are, in the same order.
//	Offers(ctx context.Context, names []string) []abi.ModelOffer
//	// Complete asks a model; asked is what the trial had of models before. Its error is that of the context, or of the host;
//	// what goes wrong with the model is an outcome.
//	Complete(ctx context.Context, completion abi.Completion, asked trial.ModelUsage) (abi.CompletionResult, error)
//	// Digest of what the answers depend on besides the questions.
//	Digest() string
type Models = court.Models

// Experiments runs the tests of a case again for personas that were granted it. It must be safe for concurrent use.
//
//	// Offers are the experiments that can be run for the case, the cheapest first; the same for the same case. None where
//	// nothing can be run.
//	Offers(ctx context.Context, subject *abi.Case) ([]abi.ExperimentOffer, error)
//	// Why says in a line why nothing is offered for the case, or not every experiment; empty if all are.
//	Why(subject *abi.Case) string
//	// Run runs one of them. Its error is that of the context, or of the host; what goes wrong with the run is an outcome.
//	Run(ctx context.Context, subject *abi.Case, experiment abi.Experiment) (abi.ExperimentResult, error)
//	// Digest of what the answers depend on besides the case: the trees, the tools, the configuration.
//	Digest() string
type Experiments = court.Experiments

// CallRecord is one call of a module: what went in and what came out. Input is
// valid only during Observe. Output is what the module gave, before any
// validation; nil when the call failed.
//
//	CaseID, Module, Digest string
//	Call                   abi.Call
//	Node, Persona          string // of the request; Persona is empty for edges
//	Input, Output          []byte
//	Elapsed                time.Duration
//	Err                    error
//	Uses                   []Use // what the module asked through its capabilities during the call, in order
type CallRecord = court.CallRecord

// Use is one use of a capability: what a module asked, and what it was
// answered, as canonical messages (SPEC.md §2.12).
//
//	Capability      abi.Capability
//	Request, Answer []byte
type Use = court.Use
