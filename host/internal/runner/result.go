package runner

import (
	"slices"
	"time"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/trial"
)

// describe adds to a trial what the court does not know: names, modules, calls, fuel and timings.
func (h *Host) describe(t *trial.Trial, s *session, elapsed time.Duration) {
	t.LabelNames, t.Personas = h.labelNames(t.Case.Labels), h.personas()
	t.Result.Modules, t.Result.Fuel = h.digests(s), s.fuel
	t.Result.Timings = &trial.Timings{TotalMicros: elapsed.Microseconds(), ModuleMicros: s.micros, Calls: s.number}
	if n := len(t.Passes); n > 0 {
		t.Passes[n-1].Calls = s.calls // all calls are listed with the last pass
	}
}

// personas are the identities of the pipelines, by id; the court's come first.
func (h *Host) personas() map[string]abi.Persona {
	m := make(map[string]abi.Persona)
	for _, def := range slices.Backward(h.definitions()) {
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
func (h *Host) labelNames(labels []string) map[string]string {
	names := make(map[string]string)
	for _, l := range labels {
		if name := h.graph.Definition().Label(l).Name; name != "" {
			names[l] = name
		}
	}
	return names
}

// digests maps persona ids, and the modules that evaluate edges, to digests.
func (h *Host) digests(s *session) map[string]string {
	m := make(map[string]string)
	for _, def := range slices.Backward(h.definitions()) {
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
