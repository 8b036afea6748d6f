package court

import (
	"fmt"
	"slices"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/internal/court/state"
	"github.com/shadowcourt/shadowcourt/host/pipeline"
)

// proceeding is what the court, a Light path and an audit have in common: calls of modules over one graph, whose responses are merged
// into a state.
type proceeding struct {
	*invoker
	state    *state.State
	sequence map[string]int // of the next artifact, by node
	last     *abi.Artifact  // of the node that was visited last, for its edges
}

// keep merges an artifact into the state, which owns it from here on.
func (p *proceeding) keep(node *pipeline.Node, pass int, persona string, artifact *abi.Artifact) (abi.ArtifactEntry, error) {
	entry := abi.ArtifactEntry{At: p.position(node, pass), Persona: persona, Artifact: *artifact}
	p.last = artifact
	if err := p.state.Adopt(&abi.Update{Artifacts: []abi.ArtifactEntry{entry}}); err != nil {
		return entry, fmt.Errorf("merge the artifact of node %q: %w", node.Name, err)
	}
	return entry, nil
}

// position gives the next place in the append channels for a node.
func (p *proceeding) position(node *pipeline.Node, pass int) abi.Position {
	at := abi.Position{Node: node.Name, Pass: pass, Sequence: p.sequence[node.Name]}
	p.sequence[node.Name]++
	return at
}

// gather merges items of evidence into a channel of the state.
func (p *proceeding) gather(channel string, items []abi.Evidence) error {
	if len(items) == 0 {
		return nil
	}
	if err := p.state.Apply(&abi.Update{Evidences: map[string][]abi.Evidence{channel: items}}); err != nil {
		return fmt.Errorf("merge the evidence of %s: %w", channel, err)
	}
	return nil
}

// persona gives the i-th persona of a node; a checked graph has it.
func (p *proceeding) persona(node *pipeline.Node, i int) *pipeline.Persona {
	persona, _ := p.graph.Definition().Persona(node.Personas[i])
	return persona
}

// nodeRequest begins the request to a persona at a node. Behind the mask of discovery all but labels and documents is left out, so that
// it is not in the bytes, and the request is complete.
func (p *proceeding) nodeRequest(node *pipeline.Node, by *pipeline.Persona, subject *abi.Case, d *domain) (req *abi.NodeRequest, complete bool) {
	req = &abi.NodeRequest{Node: node.Name, Family: abi.Family(node.Family), Persona: identity(by), Params: Params(node.With)}
	if !slices.Contains(node.Masks, pipeline.MaskDiscovery) {
		return req, false
	}
	req.Case = abi.CaseView{Labels: subject.Labels, Documents: subject.Documents}
	req.Profile = p.has(d.whole()) // what stands in the case is not known
	return req, true
}

// identity is a persona as modules see it.
func identity(p *pipeline.Persona) abi.Persona {
	return abi.Persona{
		Name: p.ID, Colour: p.Colour, Element: abi.Element(p.Element), Role: string(p.Role), Alignment: p.Alignment,
	}
}

// itemKey is what makes an item of evidence the same as another.
type itemKey struct{ sourceRef, content string }

func keyOf(e *abi.Evidence) itemKey { return itemKey{e.SourceRef, e.Content} }

// without are the items that are not in a list.
func without(items, list []abi.Evidence) []abi.Evidence {
	return slices.DeleteFunc(slices.Clone(items), func(e abi.Evidence) bool { return abi.FindEvidence(list, e.SourceRef, e.Content) != nil })
}

// checkReplies checks the items of the answers to a remand; paths begin at "remand".
func checkReplies(answer *abi.RemandAnswer, c *abi.Collector, check func(items []abi.Evidence)) {
	for i := range answer.Answers {
		mark := c.Mark()
		check(answer.Answers[i].Evidence)
		nest(c, mark, abi.Index(i), abi.Field("answers"), abi.Field("remand"))
	}
}

// nest prepends steps to the paths of all problems since mark, the innermost first.
func nest(c *abi.Collector, mark int, steps ...abi.PathElement) {
	for _, step := range steps {
		c.Nest(mark, step)
	}
}
