package court

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/audit"
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
		branches[i] = branch{who: id, run: func(v *invoker) (*abi.Update, error) {
			req := &abi.NodeRequest{
				Node: node.Name, Family: abi.FamilyCollect, Persona: identity(persona),
				Case: abi.CaseView{Labels: labels, Documents: t.documents}, Params: Params(node.With),
			}
			artifact, err := v.node(t.ttl, node, persona, req, func(a *abi.Artifact, c *abi.Collector) {
				mark := c.Mark()
				abi.CheckDiscovery(a.Discovery, labels, abi.ModelSources(req.Completions), t.quotes.Contains, c)
				c.Nest(mark, abi.Field("discovery"))
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

// Names of the host's own in source_refs of the evidence that judges get. What
// comes from elsewhere can't bear them: see foreignNames.
const (
	// opinionName is the document of that name: the text under audit.
	opinionName = "opinion"
	// forensicsName is what the host found when it looked an item up.
	forensicsName = "forensics"
	// dissentName is what another judge said in the first round.
	dissentName = "dissent"
)

// foreignMark stands before a name of the host's own that comes from elsewhere.
const foreignMark = "item:"

func reserved(ref string) bool {
	name, _, _ := strings.Cut(ref, ":")
	return slices.Contains([]string{opinionName, forensicsName, dissentName}, name)
}

// foreignNames names what comes from elsewhere so that it can't speak as the host.
type foreignNames struct{ mark string }

// foreignTo finds a mark that makes no name of a subject that is there already:
// foreignMark, as often as it takes.
func foreignTo(s *audit.Subject) foreignNames {
	marks := 1
	taken := func(name string) {
		n := 0
		for rest := name; ; n++ {
			if reserved(rest) {
				marks = max(marks, n+1)
			}
			var marked bool
			if rest, marked = strings.CutPrefix(rest, foreignMark); !marked {
				return
			}
		}
	}
	for i := range s.Documents {
		taken(s.Documents[i].Name)
	}
	for i := range s.Evidence {
		taken(s.Evidence[i].SourceRef)
	}
	return foreignNames{strings.Repeat(foreignMark, marks)}
}

// name is the name by which collectors and judges know a document or a source.
func (f foreignNames) name(ref string) string {
	if reserved(ref) {
		return f.mark + ref
	}
	return ref
}

// origin is what a name was elsewhere.
func (f foreignNames) origin(name string) string {
	if ref, marked := strings.CutPrefix(name, f.mark); marked && reserved(ref) {
		return ref
	}
	return name
}

// documents of the case, by these names. They differ as those of the case do.
func (f foreignNames) documents(s *audit.Subject) []abi.Document {
	list := slices.Clone(s.Documents)
	for i := range list {
		list[i].Name = f.name(list[i].Name)
	}
	return list
}
