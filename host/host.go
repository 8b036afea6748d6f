package host

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"time"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/internal/court"
	"github.com/shadowcourt/shadowcourt/host/internal/light"
	"github.com/shadowcourt/shadowcourt/host/internal/runtime"
	"github.com/shadowcourt/shadowcourt/host/internal/runtime/registry"
	"github.com/shadowcourt/shadowcourt/host/internal/sandbox"
	"github.com/shadowcourt/shadowcourt/host/pipeline"
	"github.com/shadowcourt/shadowcourt/host/record"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/pipelines"
)

// Host tries cases. It is safe for concurrent use; the caller closes it.
type Host struct {
	config     Config
	graph      *pipeline.Graph
	lightGraph *pipeline.Graph
	court      *court.Court
	light      *light.Path // nil where no Light path is walked
	engine     *sandbox.Engine
	registry   *registry.Registry
	candidate  *candidate // nil where none takes part
}

// Open checks the pipeline, loads the modules that it needs, holds them
// against it and warms them. Its errors are a pipeline.Errors, a
// *RefusedError with every fault of every module, bundle.ErrNotBuilt, or one
// of the file system or the context.
func Open(ctx context.Context, config Config) (*Host, error) {
	h, err := prepared(config)
	if err != nil {
		return nil, err
	}
	files, err := runtime.ReadModules(ctx, config.Modules, h.modules(), config.sleep)
	if err != nil {
		return nil, err
	}
	if err := h.openSandbox(ctx); err != nil {
		return nil, err
	}
	if err := errors.Join(h.keepModules(files), h.install(ctx, files)); err != nil {
		return nil, errors.Join(err, h.engine.Close(ctx))
	}
	return h, nil
}

// prepared is a host without a sandbox.
func prepared(config Config) (*Host, error) {
	if config.Now == nil {
		config.Now = time.Now //nolint:forbidigo // the default of an injected clock
	}
	h := &Host{config: config}
	if err := h.prepare(); err != nil {
		return nil, err
	}
	if err := h.prepareCandidate(); err != nil {
		return nil, err
	}
	return h, nil
}

// openSandbox makes the sandbox, and the registry of modules, of which there are
// none yet. The error is a *CacheError.
func (h *Host) openSandbox(ctx context.Context) error {
	limits := h.config.Limits
	var err error
	h.engine, err = sandbox.New(ctx, sandbox.Config{
		CacheDir: h.config.CacheDir, Logger: h.config.Logger, Reset: h.config.reset, Now: h.config.callClock,
		Limits: sandbox.Limits{
			MemoryBytes: limits.MemoryBytes, WallClock: limits.WallClock,
			OutputBytes: limits.OutputBytes, InputBytes: limits.InputBytes, Fuel: limits.Fuel,
		},
	})
	if err != nil {
		return &CacheError{Dir: h.config.CacheDir, Err: err}
	}
	h.registry = registry.New(h.engine)
	return nil
}

// CacheError says that the sandbox could not be opened, which is the fault of
// the folder for compiled modules where one is given.
type CacheError struct {
	Dir string
	Err error
}

// Error names the folder.
func (e *CacheError) Error() string { return "open the sandbox: " + e.Err.Error() }

// Unwrap gives the error underneath.
func (e *CacheError) Unwrap() error { return e.Err }

// prepare indexes the pipeline and makes the court.
func (h *Host) prepare() error {
	def := h.config.Pipeline
	if def == nil {
		var err error
		if def, err = pipeline.LoadFS(pipelines.FS, pipelines.DefectCourt); err != nil {
			return fmt.Errorf("the shipped pipeline: %w", err)
		}
	}
	var err error
	if h.graph, err = pipeline.NewGraph(def); err != nil {
		return err
	}
	if h.config.Court != nil {
		var c abi.Collector
		if h.config.Court.TTL <= 0 { // as in a pipeline: neither "none" nor "at once"
			c.Add(abi.CodeOutOfRange, "is "+time.Duration(h.config.Court.TTL).String()+", and must be above zero", abi.Field("ttl"))
		}
		if h.config.Court.Rules(&c); !c.Empty() {
			return fmt.Errorf("court: %w", c.Err())
		}
	}
	h.court, err = court.New(h.graph, court.Config{
		Limits: h.config.Court, Profile: h.config.Profile, Logger: h.config.Logger, Now: h.config.Now,
	})
	if err != nil {
		return fmt.Errorf("pipeline %s: %w", def.Pipeline, err)
	}
	return h.prepareLight()
}

// prepareLight indexes the Light path, if there is one.
func (h *Host) prepareLight() error {
	def := h.config.LightPath
	if def == nil {
		return nil
	}
	if h.config.Light != nil {
		return errors.New("a Light path and another Light: one of them answers")
	}
	var err error
	if h.lightGraph, err = pipeline.NewGraph(def); err != nil {
		return err
	}
	h.light, err = light.New(h.lightGraph, light.Config{Profile: h.config.Profile, Logger: h.config.Logger})
	if err != nil {
		return fmt.Errorf("pipeline %s: %w", def.Pipeline, err)
	}
	return nil
}

// definitions are the pipelines in force, the court's first.
func (h *Host) definitions() []*pipeline.Definition {
	list := []*pipeline.Definition{h.graph.Definition()}
	if h.lightGraph != nil {
		list = append(list, h.lightGraph.Definition())
	}
	return list
}

// modules names all modules that are needed, each once.
func (h *Host) modules() []string {
	var names []string
	for _, def := range h.definitions() {
		for _, name := range def.Modules() {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// install makes files the current modules, or rejects them all.
func (h *Host) install(ctx context.Context, files map[string][]byte) error {
	if h.candidate != nil {
		maps.Copy(files, h.candidate.files)
	}
	return h.registry.Install(ctx, files, h.needs(), h.checkSides)
}

// checkSides rejects a court whose sides are played by the same code.
func (h *Host) checkSides(codeDigest func(string) string) error {
	if err := court.CheckSides(h.graph.Definition(), codeDigest); err != nil || h.candidate == nil {
		return err
	}
	if err := court.CheckSides(h.candidate.host.graph.Definition(), codeDigest); err != nil {
		return &CandidateError{err}
	}
	return nil
}

// CheckSwap says whether Open would accept config.Modules in which only the changed modules, by name, are new: those are
// compiled and called once, the others are checked by their manifests. The error is that of Open.
func CheckSwap(ctx context.Context, config Config, changed []string) error {
	h, err := prepared(config)
	if err != nil {
		return err
	}
	files, err := runtime.ReadModules(ctx, config.Modules, h.modules(), config.sleep)
	if err != nil {
		return err
	}
	if err := h.openSandbox(ctx); err != nil {
		return err
	}
	err = h.registry.CheckSwap(ctx, files, h.needs(), changed, h.checkSides)
	return errors.Join(err, h.engine.Close(context.WithoutCancel(ctx)))
}

// Modules are the digests of the modules in force, by name; a fresh map. Nil
// when the host is closed.
func (h *Host) Modules(ctx context.Context) map[string]string {
	generation, err := h.registry.Acquire()
	if err != nil {
		return nil
	}
	defer func() { _ = generation.Release(context.WithoutCancel(ctx)) }()
	digests := generation.Digests()
	if h.candidate != nil {
		maps.DeleteFunc(digests, func(name, _ string) bool { _, own := h.candidate.names[name]; return own })
	}
	return digests
}

// Swap replaces modules by name, all or none, while trials go on: a trial
// keeps the modules that it began with. modules holds all NAME.wasm files that
// the pipeline names; those that are as before are not loaded anew. The error is
// a *RefusedError with every fault; then nothing has changed.
func (h *Host) Swap(ctx context.Context, modules fs.FS) error {
	files, err := runtime.ReadModules(ctx, modules, h.modules(), h.config.sleep)
	if err != nil {
		return err
	}
	return h.replace(ctx, files)
}

// replace keeps modules in the store and makes them the current ones.
func (h *Host) replace(ctx context.Context, files map[string][]byte) error {
	if err := h.keepModules(files); err != nil {
		return err
	}
	return h.install(ctx, files)
}

// Try tries one case. Bad cases are *abi.ValidationError, a case that nobody
// has classified is [ErrNoLight]; whatever goes wrong inside the trial is a
// mistrial in the result.
func (h *Host) Try(ctx context.Context, subject abi.Case) (*trial.Trial, error) {
	generation, err := h.registry.Acquire()
	if err != nil {
		return nil, err
	}
	defer func() { _ = generation.Release(context.WithoutCancel(ctx)) }()
	t, _, err := h.tryOnce(ctx, generation, subject, nil)
	return t, err
}

// tryOnce tries a case with the modules of a generation, and records it on a trail
// that may be nil.
func (h *Host) tryOnce(ctx context.Context, generation *registry.Generation, subject abi.Case, trail *trail) (*trial.Trial, *record.Trial, error) {
	subject.Documents = slices.Clone(subject.Documents)
	docket.CutDocuments(subject.Documents, abi.DefaultDocumentBytes, abi.DefaultCaseDocumentBytes)
	if h.light != nil || h.config.Reclassify {
		subject.Light = nil
	}
	answering := h.config.Light
	if h.candidate != nil && answering != nil {
		answering = &remembering{light: answering}
	}
	t, err := h.tryIn(ctx, generation, &subject, answering, trail)
	if err != nil {
		return nil, nil, err
	}
	if h.candidate.selects(t) {
		t.Beside = h.candidate.try(ctx, generation, &subject, answering)
	}
	if trail == nil {
		return t, nil, nil
	}
	recorded, err := trail.end(&subject, h.parts(generation), &t.Result)
	return t, recorded, err
}

// tryIn tries a case with the modules of a generation. The Light path answers
// in the place of answering where there is one.
func (h *Host) tryIn(ctx context.Context, generation *registry.Generation, subject *abi.Case, answering Light, trail *trail) (*trial.Trial, error) {
	s := &session{host: h, generation: generation, subject: subject, graph: h.graph, account: newAccount()}
	s.trail = trail
	walked := h.walkLight(s)
	switch {
	case walked != nil:
		answering = walked
	case answering != nil && trail != nil:
		answering = &recordedLight{answering, trail}
	}
	start := h.config.Now()
	t, err := h.court.Try(ctx, subject, answering, s)
	if err != nil {
		return nil, fmt.Errorf("case %q: %w", subject.ID, err)
	}
	h.describe(t, s, h.config.Now().Sub(start))
	t.Light = walked.passes()
	return t, nil
}

// walkLight begins the Light path of a trial, or gives nil.
func (h *Host) walkLight(s *session) *lightPath {
	if h.light == nil {
		return nil
	}
	own := &session{host: h, generation: s.generation, subject: s.subject, graph: h.lightGraph, account: s.account}
	return &lightPath{trial: h.light.Trial(own), session: own}
}

// Pipeline gives the definition in force.
func (h *Host) Pipeline() *pipeline.Definition { return h.graph.Definition() }

// Graph gives the graph in force, for drawing.
func (h *Host) Graph() *pipeline.Graph { return h.graph }

// Close waits for the trials that are going on and frees everything.
func (h *Host) Close(ctx context.Context) error {
	return errors.Join(h.registry.Close(ctx), h.engine.Close(ctx))
}
