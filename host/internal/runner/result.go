package runner

import (
	"slices"
	"time"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/internal/runtime"
	"github.com/shadowcourt/shadowcourt/host/trial"
)

// describe adds to a trial what the court does not know: names, modules, calls, fuel and timings.
func (c *Court) describe(t *trial.Trial, s *runtime.Session, elapsed time.Duration) {
	usage := s.Usage()
	t.LabelNames, t.Personas = c.labelNames(t.Case.Labels), c.personas()
	t.Result.Modules, t.Result.Fuel = c.personaDigests(s), usage.Fuel
	t.Result.Experiments, t.Result.Completions, t.Result.Fallbacks = s.Experiments(), s.Completions(), s.Fallbacks()
	c.propose(t, s)
	t.Result.UnmeasuredSources, t.Result.ContradictoryEvidence = unmeasured(&t.Case, c.config.Profile), contradictory(&t.Case)
	t.Result.Timings = &trial.Timings{TotalMicros: elapsed.Microseconds(), ModuleMicros: usage.Micros, Calls: usage.Calls, ModelMicros: s.ModelUsage().Waited.Microseconds()}
	if n := len(t.Passes); n > 0 {
		t.Result.Statements = trial.NewStatements(t.Passes[n-1].Discovery)
		t.Passes[n-1].Calls = s.Calls() // all calls are listed with the last pass
	}
}

// personas are the identities of the pipelines, by id; the court's come first.
func (c *Court) personas() map[string]abi.Persona {
	m := make(map[string]abi.Persona)
	for _, def := range slices.Backward(c.definitions()) {
		for i := range def.Personas {
			p := &def.Personas[i]
			m[p.ID] = abi.Persona{
				Name: p.Name, Colour: p.Colour, Element: abi.Element(p.Element), Role: string(p.Role), Alignment: p.Alignment,
			}
		}
	}
	return m
}

// labelNames are the names that the court's pipeline has for labels.
func (c *Court) labelNames(labels []string) map[string]string {
	names := make(map[string]string)
	for _, l := range labels {
		if name := c.graph.Definition().Label(l).Name; name != "" {
			names[l] = name
		}
	}
	return names
}

// personaDigests maps persona ids, and the modules that evaluate edges, to digests.
func (c *Court) personaDigests(s *runtime.Session) map[string]string {
	m := make(map[string]string)
	for _, def := range slices.Backward(c.definitions()) {
		for i := range def.Edges {
			if e := &def.Edges[i]; !e.Unconditional() {
				m[e.Module] = s.Digest(e.Module)
			}
		}
		for i := range def.Personas {
			m[def.Personas[i].ID] = s.Digest(def.Personas[i].Module)
		}
	}
	return m
}
