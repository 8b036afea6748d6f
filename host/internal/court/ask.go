package court

import (
	"context"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/internal/walk"
	"github.com/shadowcourt/shadowcourt/host/pipeline"
)

// Ask puts the edges of a node to the modules that evaluate them: one call
// for all edges of the clerk, and one for each other module that an edge names.
func (t *trial) Ask(ctx context.Context, node *pipeline.Node, edges []*pipeline.Edge) ([]walk.Answer, error) {
	answers := make([]walk.Answer, len(edges))
	asked := make([]bool, len(edges))
	for i := range edges {
		if asked[i] {
			continue
		}
		var places []int
		for j := i; j < len(edges); j++ {
			if edges[j].Module == edges[i].Module {
				places = append(places, j)
				asked[j] = true
			}
		}
		if err := t.askModule(ctx, node, edges, places, answers); err != nil {
			return nil, err
		}
	}
	return answers, nil
}

// askModule asks one module for the edges at places.
func (t *trial) askModule(ctx context.Context, node *pipeline.Node, edges []*pipeline.Edge, places []int, answers []walk.Answer) error {
	module := edges[places[0]].Module
	req := &abi.EdgeRequest{
		Node: node.Name, Family: abi.Family(node.Family), Artifact: t.artifactOf(abi.Family(node.Family)),
		Remands: t.out.Remands, MaxRemands: t.out.Remands + t.remandsLeft(),
		Limits: abi.Limits{
			TTLExceeded: t.expired(), Handoffs: t.out.Handoffs + 1, MaxHandoffs: t.court.limits.MaxHandoffs,
		},
	}
	for _, at := range places {
		e := edges[at]
		req.Questions = append(req.Questions, abi.EdgeQuestion{ID: e.ID, Evaluator: e.Evaluator, Any: e.FromAny(), Params: params(e.With)})
	}
	response, err := retry(func() (*abi.EdgeResponse, error) { return t.modules.Edges(ctx, module, req) })
	var c abi.Collector
	if err == nil {
		if response.Failure != nil {
			err = declared(response.Failure)
		} else {
			abi.CheckEdgeAnswers(response.Answers, req.Questions, &c)
			err = refused(&c)
		}
	}
	if err != nil {
		return t.failure(err, node, "", module, abi.CallEdges)
	}
	for i, at := range places {
		answers[at] = walk.Answer{Fires: response.Answers[i].Fires, Why: response.Answers[i].Why}
	}
	return nil
}

// artifactOf is the artifact of the node that was just visited.
func (t *trial) artifactOf(family abi.Family) *abi.Artifact {
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

func params(with []pipeline.Param) []abi.Param {
	if len(with) == 0 {
		return nil
	}
	list := make([]abi.Param, len(with))
	for i := range with {
		w := &with[i]
		p := abi.Param{Name: w.Name}
		switch w.Kind {
		case pipeline.ParamNumber:
			p.Number = &w.Number
		case pipeline.ParamText:
			p.Text = &w.Text
		case pipeline.ParamFlag:
			p.Flag = &w.Flag
		}
		list[i] = p
	}
	return list
}
