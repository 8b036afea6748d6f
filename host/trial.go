package host

import (
	"slices"
	"time"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/internal/court"
	"github.com/shadowcourt/shadowcourt/host/internal/runtime/invoker"
)

// trialOf states an outcome as results and reports want it.
func (h *Host) trialOf(subject *abi.Case, o *court.Outcome, s *session, elapsed time.Duration) *docket.Trial {
	t := &docket.Trial{Case: *subject, LabelNames: h.labelNames(subject.Labels), Personas: h.personas(), Result: docket.Result{
		ID: subject.ID, Activated: o.Activated,
		LightAfter: []docket.Answer{},
		Final: docket.Final{
			Status: docket.Status(o.Status), Classification: o.Classification, Confidence: o.Confidence, Cause: docket.Cause(o.Cause),
		},
		Path: o.Path, Remands: o.Remands, Rounds: o.Rounds, Handoffs: o.Handoffs,
		Modules: h.digests(s), Fuel: s.fuel,
		Timings: &docket.Timings{TotalMicros: elapsed.Microseconds(), ModuleMicros: s.micros, Calls: s.number},
	}}
	if o.Light.Classification != "" {
		t.Result.Light = &docket.Answer{Classification: o.Light.Classification, Confidence: o.Light.Confidence}
		t.Case.Light = &o.Light
	}
	t.Case.Evidence = withGathered(t.Case.Evidence, o.Gathered)
	for _, answer := range o.LightAfter {
		t.Result.LightAfter = append(t.Result.LightAfter, docket.Answer{Classification: answer.Classification, Confidence: answer.Confidence})
	}
	if o.Verdict != nil {
		t.Result.Verdict = docket.NewRuling(o.Verdict)
	}
	if o.GapBrief != nil {
		t.Result.GapBrief = docket.NewGapBrief(o.GapBrief)
	}
	if f := o.Failure; f != nil {
		t.Result.Error = &docket.Failure{
			Code: string(f.Cause), Message: f.Error(), Node: f.Node, Persona: f.Persona, Module: f.Digest,
			Problems: docket.NewFailureProblems(f.Problems),
		}
	}
	t.Passes = passes(o, s.calls)
	return t
}

// passes converts the walks. The calls stand with the last one.
func passes(o *court.Outcome, calls []docket.CallInfo) []docket.Pass {
	list := make([]docket.Pass, len(o.Passes))
	for i := range o.Passes {
		p := &o.Passes[i]
		list[i] = docket.Pass{
			Light: p.Light, Indictment: p.Indictment, Exhibits: p.Exhibits, Discovery: p.Discovery, Contested: p.Contested,
			Brief: p.Brief, Hearing: p.Hearing, Verdict: p.Verdict, RemandAnswer: p.RemandAnswer,
		}
		list[i].Steps = docketSteps(p.Steps)
	}
	if len(list) > 0 {
		list[len(list)-1].Calls = calls
	}
	return list
}

func docketSteps(steps []invoker.Step) []docket.Step {
	var list []docket.Step
	for _, step := range steps {
		list = append(list, docket.Step{Node: step.Node, Edge: step.Edge, To: step.To, Why: step.Why, Asked: step.Asked})
	}
	return list
}

// withGathered is the evidence of a case with what Light found beside it.
func withGathered(items, gathered []abi.Evidence) []abi.Evidence {
	if len(gathered) == 0 {
		return items
	}
	return slices.Concat(items, gathered)
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
