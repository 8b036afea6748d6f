package court

import (
	"maps"
	"slices"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/odds"
	"github.com/shadowcourt/shadowcourt/host/trial"
)

// describe adds to a trial what its end leaves open: names, modules, calls, fuel, timings and proposals.
func (t *Trial) describe() {
	elapsed := t.services.Now().Sub(t.start)
	c, out := t.court, t.out
	out.LabelNames, out.Personas = c.labelNames(out.Case.Labels), c.identities()
	t.result.Modules, t.result.Fuel = c.personaDigests(t.modules), t.usage.fuel
	t.result.Experiments, t.result.Completions, t.result.Fallbacks = t.experiments, t.completions, t.fallbacks
	t.propose()
	t.result.UnmeasuredSources, t.result.ContradictoryEvidence = unmeasured(&out.Case, c.config.Profile), contradictory(&out.Case)
	t.result.Timings = &trial.Timings{
		TotalMicros: elapsed.Microseconds(), ModuleMicros: t.usage.micros, Calls: t.usage.calls, ModelMicros: t.modelUsage.Waited.Microseconds(),
	}
	if n := len(out.Passes); n > 0 {
		t.result.Statements = trial.NewStatements(out.Passes[n-1].Discovery)
		out.Passes[n-1].Calls = t.calls // all calls are listed with the last pass
	}
	if t.lightPath != nil {
		out.Light = t.lightPath.passes
	}
}

// identities of the pipelines' personas, by id; the court's come first.
func (c *Court) identities() map[string]abi.Persona {
	m := make(map[string]abi.Persona)
	for _, def := range slices.Backward(c.definitions()) {
		for i := range def.Personas {
			p := &def.Personas[i]
			who := identity(p)
			who.Name = p.Name // for people
			m[p.ID] = who
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
func (c *Court) personaDigests(modules Modules) map[string]string {
	m := make(map[string]string)
	for _, def := range slices.Backward(c.definitions()) {
		for i := range def.Edges {
			if e := &def.Edges[i]; !e.Unconditional() {
				m[e.Module] = modules.Digest(e.Module)
			}
		}
		for i := range def.Personas {
			m[def.Personas[i].ID] = modules.Digest(def.Personas[i].Module)
		}
	}
	return m
}

// unmeasured are the sources of a case that name a label and that a profile doesn't know, where it measured others. The host's own
// casebook counts without a measurement.
func unmeasured(c *abi.Case, p *abi.Profile) []string {
	unknown := make(map[string]bool)
	for i := range c.Evidence {
		if key := odds.SourceKey(c.Evidence[i].SourceRef); c.Evidence[i].Supports != "" && odds.Stranger(p, key) {
			unknown[key] = true
		}
	}
	return slices.Sorted(maps.Keys(unknown))
}

// contradictory are the references of items that stand in a case for more than one label.
func contradictory(c *abi.Case) []string {
	said, twice := make(map[itemKey]string), make(map[string]bool)
	for i := range c.Evidence {
		e := &c.Evidence[i]
		if e.Supports == "" {
			continue
		}
		if before, ok := said[keyOf(e)]; ok && before != e.Supports {
			twice[e.SourceRef] = true
		}
		said[keyOf(e)] = e.Supports
	}
	return slices.Sorted(maps.Keys(twice))
}
