package court

import (
	"context"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/internal/traverse"
	"github.com/shadowcourt/shadowcourt/host/pipeline"
)

// Ask puts the edges of a node to the modules that evaluate them.
func (t *runner) Ask(ctx context.Context, node *pipeline.Node, edges []*pipeline.Edge) ([]traverse.Answer, error) {
	answers, err := t.invoker.Edges(ctx, node, edges, &abi.EdgeRequest{
		Node: node.Name, Family: abi.Family(node.Family), Artifact: t.artifactOf(abi.Family(node.Family)),
		Remands: t.result.Remands, MaxRemands: t.result.Remands + t.remandsLeft(),
		Limits: abi.Limits{
			TTLExceeded: t.expired(), Handoffs: t.result.Handoffs + 1, MaxHandoffs: t.court.limits.MaxHandoffs,
		},
	})
	return answers, t.timed(err)
}

// artifactOf is the artifact of the node that was just visited.
func (t *runner) artifactOf(family abi.Family) *abi.Artifact {
	a := &abi.Artifact{}
	switch family { //nolint:exhaustive // the families of a court
	case abi.FamilyIndict:
		a.Indictment = t.pass.Indictment
	case abi.FamilyDiscover:
		a.Discovery = t.pass.Discovery
	case abi.FamilyDefend:
		a.DefenseBrief = t.pass.Brief
	case abi.FamilyHearing:
		a.Hearing = t.pass.Hearing
	case abi.FamilyVerdict:
		a.Verdict = t.pass.Verdict
	}
	return a
}
