package runner

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
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

// CourtConfig is what a Court needs. Only Now is required.
type CourtConfig struct {
	// Pipeline of the court. Default: the shipped defect-court.
	Pipeline *pipeline.Definition
	// Limits changes those of the pipeline. Optional.
	Limits func(*pipeline.Court)
	// Profile handed to the personas. Optional.
	Profile *abi.Profile
	// Light outside of the court, or the graph of a LightPath; not both. Optional.
	Light     court.Light
	LightPath *pipeline.Definition
	// Reclassify ignores the classifications that cases bring.
	Reclassify bool
	// Logger gets one record for each rejected artifact. Default: none.
	Logger *slog.Logger
	// Now is the clock that limits a trial.
	Now func() time.Time
}

// Court tries cases over the graph of a court, and that of a Light path where there is one. It is read-only after SetCandidate:
// concurrent trials are safe. The modules are those of the generation that each call brings.
type Court struct {
	config     CourtConfig
	graph      *pipeline.Graph
	lightGraph *pipeline.Graph
	court      *court.Court
	light      *light.Path // nil without a Light path
	candidate  *candidate  // nil without one
}

// NewCourt checks and indexes the pipelines. The error is a pipeline.Errors, or says which limit is invalid.
func NewCourt(config CourtConfig) (*Court, error) {
	def := config.Pipeline
	if def == nil {
		var err error
		if def, err = pipeline.LoadFS(pipelines.FS, pipelines.DefectCourt); err != nil {
			return nil, fmt.Errorf("the shipped pipeline: %w", err)
		}
	}
	c := &Court{config: config}
	var err error
	if c.graph, err = pipeline.NewGraph(def); err != nil {
		return nil, err
	}
	limits, err := c.limits()
	if err != nil {
		return nil, err
	}
	c.court, err = court.New(c.graph, court.Config{
		Limits: limits, Profile: config.Profile, Logger: config.Logger, Now: config.Now,
	})
	if err != nil {
		return nil, fmt.Errorf("pipeline %s: %w", def.Pipeline, err)
	}
	if err := c.prepareLight(); err != nil {
		return nil, err
	}
	return c, nil
}

// limits of the court where they differ from those of the pipeline; else nil.
func (c *Court) limits() (*abi.CourtConfig, error) {
	if c.config.Limits == nil {
		return nil, nil //nolint:nilnil // the pipeline's own
	}
	own := c.graph.Definition().Court
	c.config.Limits(&own)
	limits := court.LimitsOf(&own)
	var faults abi.Collector
	if own.TTL <= 0 { // as in a pipeline: neither "none" nor "at once"
		faults.Add(abi.CodeOutOfRange, "is "+own.TTL.String()+", and must be above zero", abi.Field("ttl"))
	}
	if limits.Rules(&faults); !faults.Empty() {
		return nil, fmt.Errorf("court: %w", faults.Err())
	}
	return &limits, nil
}

// prepareLight indexes the Light path, if there is one.
func (c *Court) prepareLight() error {
	def := c.config.LightPath
	if def == nil {
		return nil
	}
	if c.config.Light != nil {
		return errors.New("a Light path and another Light: one of them answers")
	}
	var err error
	if c.lightGraph, err = pipeline.NewGraph(def); err != nil {
		return err
	}
	c.light, err = light.New(c.lightGraph, light.Config{Profile: c.config.Profile, Logger: c.config.Logger})
	if err != nil {
		return fmt.Errorf("pipeline %s: %w", def.Pipeline, err)
	}
	return nil
}

// Graph of the court.
func (c *Court) Graph() *pipeline.Graph { return c.graph }

// definitions are the pipelines in force, the court's first.
func (c *Court) definitions() []*pipeline.Definition {
	list := []*pipeline.Definition{c.graph.Definition()}
	if c.lightGraph != nil {
		list = append(list, c.lightGraph.Definition())
	}
	return list
}

// Modules names all modules that the pipelines need, each once. Those of a candidate are not among them.
func (c *Court) Modules() []string {
	var names []string
	for _, def := range c.definitions() {
		for _, name := range def.Modules() {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// Install keeps files in the store, and makes them the current modules of a runtime, with those of the candidate, all or none.
func (c *Court) Install(ctx context.Context, r *runtime.Runtime, files map[string]sandbox.File) error {
	if err := r.Keep(files); err != nil {
		return err
	}
	own := maps.Clone(files)
	if c.candidate != nil {
		maps.Copy(own, runtime.Files(c.candidate.files))
	}
	return r.Install(ctx, own, c.needs(), c.checkSides)
}

// CheckSwap tells whether Install would accept files in which only the changed modules are new.
func (c *Court) CheckSwap(ctx context.Context, r *runtime.Runtime, files map[string]sandbox.File, changed []string) error {
	return r.CheckSwap(ctx, files, c.needs(), changed, c.checkSides)
}

// needs of its modules, with what the court of a candidate needs.
func (c *Court) needs() []registry.Need {
	defs := c.definitions()
	if c.candidate != nil {
		defs = append(defs, c.candidate.court.definitions()...)
	}
	return runtime.Needs(defs...)
}

// checkSides rejects a court whose sides are played by the same code.
func (c *Court) checkSides(codeDigest func(string) string) error {
	if err := court.CheckSides(c.graph.Definition(), codeDigest); err != nil || c.candidate == nil {
		return err
	}
	if err := court.CheckSides(c.candidate.court.graph.Definition(), codeDigest); err != nil {
		return fmt.Errorf("candidate: %w", err)
	}
	return nil
}

// Digests of the modules of a generation by name, without those of the candidate; a fresh map.
func (c *Court) Digests(g *runtime.Generation) map[string]string {
	digests := g.Digests()
	if c.candidate != nil {
		maps.DeleteFunc(digests, func(name, _ string) bool { _, own := c.candidate.names[name]; return own })
	}
	return digests
}

// Try tries a case with the modules of a generation, and the candidate beside it. With a recorder it gives the record, too. Where
// asked is not nil, no experiments are run, and it is set if one was asked for. The error is an *abi.ValidationError of the case,
// court.ErrNoLight, or the context's.
func (c *Court) Try(ctx context.Context, g *runtime.Generation, subject abi.Case, recorder *runtime.Recorder, asked *bool) (*trial.Trial, *record.Trial, error) {
	subject.Documents = slices.Clone(subject.Documents)
	docket.CutDocuments(subject.Documents, abi.DefaultDocumentBytes, abi.DefaultCaseDocumentBytes)
	if c.light != nil || c.config.Reclassify {
		subject.Light = nil
	}
	answering := c.config.Light
	if c.candidate != nil && answering != nil {
		answering = &remembering{light: answering}
	}
	t, err := c.try(ctx, g, &subject, answering, recorder, asked)
	if err != nil {
		return nil, nil, err
	}
	if c.candidate.selects(t) && (asked == nil || !*asked) {
		t.Beside = c.candidate.try(ctx, g, &subject, answering, asked)
	}
	if recorder == nil {
		return t, nil, nil
	}
	recorded, err := recorder.End(&subject, runtime.Parts(c.Digests(g)), &t.Result)
	return t, recorded, err
}

// try tries a case without the candidate. The Light path, where there is one, answers in place of answering.
func (c *Court) try(ctx context.Context, g *runtime.Generation, subject *abi.Case, answering court.Light, recorder *runtime.Recorder, asked *bool) (*trial.Trial, error) {
	of := g.Trial(subject, recorder)
	if asked != nil {
		of.Later()
		defer func() { *asked = of.Asked() }()
	}
	session := of.Session(c.graph)
	var path *lightPath // nil without a Light path
	switch {
	case c.light != nil:
		own := of.Session(c.lightGraph)
		path = &lightPath{trial: c.light.Trial(own), session: own}
		answering = path
	case answering != nil && recorder != nil:
		answering = recorder.Light(answering)
	}
	start := c.config.Now()
	t, err := c.court.Try(ctx, subject, answering, session)
	if err != nil {
		return nil, fmt.Errorf("case %q: %w", subject.ID, err)
	}
	c.describe(t, session, c.config.Now().Sub(start))
	t.Light = path.passes()
	return t, nil
}
