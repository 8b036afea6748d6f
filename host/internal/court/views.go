package court

import (
	"slices"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/internal/runtime/invoker"
	"github.com/shadowcourt/shadowcourt/host/pipeline"
)

// request begins a node request with what the node's masks let a persona see.
// What is hidden is left out, so that it is not in the bytes.
func (t *runner) request(node *pipeline.Node, p *pipeline.Persona) *abi.NodeRequest {
	req := &abi.NodeRequest{
		Node: node.Name, Family: abi.Family(node.Family), Persona: invoker.Identity(p),
		Params: invoker.Params(node.With), Profile: t.profile,
	}
	if slices.Contains(node.Masks, pipeline.MaskDiscovery) {
		req.Case = abi.CaseView{Labels: t.subject.Labels, Documents: t.subject.Documents}
		req.Profile = t.court.domain.Whole() // what does not stand is missing
		return req
	}
	req.Case = abi.CaseView{
		Subject: t.subject.Subject, Labels: t.subject.Labels, Light: t.current(), Evidence: t.evidence, Signals: t.signals,
	}
	req.Indictment, req.Exhibits = t.pass.Indictment, t.pass.Exhibits
	req.Discovery, req.Contested = t.pass.Discovery, t.pass.Contested
	req.DefenseBrief, req.Hearing = t.pass.Brief, t.pass.Hearing
	return req
}

// exhibits says what the host knows of each item of an indictment.
func (t *runner) exhibits(items []abi.IndictmentItem) []abi.Exhibit {
	list := make([]abi.Exhibit, len(items))
	for i := range items {
		status, document := t.docs.Quote(items[i].SourceRef, items[i].Content)
		list[i] = abi.Exhibit{EvidenceIndex: i, Quote: status, Document: document}
		if e := abi.FindEvidence(t.evidence, items[i].SourceRef, items[i].Content); e != nil {
			list[i].RelevanceConfidence = e.RelevanceConfidence
		}
	}
	return list
}
