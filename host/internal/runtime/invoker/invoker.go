package invoker

import (
	"context"
	"errors"
	"log/slog"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/internal/traverse"
	"github.com/shadowcourt/shadowcourt/host/pipeline"
	"github.com/shadowcourt/shadowcourt/host/trial"
)

// Invoker calls the modules of one trial. It is as safe for concurrent use as
// they are.
type Invoker struct {
	Modules Modules
	// Log gets one record for each rejected artifact.
	Log *slog.Logger
}

// Node asks a persona for the artifact of a node. check compares the artifact
// with the case and adds what it finds, with paths that begin at the
// artifact; it says with false that the artifact is not of the expected kind. The modules run the experiments that were offered.
// Where the module fails in whatever way, the persona's fallback is asked, if it has one.
// An error is a *trial.Failure, or wraps the context's.
func (v Invoker) Node(ctx context.Context, node *pipeline.Node, persona *pipeline.Persona, req *abi.NodeRequest, check func(*abi.Artifact, *abi.Collector) bool) (*abi.Artifact, error) {
	artifact, err := v.node(ctx, node, persona, persona.Module, req, check)
	failed, ok := errors.AsType[*trial.Failure](err)
	if !ok || persona.Fallback == "" {
		return artifact, err
	}
	v.Modules.Replaced(trial.Fallback{
		Node: node.Name, Persona: persona.ID, Module: persona.Module, Fallback: persona.Fallback, Cause: failed.Code, Message: failed.Message,
	})
	return v.node(ctx, node, persona, persona.Fallback, req, check)
}

// node asks one module.
func (v Invoker) node(ctx context.Context, node *pipeline.Node, persona *pipeline.Persona, module string, req *abi.NodeRequest, check func(*abi.Artifact, *abi.Collector) bool) (*abi.Artifact, error) {
	response, err := retry(func() (*abi.NodeResponse, error) { return v.Modules.Node(ctx, module, req) })
	if err == nil && response.Failure != nil {
		err = declared(response.Failure)
	}
	if err == nil {
		var c abi.Collector
		switch {
		case response.Experiment != nil: // those that are offered are run
			abi.CheckExperiment(response.Experiment, nil, &c)
		case response.Completion != nil: // models that are offered are asked
			abi.CheckCompletion(response.Completion, req.Models, &c)
		case !check(response.Artifact, &c):
			c.Add(abi.CodeWrongArtifact, "is not the artifact that a node of the family "+string(req.Family)+" gives", abi.Field("artifact"))
		}
		err = rejected(&c)
	}
	if err != nil {
		return nil, v.failure(err, node, persona.ID, module, abi.CallNode)
	}
	return response.Artifact, nil
}

// Contest asks a persona for challenges and validates them with check.
// Errors are as those of Node.
func (v Invoker) Contest(ctx context.Context, node *pipeline.Node, persona *pipeline.Persona, req *abi.ContestRequest, check func([]abi.Challenge, *abi.Collector)) ([]abi.Challenge, error) {
	response, err := retry(func() (*abi.ContestResponse, error) { return v.Modules.Contest(ctx, persona.Module, req) })
	if err == nil && response.Failure != nil {
		err = declared(response.Failure)
	}
	if err == nil {
		var c abi.Collector
		check(response.Challenges, &c)
		err = rejected(&c)
	}
	if err != nil {
		return nil, v.failure(err, node, persona.ID, persona.Module, abi.CallContest)
	}
	return response.Challenges, nil
}

// Edges puts the edges of a node to the modules that evaluate them: one call
// for all edges of the clerk, and one for each other module that an edge
// names. req lacks the questions, and is not changed. Errors are as those of Node.
func (v Invoker) Edges(ctx context.Context, node *pipeline.Node, edges []*pipeline.Edge, req *abi.EdgeRequest) ([]traverse.Answer, error) {
	answers := make([]traverse.Answer, len(edges))
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
		if err := v.askModule(ctx, node, edges, places, *req, answers); err != nil {
			return nil, err
		}
	}
	return answers, nil
}

// askModule asks one module for the edges at places.
func (v Invoker) askModule(ctx context.Context, node *pipeline.Node, edges []*pipeline.Edge, places []int, req abi.EdgeRequest, answers []traverse.Answer) error {
	module := edges[places[0]].Module
	for _, at := range places {
		e := edges[at]
		req.Questions = append(req.Questions, abi.EdgeQuestion{ID: e.ID, Evaluator: e.Evaluator, Any: e.FromAny(), Params: Params(e.With)})
	}
	response, err := retry(func() (*abi.EdgeResponse, error) { return v.Modules.Edges(ctx, module, &req) })
	if err == nil && response.Failure != nil {
		err = declared(response.Failure)
	}
	if err == nil {
		var c abi.Collector
		abi.CheckEdgeAnswers(response.Answers, req.Questions, &c)
		err = rejected(&c)
	}
	if err != nil {
		return v.failure(err, node, "", module, abi.CallEdges)
	}
	for i, at := range places {
		answers[at] = traverse.Answer{Fires: response.Answers[i].Fires, Why: response.Answers[i].Why}
	}
	return nil
}

// failure says which module failed, where and why, and logs a rejected artifact.
func (v Invoker) failure(err error, node *pipeline.Node, persona, module string, call abi.Call) error {
	var m *ModuleError
	if !errors.As(err, &m) {
		return err
	}
	digest := v.Modules.Digest(module)
	if m.Cause == trial.CauseInvalidArtifact && len(m.Problems) > 0 {
		first := m.Problems[0]
		v.Log.Warn("artifact rejected",
			"node", node.Name, "persona", persona, "module", module, "digest", digest, "call", string(call),
			"path", first.Path.String(), "code", string(first.Code), "problems", len(m.Problems))
	}
	f := trial.NewFailure(m.Cause, node.Name, persona, module, digest, m.Message)
	f.Problems, f.HostSide = trial.NewProblems(m.Problems), m.HostSide
	return f
}

// Params are the parameters of a node or an edge as modules get them.
func Params(with []pipeline.Param) []abi.Param {
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

// Identity is a persona as modules see it.
func Identity(p *pipeline.Persona) abi.Persona {
	return abi.Persona{
		Name: p.ID, Colour: p.Colour, Element: abi.Element(p.Element), Role: string(p.Role), Alignment: p.Alignment,
	}
}

// NestArtifact prepends the way to the artifact of that name to the paths of
// all problems since mark.
func NestArtifact(c *abi.Collector, mark int, name string) {
	c.Nest(mark, abi.Field(name))
	c.Nest(mark, abi.Field("artifact"))
}
