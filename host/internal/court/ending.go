package court

import (
	"errors"
	"maps"
	"slices"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/odds"
	"github.com/shadowcourt/shadowcourt/host/internal/court/traverse"
	"github.com/shadowcourt/shadowcourt/host/pipeline"
	"github.com/shadowcourt/shadowcourt/host/trial"
)

// ended says whether the case has its final status.
func (t *Trial) ended() bool { return t.result.Final.Status != "" }

// conclude draws the consequence of the end that the traversal reached.
func (t *Trial) conclude(outcome *traverse.Outcome) error {
	last := outcome.Steps[len(outcome.Steps)-1]
	switch outcome.End {
	case pipeline.EndRemand:
		return t.remand()
	case pipeline.EndMistrial:
		t.mistrial(t.mistrialCause(last.EdgeID))
	case pipeline.EndGapBrief:
		t.acquit()
	default:
		t.decided(t.pass.Verdict, last.Node)
	}
	return nil
}

// decided ends a trial at `_done`: the verdict says how.
func (t *Trial) decided(verdict *abi.Verdict, node string) {
	switch {
	case verdict == nil:
		t.fail(trial.NewFailure(trial.CauseGraph, node, "", "", "", "the traversal is done and there is no verdict"))
	case verdict.Decision == abi.Affirm:
		t.settle(trial.Affirmed, verdict.FinalClassification, verdict.Confidence)
	case verdict.Decision == abi.Amend:
		t.settle(trial.Amended, verdict.FinalClassification, verdict.Confidence)
	case verdict.Decision == abi.Acquit:
		t.acquit()
	case verdict.Decision == abi.Mistrial:
		t.mistrial(trial.CauseJudge)
	default:
		t.mistrial(trial.CauseRemandsExhausted)
	}
}

// mistrialCause says which limit an edge to `_mistrial` stands for.
func (t *Trial) mistrialCause(edge string) trial.Cause {
	e, ok := t.graph.Edge(edge)
	switch {
	case ok && e.FromAny() && t.expired():
		return trial.CauseTTL
	case ok && e.FromAny():
		return trial.CauseHandoffs
	default:
		return trial.CauseJudge
	}
}

// stopped draws the consequence of a traversal that failed.
func (t *Trial) stopped(err error) error {
	var failure *trial.Failure
	var noEdge *traverse.NoEdgeError
	switch {
	case errors.Is(err, errTTL):
		t.hostMistrial(trial.CauseTTL, "HD10")
	case errors.Is(err, errHandoffs):
		t.hostMistrial(trial.CauseHandoffs, "HD11")
	case errors.As(err, &failure):
		t.fail(failure)
	case errors.As(err, &noEdge):
		t.lastNode(noEdge)
	case errors.Is(err, traverse.ErrStepLimit):
		t.mistrial(trial.CauseStepLimit)
	default:
		return err
	}
	return nil
}

// lastNode: no edge fired and there is no next node.
func (t *Trial) lastNode(noEdge *traverse.NoEdgeError) {
	if v := t.pass.Verdict; v != nil && v.Decision == abi.Remand {
		t.mistrial(trial.CauseRemandsExhausted)
		return
	}
	t.result.Error = trial.NewFailure(trial.CauseNoEdge, noEdge.Node, "", "", "", noEdge.Error())
	t.mistrial(trial.CauseNoEdge)
}

// hostMistrial is a mistrial by a limit that the host enforces itself. The path names the graph's own edge for it, where it has one.
func (t *Trial) hostMistrial(cause trial.Cause, evaluator string) {
	arrival := pipeline.EndMistrial
	for _, e := range t.graph.AnyEdges() {
		if e.Evaluator == evaluator && e.To == pipeline.EndMistrial {
			arrival = e.ID + ":" + pipeline.EndMistrial
			break
		}
	}
	t.result.Path = append(t.result.Path, arrival)
	t.mistrial(cause)
}

// lightFailed is a mistrial that Light caused, or the module that plays it.
func (t *Trial) lightFailed(err error) {
	var f *trial.Failure
	if !errors.As(err, &f) {
		f = trial.NewFailure(trial.CauseLight, "light", "light", "", "", err.Error())
		if invalid, ok := errors.AsType[*abi.ValidationError](err); ok {
			f.Problems = trial.NewProblems(invalid.Problems)
		}
	}
	t.result.Error = f
	t.mistrial(f.Code)
}

// fail is a mistrial that a module, or the graph, is to blame for.
func (t *Trial) fail(f *trial.Failure) {
	t.result.Error = f
	t.result.Path = append(t.result.Path, pipeline.EndMistrial)
	t.mistrial(f.Code)
}

func (t *Trial) mistrial(cause trial.Cause) {
	t.result.Final.Cause = cause
	t.settle(trial.Mistrial, "", t.current().Confidence)
	t.result.GapBrief = trial.NewGapBrief(t.gapBrief(string(cause)))
}

func (t *Trial) acquit() {
	confidence := t.current().Confidence
	if v := t.pass.Verdict; v != nil {
		confidence = v.Confidence
	}
	t.settle(trial.Acquitted, "", confidence)
	t.result.GapBrief = trial.NewGapBrief(t.gapBrief(causeAcquitted))
}

// settle ends the case. Rejected cases carry no classification.
func (t *Trial) settle(status trial.Status, classification string, confidence float64) {
	final := &t.result.Final
	final.Status, final.Confidence = status, confidence
	if status != trial.Rejected {
		final.Classification = classification
	}
	if t.pass != nil {
		t.result.Verdict = trial.NewRuling(t.pass.Verdict)
	}
}

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
