package light

import (
	"context"
	"slices"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/internal/runtime/invoker"
	"github.com/shadowcourt/shadowcourt/host/internal/traverse"
	"github.com/shadowcourt/shadowcourt/host/pipeline"
)

// Visit asks the node's persona for its artifact. The family decides which,
// never the name.
func (w *passage) Visit(ctx context.Context, node *pipeline.Node, _ int) (again bool, err error) {
	p, _ := w.path.graph.Definition().Persona(node.Personas[0]) // a checked graph has it
	artifact, err := w.invoker.Node(ctx, node, p, w.request(node, p), func(a *abi.Artifact, c *abi.Collector) bool {
		if a.Family() != abi.Family(node.Family) {
			return false
		}
		mark := c.Mark()
		abi.CheckLight(a, w.req.Feedback, w.req.Case.Labels, w.evidence(), c)
		c.Nest(mark, abi.Field("artifact"))
		return true
	})
	if err != nil {
		return false, err
	}
	if err := w.keep(node, p.ID, artifact); err != nil {
		return false, err
	}
	return false, w.take(node, artifact)
}

// request is what the node's masks let a persona see. What is hidden is left
// out, so that it is not in the bytes.
func (w *passage) request(node *pipeline.Node, p *pipeline.Persona) *abi.NodeRequest {
	subject := w.req.Case
	req := &abi.NodeRequest{
		Node: node.Name, Family: abi.Family(node.Family), Persona: invoker.Identity(p), Params: invoker.Params(node.With),
	}
	if slices.Contains(node.Masks, pipeline.MaskDiscovery) {
		req.Case = abi.CaseView{Labels: subject.Labels, Documents: subject.Documents}
		req.Profile = w.path.domain.Whole()
		return req
	}
	file := w.file
	file.LoopsLeft = w.loops
	req.Case = abi.CaseView{
		Subject: subject.Subject, Labels: subject.Labels, Evidence: w.evidence(), Documents: subject.Documents, Light: w.req.Previous,
	}
	req.File, req.Profile = &file, w.profile
	return req
}

// take puts an artifact into the file, and what it says of the case into the evidence.
func (w *passage) take(node *pipeline.Node, a *abi.Artifact) error {
	switch {
	case a.Recall != nil:
		w.file.Recall = a.Recall
		if a.Recall.Match {
			return w.gather(node, recalled(a.Recall))
		}
	case a.Triage != nil:
		w.file.Triage = a.Triage
	case a.Resolve != nil:
		w.file.Resolve = a.Resolve
	case a.Investigate != nil:
		w.file.Investigate = a.Investigate
		return w.gather(node, a.Investigate.Evidence)
	case a.Correlate != nil:
		w.file.Correlate = a.Correlate
		if a.Correlate.LinkedCase != "" {
			return w.gather(node, linked(a.Correlate))
		}
	case a.Review != nil:
		w.file.Review = review(node, a.Review)
	case a.Report != nil:
		w.report = a.Report
		w.elements(node)
	}
	return nil
}

// recalled and linked are the evidence that an earlier case is, where its
// verdict names a label of this one.
func recalled(a *abi.RecallResult) []abi.Evidence {
	return precedent(a.PriorCase, a.Classification, a.Reasoning, a.Confidence, a.Confirmed)
}

func linked(a *abi.CorrelateResult) []abi.Evidence {
	return precedent(a.LinkedCase, a.Classification, a.Reasoning, a.Confidence, a.Confirmed)
}

// precedent supports the label only where that is known to be right. What a
// machine decided it decided from text like this, which speaks for itself: it
// is no second observation.
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

// elements gives the items of a remand's answers the element of the node that
// they come from: the one that gathered them, or the report's.
func (w *passage) elements(node *pipeline.Node) {
	if w.report.Remand == nil {
		return
	}
	remand := *w.report.Remand
	remand.Answers = slices.Clone(remand.Answers)
	for i := range remand.Answers {
		items := slices.Clone(remand.Answers[i].Evidence)
		for j := range items {
			items[j] = w.attributed(node, &items[j])
		}
		remand.Answers[i].Evidence = items
	}
	report := *w.report
	report.Remand = &remand
	w.report = &report
}

// Ask puts the edges of a node to the modules that evaluate them. The host
// keeps the budget of loops itself.
func (w *passage) Ask(ctx context.Context, node *pipeline.Node, edges []*pipeline.Edge) ([]traverse.Answer, error) {
	visited := len(w.pass.Artifacts)
	answers, err := w.invoker.Edges(ctx, node, edges, &abi.EdgeRequest{
		Node: node.Name, Family: abi.Family(node.Family), Artifact: w.artifactOf(abi.Family(node.Family)), LoopsLeft: w.loops,
		Limits: abi.Limits{Handoffs: visited, MaxHandoffs: DefaultMaxSteps},
	})
	if err != nil {
		return nil, err
	}
	for i, e := range edges {
		if e.Loop && w.loops <= 0 && answers[i].Fires {
			answers[i] = traverse.Answer{Why: "no loop is left: " + answers[i].Why}
		}
	}
	return answers, nil
}

// artifactOf is the artifact of the node that was just visited.
func (w *passage) artifactOf(family abi.Family) *abi.Artifact {
	a := &abi.Artifact{}
	switch family { //nolint:exhaustive // the families of a Light path
	case abi.FamilyRecall:
		a.Recall = w.file.Recall
	case abi.FamilyTriage:
		a.Triage = w.file.Triage
	case abi.FamilyResolve:
		a.Resolve = w.file.Resolve
	case abi.FamilyInvestigate:
		a.Investigate = w.file.Investigate
	case abi.FamilyCorrelate:
		a.Correlate = w.file.Correlate
	case abi.FamilyReview:
		a.Review = w.file.Review
	case abi.FamilyReport:
		a.Report = w.report
	}
	return a
}
