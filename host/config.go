package host

import (
	"io/fs"
	"log/slog"
	"time"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/internal/court"
	"github.com/shadowcourt/shadowcourt/host/internal/court/registry"
	"github.com/shadowcourt/shadowcourt/host/internal/sandbox"
	"github.com/shadowcourt/shadowcourt/host/pipeline"
	"github.com/shadowcourt/shadowcourt/host/record"
	"github.com/shadowcourt/shadowcourt/host/rules"
)

// Config of a Host. Its zero value is useful: the shipped court with the shipped modules, no profile, no cache on disk.
type Config struct {
	// Pipeline of the court. Default: the shipped defect-court.
	Pipeline *pipeline.Definition
	// Modules holds NAME.wasm files, and for each reference of the pipeline [pipeline.ModuleFile] of it: whoever opens a host fetches
	// and verifies these. Default: the modules embedded in this program, which must have been built into it.
	Modules fs.FS
	// Signed says who signed modules, and by which policy the signature counts, by the digests of their files: records have it. Optional.
	Signed map[record.Digest]Signature
	// Court changes limits of the pipeline's court: it gets a copy of them. Optional.
	Court func(*pipeline.Court)
	// Profile of the domain, handed to the personas. Optional.
	Profile *abi.Profile
	// Unprepared has modules get whole requests, also those that can be prepared once with what many requests have in common (SPEC.md §2.19).
	// Results are the same, but for fuel.
	Unprepared bool
	// Light to ask where a case has no classification, and after a remand. Optional.
	Light Light
	// Reclassify asks Light about every case: the classifications that cases bring are not used.
	Reclassify bool
	// LightPath is a graph that answers in place of a Light; with it every case is reclassified. Optional.
	LightPath *pipeline.Definition
	// Casebook and Source answer modules that were granted recall, correlate or
	// source. Without one, they are answered that nothing is known. Optional.
	Casebook Casebook
	Source   Source
	// Experiments runs tests again for personas that were granted it. The time of a trial stands still meanwhile. Without it
	// no experiments are offered. Optional.
	Experiments Experiments
	// Models are language models for personas that were granted them. The time of a trial stands still while one answers.
	// Without it no models are offered. Optional.
	Models Models
	// Rules of the user, which a sandboxed module evaluates before Light sees a case. What they match is evidence. Optional.
	Rules *rules.Set
	// Candidate is a court that tries a share of the cases too, and decides
	// nothing: the trial in its name is the Beside of the trial. Optional.
	Candidate *Candidate
	// CacheDir keeps compiled modules between runs; it must be the user's own. Default: none.
	CacheDir string
	// LoadLate, if it is not nil, has a module that is built into this program loaded at its first call, not when the host is opened, and is told
	// its name then. Any other module is loaded when the host is opened, so that its faults are told.
	LoadLate func(module string)
	// Limits of every call of a module. Zero fields mean the defaults of SPEC.md.
	Limits Limits
	// Record has [Host.TryAll] and [Host.TryRecorded] record each trial, and says how much of it is kept. Default: no records.
	Record record.Contents
	// Store keeps every module that is put in force, so that records can be replayed. Optional.
	Store *record.Store
	// Logger gets a record for each rejected artifact. Default: none.
	Logger *slog.Logger
	// Now is the clock that limits a trial. Default: time.Now.
	Now func() time.Time
	// Observe is called after every call of a module, from the goroutine of the trial. Optional.
	Observe func(CallRecord)

	forTests
}

// forTests is what only tests of this package set.
type forTests struct {
	sleep     court.Sleep       // how to wait for a folder that changes
	callClock func() time.Time  // the clock that limits single calls; nil: time.Now
	arrange   func(n int) []int // the order in which branches of an audit are merged
}

// Limits of one call of a module. Zero means the default of SPEC.md.
type Limits struct {
	MemoryBytes int64
	WallClock   time.Duration
	OutputBytes int64
	InputBytes  int64
	// Fuel in units of about one simple instruction.
	Fuel uint64
}

// Signature is why a module was accepted that was signed: the name of who signed it, and the line and the digest of the trust policy by
// which it counts.
//
//	Signer, Policy string
type Signature = court.Signature

// Candidate is the court in force with other modules for some of its personas. It tries a share of the cases that came to a trial, after
// the court in force and with the same Light: the same answers of a [Light] of the caller's, which is asked again only where the candidate
// remands otherwise. It decides nothing: results are the same with and without it, and neither Observe nor the result knows its calls. A
// swap after which its sides are played by the same code is rejected.
//
//	// Modules are wasm files by the persona that they would play, or by the name
//	// of the module that evaluates edges.
//	Modules map[string][]byte
//	// Share of the trials that it takes part in, above 0 and at most 1. Which ones
//	// depends on the id of the case alone.
//	Share float64
type Candidate = court.Candidate

// clock is now, or the default.
func clock(now func() time.Time) func() time.Time {
	if now == nil {
		return time.Now //nolint:forbidigo // the default of an injected clock
	}
	return now
}

// court is the configuration of the court.
func (c *Config) court() court.Config {
	return court.Config{
		Sandbox: sandboxOf(c.CacheDir, c.LoadLate, c.Limits, c.Store, c.Signed, &c.forTests),
		Services: court.Services{
			Casebook: c.Casebook, Source: c.Source, Experiments: c.Experiments, Models: c.Models,
			Logger: c.Logger, Now: clock(c.Now), Observe: c.Observe,
		},
		Pipeline: c.Pipeline, Limits: c.Court, Profile: c.Profile, Unprepared: c.Unprepared, Light: c.Light, LightPath: c.LightPath, Reclassify: c.Reclassify,
		Rules: c.Rules, Candidate: c.Candidate,
	}
}

func sandboxOf(cacheDir string, loadLate func(module string), l Limits, store *record.Store, signed map[record.Digest]Signature, hooks *forTests) court.Sandbox {
	return court.Sandbox{
		CacheDir: cacheDir, LoadLate: loadLate, Store: store, Signed: signed, Sleep: hooks.sleep, CallClock: hooks.callClock,
		CallLimits: sandbox.Limits{
			MemoryBytes: l.MemoryBytes, WallClock: l.WallClock, OutputBytes: l.OutputBytes, InputBytes: l.InputBytes, Fuel: l.Fuel,
		},
	}
}

// ErrNoLight: a case without a classification, and no Light to ask.
var ErrNoLight = court.ErrNoLight

// ErrClosed: the host was closed.
var ErrClosed = registry.ErrClosed

// CacheError says that the sandbox could not be opened: the folder for compiled modules, Dir, cannot be used, or a limit is invalid.
// It unwraps to Err.
type CacheError = court.CacheError

// CandidateError says why a candidate's court could not be made. It unwraps to Err.
type CandidateError = court.CandidateError

// RejectedError holds every fault of modules that were not installed, in Faults; its message gives each a line. The modules
// before them stay. Has reports whether a fault has a code.
type RejectedError = registry.RejectedError

// Fault is one reason why modules were rejected: the Module, which is empty where it is the whole set's, a Code that is stable, such as
// "missing_module", a Detail, and the Subject that it is about, such as a family, where there is one.
type Fault = registry.Fault

// Light answers for the classifier under review. A case that brings its own
// classification needs none; with one, the court may remand. It must be safe for concurrent use.
//
//	Answer(ctx context.Context, req LightRequest) (LightResponse, error)
type Light = court.Light

// LightRequest asks Light for a classification. Feedback, Previous and Evidence are nil the first time.
//
//	Case     *abi.Case
//	Feedback *abi.RemandFeedback
//	Previous *abi.LightAnswer
//	// Evidence is all that is before the court. It begins with the items of
//	// the indictment, in its order, so that the feedback's indexes point into it.
//	Evidence []abi.Evidence
type LightRequest = court.LightRequest

// LightResponse is Light's classification, and the evidence that it gathered besides that of the case. Its items are named after Light: the
// court reads the source_ref "scan:7" as "light-scan:scan:7". After a remand Remand accounts for every question and every challenged item;
// its answers may hold new evidence, too.
//
//	Answer   abi.LightAnswer
//	Evidence []abi.Evidence
//	Remand   *abi.RemandAnswer
type LightResponse = court.LightResponse

// Casebook is the memory of earlier cases that modules may ask, where they were granted it. It must be safe for concurrent use, and must
// not change while a Host is open on it: the same question has the same answer.
//
//	// Recall gives the cases whose failure looks like that of the case.
//	Recall(ctx context.Context, subject *abi.Case, limit int) ([]abi.PriorCase, error)
//	// Correlate gives the cases whose text is about the same.
//	Correlate(ctx context.Context, text string, limit int) ([]abi.PriorCase, error)
//	// Digest of all that it holds.
//	Digest() string
type Casebook = court.Casebook

// Source is the source of the module under test, which modules may ask where they were granted it. It must be safe for concurrent use, and
// must not change while a Host is open on it.
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

// CallRecord is one call of a module: what went in and what came out. Input is valid only during Observe. Output is what the module gave,
// before any validation; nil when the call failed.
//
//	CaseID, Module, Digest string
//	Call                   abi.Call
//	Node, Persona          string // of the request; Persona is empty for edges
//	Input, Output          []byte
//	Elapsed                time.Duration
//	Err                    error
//	Uses                   []Use // what the module asked through its capabilities during the call, in order
type CallRecord = court.CallRecord

// Use is one use of a capability: what a module asked, and what it was answered, as canonical messages (SPEC.md §2.12).
//
//	Capability      abi.Capability
//	Request, Answer []byte
type Use = court.Use
