package court

import (
	"context"
	"log/slog"
	"time"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/internal/sandbox"
	"github.com/shadowcourt/shadowcourt/host/record"
	"github.com/shadowcourt/shadowcourt/host/trial"
)

// Sandbox says how modules are run. The zero value is useful.
type Sandbox struct {
	// CacheDir keeps compiled modules between runs. Default: none.
	CacheDir string
	// CallLimits of every call. Zero fields mean the defaults of SPEC.md.
	CallLimits sandbox.Limits
	// Signed says who signed modules, by the digests of their files. Records have it. Optional.
	Signed map[record.Digest]Signature
	// Store keeps every module that is installed. Optional.
	Store *record.Store
	// Sleep and CallClock are for tests: how to wait for a folder that changes, and the clock that limits a call.
	Sleep     Sleep
	CallClock func() time.Time
}

// Signature is why a module was accepted that was signed.
type Signature struct {
	// Signer is the name of who signed it, and Policy the line and the digest of the trust policy by which the signature counts.
	Signer, Policy string
}

// Services are what a trial asks outside of its modules. Only Now is required.
type Services struct {
	// Casebook, Source, Experiments and Models answer modules. Optional.
	Casebook    Casebook
	Source      Source
	Experiments Experiments
	Models      Models
	// Logger gets the log lines of modules, and a record for each rejected artifact. Default: none.
	Logger *slog.Logger
	// Now is the clock that limits a trial and measures calls.
	Now func() time.Time
	// Observe is called after every call of a module, from the goroutine of the trial. Optional.
	Observe func(CallRecord)
}

// Casebook is the memory of earlier cases. Implementations are safe for concurrent use, and the same question has the same answer.
type Casebook interface {
	// Recall gives the cases whose failure looks like that of the case.
	Recall(ctx context.Context, subject *abi.Case, limit int) ([]abi.PriorCase, error)
	// Correlate gives the cases whose text is about the same.
	Correlate(ctx context.Context, text string, limit int) ([]abi.PriorCase, error)
	// Digest of all that it holds.
	Digest() string
}

// Source is the source of the module under test. Implementations are safe for concurrent use, and the same question has the same answer.
type Source interface {
	Source(ctx context.Context, query abi.SourceQuery) (abi.SourceAnswer, error)
	// Digest of all that it holds.
	Digest() string
}

// Models are language models. Implementations are safe for concurrent use.
type Models interface {
	// Offers are the models of these names that there are, in the same order.
	Offers(ctx context.Context, names []string) []abi.ModelOffer
	// Complete asks a model; asked is what the trial had of models before. Its error is that of the context, or of the host; what goes
	// wrong with the model is an outcome.
	Complete(ctx context.Context, completion abi.Completion, asked trial.ModelUsage) (abi.CompletionResult, error)
	// Digest of what the answers depend on besides the questions.
	Digest() string
}

// Experiments runs the tests of a case again. Implementations are safe for concurrent use.
type Experiments interface {
	// Offers are the experiments that can be run for the case, the cheapest first; the same for the same case. None where
	// nothing can be run.
	Offers(ctx context.Context, subject *abi.Case) ([]abi.ExperimentOffer, error)
	// Why says in a line why nothing is offered for the case, or not every experiment; empty if all are.
	Why(subject *abi.Case) string
	// Run runs one of them. Its error is that of the context, or of the host; what goes wrong with the run is an outcome.
	Run(ctx context.Context, subject *abi.Case, experiment abi.Experiment) (abi.ExperimentResult, error)
	// Digest of what the answers depend on besides the case: the trees, the tools, the configuration.
	Digest() string
}

// Light answers for the classifier under review. Implementations are safe for concurrent use.
type Light interface {
	Answer(ctx context.Context, req LightRequest) (LightResponse, error)
}

// LightRequest asks Light for a classification. Feedback, Previous and Evidence are nil the first time.
type LightRequest struct {
	Case     *abi.Case
	Feedback *abi.RemandFeedback
	Previous *abi.LightAnswer
	// Evidence is all that is before the court. It begins with the items of the indictment, in its order, so that the feedback's
	// indexes point into it.
	Evidence []abi.Evidence
}

// LightResponse is Light's classification, and the evidence that it gathered besides that of the case. After a remand Remand
// accounts for every question and every challenged item; its answers may hold new evidence, too.
type LightResponse struct {
	Answer   abi.LightAnswer
	Evidence []abi.Evidence
	Remand   *abi.RemandAnswer
}

// CallRecord is one call of a module. Input is the whole request, whatever the module was prepared with; it is valid only during
// Observe. Output is what the module gave, before any validation; nil when the call failed.
type CallRecord struct {
	CaseID string
	Module string
	Digest string
	Call   abi.Call
	// Node and Persona of the request; Persona is empty for edges.
	Node, Persona string
	Input, Output []byte
	Elapsed       time.Duration
	Err           error
	// Uses are what the module asked through its capabilities during the call, in order.
	Uses []Use
}

// Use is one use of a capability: what a module asked, and what it was answered, as canonical messages (SPEC.md §2.12).
type Use struct {
	Capability      abi.Capability
	Request, Answer []byte
}

// digests states a use without its messages.
func (u *Use) digests() trial.Use {
	return trial.Use{Capability: u.Capability, Request: string(record.DigestOf(u.Request)), Answer: string(record.DigestOf(u.Answer))}
}

// knowledge is the digests of the services that answer modules, where there are any.
func (s *Services) knowledge() []record.Part {
	var parts []record.Part
	add := func(name string, there bool, digest func() string) {
		if there {
			parts = append(parts, record.Part{Name: name, Digest: record.Digest(digest())})
		}
	}
	add("casebook", s.Casebook != nil, func() string { return s.Casebook.Digest() })
	add("source", s.Source != nil, func() string { return s.Source.Digest() })
	add("experiments", s.Experiments != nil, func() string { return s.Experiments.Digest() })
	add("models", s.Models != nil, func() string { return s.Models.Digest() })
	return parts
}

// CacheError says that the sandbox could not be opened: the folder for compiled modules cannot be used, or a limit is invalid.
type CacheError struct {
	Dir string
	Err error
}

// Error gives the message of Err.
func (e *CacheError) Error() string { return e.Err.Error() }

// Unwrap gives Err.
func (e *CacheError) Unwrap() error { return e.Err }
