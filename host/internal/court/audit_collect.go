package court

import (
	"context"
	"strconv"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/pipeline"
)

// Keys of the channel evidences: the case's own, and what collectors quote, by
// the document, so that one line that two of them quote is one item.
const (
	channelCase     = "case"
	channelDocument = "document:"
)

// collect has the personas of a node read the documents.
func (t *auditTrial) collect(ctx context.Context, node *pipeline.Node, visit int) error {
	labels := make([]string, len(t.audit.rubric.Criteria))
	for i := range labels {
		labels[i] = t.audit.rubric.Criteria[i].ID
	}
	branches := make([]branch, len(node.Personas))
	for i, id := range node.Personas {
		persona, _ := t.graph.Definition().Persona(id)
		at := abi.Position{Node: node.Name, Pass: visit, Sequence: i}
		branches[i] = branch{who: id, module: persona.Module, run: func(v *invoker) (*abi.Update, error) {
			req := &abi.NodeRequest{
				Node: node.Name, Family: abi.FamilyCollect, Persona: identity(persona),
				Case: abi.CaseView{Labels: labels, Documents: t.documents}, Params: Params(node.With),
			}
			artifact, err := v.node(t.ttl, node, persona, req, func(a *abi.Artifact, c *abi.Collector) {
				abi.CheckDiscovery(a.Discovery, labels, abi.ModelSources(req.Completions), t.quotes.Contains, c)
			})
			if err != nil {
				return nil, err
			}
			return &abi.Update{
				Evidences: t.evidenceOf(artifact.Discovery),
				Artifacts: []abi.ArtifactEntry{{At: at, Persona: id, Artifact: *artifact}},
			}, nil
		}}
	}
	limit := 1
	if node.Parallel {
		limit = maxBranches
	}
	return t.fanOut(ctx, node, visit, limit, branches)
}

// evidenceOf states findings as evidence. The place is the host's: where the
// quote stands.
func (t *auditTrial) evidenceOf(d *abi.Discovery) map[string][]abi.Evidence {
	items := make(map[string][]abi.Evidence)
	for i := range d.Findings {
		f := &d.Findings[i]
		ref := f.Document
		if line := t.quotes.Line(f.Document, f.Quote); line > 0 {
			ref += ":L" + strconv.Itoa(line)
		}
		key := channelDocument + f.Document
		items[key] = append(items[key], abi.Evidence{SourceRef: ref, Content: f.Quote, RelevanceConfidence: f.Strength, Supports: f.Supports})
	}
	return items
}
