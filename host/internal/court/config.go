package court

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/codec"
	"github.com/shadowcourt/shadowcourt/host/internal/sandbox"
	"github.com/shadowcourt/shadowcourt/host/pipeline"
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
	// LoadLate, if it is not nil, leaves the loading of modules of this program for their first call, and is told their names then.
	LoadLate func(module string)
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
	// Offers are the experiments that can be run for the case, the cheapest first; the same for the same case. None where nothing can be run.
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

// Configuration lists all that results depend on besides the cases: the pipelines, the modules in force, the profile, the limits and
// the services that answer modules.
func (c *Court) Configuration(ctx context.Context) ([]record.Part, error) {
	var parts []record.Part
	add := func(name string, data []byte) {
		parts = append(parts, record.Part{Name: name, Digest: record.DigestOf(data)})
	}
	graphs, err := c.graphs()
	if err != nil {
		return nil, err
	}
	for _, g := range graphs {
		add(g.name, []byte(g.text))
	}
	for _, g := range graphs { // part of the texts, and named by themselves, so that a difference says which
		for j := range g.def.Personas {
			if p := &g.def.Personas[j]; p.Prompt != "" {
				add(strings.TrimSuffix(g.name, "pipeline")+"prompt "+p.ID, []byte(p.Prompt))
			}
		}
	}
	if parts, err = c.appendModules(ctx, parts, "module "); err != nil {
		return nil, err
	}
	if p := c.config.Profile; p != nil {
		add("profile", codec.AppendProfile(nil, p))
	}
	add("limits of the court", codec.AppendCourtConfig(nil, &c.limits))
	add("limits of calls", c.limitsText())
	return append(parts, c.config.knowledge()...), nil
}

// appendModules adds the modules in force, in the order of their names.
func (r *Runtime) appendModules(ctx context.Context, parts []record.Part, prefix string) ([]record.Part, error) {
	g, err := r.Acquire()
	if err != nil {
		return nil, err
	}
	defer func() { _ = g.Release(context.WithoutCancel(ctx)) }()
	for _, name := range slices.Sorted(slices.Values(r.names)) {
		m, err := g.Module(name)
		if err != nil {
			return nil, err
		}
		parts = append(parts, record.Part{Name: prefix + name, Digest: record.Digest(m.Info().Digest.String())})
	}
	return parts, nil
}

func (r *Runtime) limitsText() []byte { return fmt.Appendf(nil, "%+v", r.engine.Limits()) }

// namedGraph is a pipeline in force: by the name that configurations have for it, and in YAML.
type namedGraph struct {
	name, text string
	def        *pipeline.Definition
}

// graphs are the pipelines in force, the court's first.
func (c *Court) graphs() ([]namedGraph, error) {
	list := []namedGraph{{name: "pipeline", def: c.graph.Definition()}}
	if c.lightPath != nil {
		list = append(list, namedGraph{name: "light pipeline", def: c.lightPath.graph.Definition()})
	}
	if c.rules != nil {
		list = append(list, namedGraph{name: "rules", def: c.rules.graph.Definition()})
	}
	for i := range list {
		text, err := pipeline.Marshal(list[i].def)
		if err != nil {
			return nil, fmt.Errorf("pipeline %s: %w", list[i].def.Pipeline, err)
		}
		list[i].text = string(text)
	}
	return list, nil
}

// Header is that of a record of trials. configuration is [Court.Configuration], with what the caller adds to it.
func (c *Court) Header(contents record.Contents, configuration []record.Part) (*record.Header, error) {
	header := &record.Header{
		Contents: contents, Instrumentation: sandbox.Instrumentation, Configuration: configuration,
		ExternalLight: c.config.Light != nil, Reclassified: c.config.Reclassify || c.lightPath != nil,
		Court: codec.AppendCourtConfig(nil, &c.limits), Limits: c.CallLimits(),
		Prepared: !c.config.Unprepared,
	}
	graphs, err := c.graphs()
	if err != nil {
		return nil, err
	}
	for _, g := range graphs {
		switch g.name {
		case "pipeline":
			header.Pipeline = g.text
		case "light pipeline":
			header.LightPath = g.text
		default:
			header.Rules = g.text
		}
	}
	if p := c.config.Profile; p != nil {
		header.Profile = codec.AppendProfile(nil, p)
	}
	return header, nil
}
