package court

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/pipeline"
	"github.com/shadowcourt/shadowcourt/host/rules"
	"github.com/shadowcourt/shadowcourt/pipelines"
)

// grace is how long the clerk may take after the TTL, so that a verdict that has been given can still be carried out.
const grace = 500 * time.Millisecond

// Config of a Court. Only Now is required.
type Config struct {
	Sandbox
	Services
	// Pipeline of the court. Default: the shipped defect-court.
	Pipeline *pipeline.Definition
	// Limits changes those of the pipeline's court: it gets a copy of them. Optional.
	Limits func(*pipeline.Court)
	// Profile handed to the personas. Optional.
	Profile *abi.Profile
	// Unprepared: modules get whole requests, whether they can be prepared or not.
	Unprepared bool
	// Light outside of the court, or the graph of a LightPath; not both. Optional.
	Light     Light
	LightPath *pipeline.Definition
	// Reclassify ignores the classifications that cases bring. With a Light path all are ignored.
	Reclassify bool
	// Rules of the user. Optional.
	Rules *rules.Set
	// Candidate tries a share of the cases, too. Optional.
	Candidate *Candidate
}

// Court tries cases over one graph, and that of a Light path where there is one. Concurrent trials are safe.
type Court struct {
	*Runtime
	config    Config
	graph     *pipeline.Graph
	personas  []*pipeline.Persona
	defense   *pipeline.Persona
	limits    abi.CourtConfig
	domain    domain
	lightPath *lightGraph // nil without one
	rules     *rulebook   // nil without rules
	candidate *candidate  // nil without one
	outlooks  *outlooks   // shared with its copies, which have the same profile
}

// Open makes a Court with a sandbox of its own, which has no modules yet. Its errors are those of New, and a *CacheError.
func Open(ctx context.Context, config Config) (*Court, error) {
	c, err := New(config)
	if err != nil {
		return nil, err
	}
	defs := c.definitions()
	c.Runtime = &Runtime{names: c.moduleNames(), check: c.checkSides}
	if k := c.candidate; k != nil {
		defs = append(defs, k.court.definitions()...)
		c.Runtime.candidate, k.court.Runtime = k.files, c.Runtime
	}
	c.needs = Needs(defs...)
	return c, c.open(ctx, config.Sandbox, config.Logger)
}

// New makes a Court without a sandbox: it tries cases with modules that its caller gives. It fails when a graph has a node that a court,
// or a Light path, cannot hold. The error is a pipeline.Errors, a *CandidateError, or says which limit is invalid.
func New(config Config) (*Court, error) {
	def := config.Pipeline
	if def == nil {
		var err error
		if def, err = pipeline.LoadFS(pipelines.FS, pipelines.DefectCourt); err != nil {
			return nil, fmt.Errorf("the shipped pipeline: %w", err)
		}
	}
	config.Logger = cmp.Or(config.Logger, slog.New(slog.DiscardHandler))
	c := &Court{config: config, domain: newDomain(config.Profile, !config.Unprepared), outlooks: &outlooks{}}
	var err error
	if c.graph, err = pipeline.NewGraph(def); err != nil {
		return nil, err
	}
	if err := c.setLimits(); err != nil {
		return nil, err
	}
	c.personas = courtPersonas(def)
	if i := slices.IndexFunc(c.personas, func(p *pipeline.Persona) bool { return p.Role == pipeline.RoleDefense }); i >= 0 {
		c.defense = c.personas[i]
	}
	for i := range def.Nodes {
		if err := c.checkNode(&def.Nodes[i]); err != nil {
			return nil, fmt.Errorf("pipeline %s: %w", def.Pipeline, err)
		}
	}
	if config.LightPath != nil {
		if config.Light != nil {
			return nil, errors.New("a Light path and another Light: one of them answers")
		}
		if c.lightPath, err = newLightGraph(config.LightPath); err != nil {
			return nil, err
		}
	}
	if config.Rules != nil {
		if c.rules, err = newRulebook(config.Rules, def.Labels); err != nil {
			return nil, err
		}
	}
	if config.Candidate != nil {
		if c.candidate, err = c.newCandidate(*config.Candidate); err != nil {
			return nil, &CandidateError{err}
		}
	}
	return c, nil
}

// setLimits takes the limits of the pipeline as the caller changes them.
func (c *Court) setLimits() error {
	own := c.graph.Definition().Court
	if c.config.Limits == nil {
		c.limits = limitsOf(&own)
		return nil
	}
	c.config.Limits(&own)
	c.limits = limitsOf(&own)
	var faults abi.Collector
	if own.TTL <= 0 { // as in a pipeline: neither "none" nor "at once"
		faults.Add(abi.CodeOutOfRange, "is "+own.TTL.String()+", and must be above zero", abi.Field("ttl"))
	}
	if c.limits.Rules(&faults); !faults.Empty() {
		return fmt.Errorf("court: %w", faults.Err())
	}
	return nil
}

// limitsOf are the limits of a pipeline as the contract has them.
func limitsOf(c *pipeline.Court) abi.CourtConfig {
	return abi.CourtConfig{
		Enabled: c.Enabled, TTL: int64(c.TTL), MaxHandoffs: c.MaxHandoffs, MaxRemands: c.MaxRemands,
		ActivationThreshold: c.ActivationThreshold, RejectionThreshold: c.RejectionThreshold, MaxRounds: c.MaxRounds,
	}
}

func (c *Court) checkNode(n *pipeline.Node) error {
	switch n.Family {
	case abi.FamilyIndict, abi.FamilyDiscover, abi.FamilyVerdict:
	case abi.FamilyDefend:
		if c.defense == nil {
			return fmt.Errorf("node %q: no persona of the pipeline is the defense", n.Name)
		}
	case abi.FamilyHearing:
		if len(n.Personas) != 3 {
			return fmt.Errorf("node %q: a hearing has three personas, not %d", n.Name, len(n.Personas))
		}
		return nil
	default:
		return fmt.Errorf("node %q: a court holds no node of the family %q", n.Name, n.Family)
	}
	return onePersona(n)
}

// onePersona rejects a node with another number of personas.
func onePersona(n *pipeline.Node) error {
	if len(n.Personas) != 1 {
		return fmt.Errorf("node %q: family %q has one persona, not %d", n.Name, n.Family, len(n.Personas))
	}
	return nil
}

// Graph of the court.
func (c *Court) Graph() *pipeline.Graph { return c.graph }

// definitions are the pipelines in force, the court's first.
func (c *Court) definitions() []*pipeline.Definition {
	list := []*pipeline.Definition{c.graph.Definition()}
	if c.lightPath != nil {
		list = append(list, c.lightPath.graph.Definition())
	}
	if c.rules != nil {
		list = append(list, c.rules.graph.Definition())
	}
	return list
}

// moduleNames are all modules of the pipelines, each once.
func (c *Court) moduleNames() []string {
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

// checkSides rejects modules with which two sides of a court would be played by the same code.
func (c *Court) checkSides(codeDigest func(string) string) error {
	if err := sidesApart(c.graph.Definition(), codeDigest); err != nil || c.candidate == nil {
		return err
	}
	if err := sidesApart(c.candidate.court.graph.Definition(), codeDigest); err != nil {
		return fmt.Errorf("candidate: %w", err)
	}
	return nil
}

// WithCasebook is the same court with another casebook, nil for none. Closing either closes both.
func (c *Court) WithCasebook(book Casebook) *Court {
	other := *c
	other.config.Casebook = book
	return &other
}

// WithObserver is the same court that tells observe of calls, too. Closing either closes both.
func (c *Court) WithObserver(observe func(CallRecord)) *Court {
	other := *c
	before := c.config.Observe
	other.config.Observe = func(r CallRecord) {
		if before != nil {
			before(r)
		}
		observe(r)
	}
	return &other
}

// sidesApart rejects modules with which prosecution, defense and bench would not be different identities with different alignments and
// different code. The judge sits on the bench's side. codeDigest gives a module's digest without its custom sections.
func sidesApart(def *pipeline.Definition, codeDigest func(module string) string) error {
	sides := courtPersonas(def)
	shared := func(a, b *pipeline.Persona, what string) error {
		return fmt.Errorf("%s and %s are different sides of the court and must not share their %s", b.ID, a.ID, what)
	}
	for i, a := range sides {
		for _, b := range sides[:i] {
			switch {
			case side(a) == side(b):
				continue
			case a.Alignment == b.Alignment:
				return shared(a, b, "alignment")
			}
			for _, own := range played(a) {
				for _, other := range played(b) {
					switch {
					case own == other:
						return shared(a, b, "module")
					case codeDigest(own) == codeDigest(other):
						return shared(a, b, "code")
					}
				}
			}
		}
	}
	return nil
}

// played are the modules that may play a persona.
func played(p *pipeline.Persona) []string {
	if p.Fallback == "" {
		return []string{p.Module}
	}
	return []string{p.Module, p.Fallback}
}

func side(p *pipeline.Persona) pipeline.Role {
	if p.Role == pipeline.RoleJudge {
		return pipeline.RoleBench
	}
	return p.Role
}

// courtPersonas are those who act at a node, in the order of the definition, but for Light's.
func courtPersonas(def *pipeline.Definition) []*pipeline.Persona {
	acts := make(map[string]bool)
	for i := range def.Nodes {
		for _, id := range def.Nodes[i].Personas {
			acts[id] = true
		}
	}
	var list []*pipeline.Persona
	for i := range def.Personas {
		if p := &def.Personas[i]; acts[p.ID] && p.Role != pipeline.RoleLight {
			list = append(list, p)
		}
	}
	return list
}
