package court

import (
	"context"
	"fmt"
	"slices"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/odds"
	"github.com/shadowcourt/shadowcourt/host/internal/court/traverse"
	"github.com/shadowcourt/shadowcourt/host/pipeline"
)

// Visit asks the node's persona for its artifact. The family decides which,
// never the name.
func (l *lightPath) Visit(ctx context.Context, node *pipeline.Node, _ int) (again bool, err error) {
	p := l.persona(node, 0)
	artifact, err := l.node(ctx, node, p, l.request(node, p), func(a *abi.Artifact, c *abi.Collector) {
		abi.CheckLight(a, l.req.Feedback, l.req.Case.Labels, l.evidence(), c)
	})
	if err != nil {
		return false, err
	}
	entry, err := l.keep(node, len(l.passes)-1, p.ID, artifact)
	if err != nil {
		return false, err
	}
	l.pass.Artifacts = append(l.pass.Artifacts, entry)
	return false, l.take(node, artifact)
}

// request is what the node's masks let a persona see.
func (l *lightPath) request(node *pipeline.Node, p *pipeline.Persona) *abi.NodeRequest {
	subject := l.req.Case
	req, complete := l.nodeRequest(node, p, subject, l.domain)
	if complete {
		return req
	}
	file := l.file
	file.LoopsLeft = l.loops
	req.Case = abi.CaseView{
		Subject: subject.Subject, Labels: subject.Labels, Evidence: l.evidence(), Documents: subject.Documents, Light: l.req.Previous,
	}
	req.File, req.Profile = &file, l.profile
	return req
}

// evidence is all that there is, what was there before first.
func (l *lightPath) evidence() []abi.Evidence { return slices.Concat(l.before, l.gathered) }

// take puts an artifact into the file, and what it says of the case into the evidence.
func (l *lightPath) take(node *pipeline.Node, a *abi.Artifact) error {
	switch {
	case a.Recall != nil:
		l.file.Recall = a.Recall
		if r := a.Recall; r.Match {
			return l.gatherAt(node, precedent(r.PriorCase, r.Classification, r.Reasoning, r.Confidence, r.Confirmed))
		}
	case a.Triage != nil:
		l.file.Triage = a.Triage
	case a.Resolve != nil:
		l.file.Resolve = a.Resolve
	case a.Investigate != nil:
		l.file.Investigate = a.Investigate
		return l.gatherAt(node, a.Investigate.Evidence)
	case a.Correlate != nil:
		l.file.Correlate = a.Correlate
		if r := a.Correlate; r.LinkedCase != "" {
			return l.gatherAt(node, precedent(r.LinkedCase, r.Classification, r.Reasoning, r.Confidence, r.Confirmed))
		}
	case a.Review != nil:
		l.file.Review = review(node, a.Review)
		l.last = &abi.Artifact{Review: l.file.Review}
	case a.Report != nil:
		// The items of a remand's answers are those of the node that gathered them, or the report's.
		report := *a.Report
		report.Remand = mapReplies(report.Remand, func(e *abi.Evidence) abi.Evidence { return l.attributed(node, e) })
		l.report, l.last = &report, &abi.Artifact{Report: &report}
	}
	return nil
}

// precedent is the evidence that an earlier case is, where its verdict names a label of this one. It supports the label only where
// that is known to be right. What a machine decided it decided from text like this, which speaks for itself: it is no second observation.
func precedent(prior, label, reasoning string, confidence float64, confirmed bool) []abi.Evidence {
	if prior == "" || label == "" {
		return nil
	}
	e := abi.Evidence{SourceRef: abi.CasebookSource + ":" + prior, Content: reasoning, RelevanceConfidence: confidence}
	if e.Content == "" {
		e.Content = "an earlier case, " + prior + ", was " + label
	}
	if confirmed {
		e.Supports = label
	}
	return []abi.Evidence{e}
}

// review is a decision as far as it counts: without the mask of judgment a
// review only recommends, and the case continues as if it had approved.
func review(node *pipeline.Node, r *abi.ReviewDecision) *abi.ReviewDecision {
	if slices.Contains(node.Masks, pipeline.MaskJudgment) {
		return r
	}
	return &abi.ReviewDecision{Decision: abi.Approve, Confidence: r.Confidence}
}

// gatherAt merges what a node found, with the element of the node. It stands in
// place of what the node found earlier in the traversal: what it doesn't give again,
// it has withdrawn.
func (l *lightPath) gatherAt(node *pipeline.Node, items []abi.Evidence) error {
	l.channels = slices.DeleteFunc(l.channels, func(c channel) bool { return c.node == node.Name })
	if len(items) > 0 {
		name := fmt.Sprintf("pass-%d/%s/%d", len(l.passes), node.Name, l.sequence[node.Name])
		if err := l.gather(name, mapItems(items, func(e *abi.Evidence) abi.Evidence { return l.attributed(node, e) })); err != nil {
			return err
		}
		l.channels = append(l.channels, channel{node.Name, name})
	}
	l.refresh()
	return nil
}

// attributed is an item that a node brings, with the node's element and named after the node's module; one that is there already stays
// as it is. The host writes the casebook's items itself.
func (l *lightPath) attributed(node *pipeline.Node, item *abi.Evidence) abi.Evidence {
	if same := abi.FindEvidence(l.evidence(), item.SourceRef, item.Content); same != nil {
		return *same
	}
	own := *item
	own.Element = elementOf(node)
	if !abi.IsReserved(own.SourceRef) {
		own.SourceRef = odds.Attributed(own.SourceRef, l.persona(node, 0).Module)
	}
	return own
}

// refresh takes over what a merge has changed.
func (l *lightPath) refresh() {
	l.gathered = nil
	evidences := l.state.Snapshot().Evidences
	for _, c := range l.channels {
		for _, e := range evidences[c.name] {
			if abi.FindEvidence(l.before, e.SourceRef, e.Content) == nil && abi.FindEvidence(l.gathered, e.SourceRef, e.Content) == nil {
				l.gathered = append(l.gathered, e)
			}
		}
	}
	standing, _ := l.domain.standing(l.req.Case, l.evidence())
	l.profile = l.hasInstead(l.profile, standing)
}

// Ask puts the edges of a node to the modules that evaluate them. The host
// keeps the budget of loops itself.
func (l *lightPath) Ask(ctx context.Context, node *pipeline.Node, edges []*pipeline.Edge) ([]traverse.Answer, error) {
	answers, err := l.edges(ctx, node, edges, abi.EdgeRequest{
		Artifact: l.last, LoopsLeft: l.loops, Limits: abi.Limits{Handoffs: len(l.pass.Artifacts), MaxHandoffs: maxLightSteps},
	})
	if err != nil {
		return nil, err
	}
	for i, e := range edges {
		if e.Loop && l.loops <= 0 && answers[i].Fires {
			answers[i] = traverse.Answer{Why: "no loop is left: " + answers[i].Why}
		}
	}
	return answers, nil
}
