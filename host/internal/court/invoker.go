package court

import (
	"context"
	"errors"
	"sync"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/codec"
	"github.com/shadowcourt/shadowcourt/host/internal/court/traverse"
	"github.com/shadowcourt/shadowcourt/host/internal/sandbox"
	"github.com/shadowcourt/shadowcourt/host/pipeline"
	"github.com/shadowcourt/shadowcourt/host/trial"
)

// invoker calls modules by what one graph needs of them: personas for artifacts and challenges, evaluators for edges, and judges. It
// encodes requests, repeats a call that failed on the host's own side once, passes on validated responses only, logs those that are
// rejected, and names module, digest, node and cause of a failure.
type invoker struct {
	*session
	graph *pipeline.Graph
	calls []trial.Call // so far, in order
}

// invoker of the session for a graph.
func (s *session) invoker(graph *pipeline.Graph) *invoker { return &invoker{session: s, graph: graph} }

// kind is a kind of call: how its messages are encoded and decoded, what its module is prepared with, and where that says that it can't
// answer.
type kind[Req, Resp any] struct {
	call     abi.Call
	encode   func(dst []byte, req *Req) []byte
	decode   func(message []byte, limit int) (Resp, error)
	declared func(*Resp) *abi.Failure
	// shorten gives what is left of a request after the preparation. Nil for calls that have none.
	shorten func(s *session, module string, req *Req) *Req
}

//nolint:gochecknoglobals // constants that Go has no syntax for
var (
	nodeCalls = kind[abi.NodeRequest, abi.NodeResponse]{
		abi.CallNode, codec.AppendNodeRequest, codec.DecodeNodeResponse, func(r *abi.NodeResponse) *abi.Failure { return r.Failure }, (*session).shortenNode,
	}
	contestCalls = kind[abi.ContestRequest, abi.ContestResponse]{
		abi.CallContest, codec.AppendContestRequest, codec.DecodeContestResponse, func(r *abi.ContestResponse) *abi.Failure { return r.Failure }, (*session).shortenContest,
	}
	edgeCalls = kind[abi.EdgeRequest, abi.EdgeResponse]{
		abi.CallEdges, codec.AppendEdgeRequest, codec.DecodeEdgeResponse, func(r *abi.EdgeResponse) *abi.Failure { return r.Failure }, nil,
	}
	judgeCalls = kind[abi.JudgeRequest, abi.JudgeResponse]{
		abi.CallJudge, codec.AppendJudgeRequest, codec.DecodeJudgeResponse, func(r *abi.JudgeResponse) *abi.Failure { return r.Failure }, nil,
	}
	// buffers for encoded requests, used again from call to call.
	buffers = sync.Pool{New: func() any { b := make([]byte, 0, 16<<10); return &b }}
)

// once makes one call and decodes the response.
func (k *kind[Req, Resp]) once(ctx context.Context, v *invoker, b *broker, req *Req) (*Resp, error) {
	buffer := buffers.Get().(*[]byte) //nolint:forcetypeassert // the pool holds nothing else
	defer buffers.Put(buffer)
	if err := v.ready(ctx, b.module); err != nil {
		return nil, err
	}
	short, after := req, (*sandbox.Preparation)(nil)
	if k.shorten != nil {
		if short = k.shorten(v.session, b.module, req); short != req {
			after = v.profiled
		}
	}
	*buffer = k.encode((*buffer)[:0], short)
	if after != nil && !v.fits(len(*buffer), after) {
		after = nil
		*buffer = k.encode((*buffer)[:0], req)
	}
	request, encoded := *buffer, len(*buffer)
	if after != nil {
		if request = nil; v.wantsWhole() {
			*buffer = k.encode(*buffer, req)
			request = (*buffer)[encoded:]
		}
	}
	output, info, err := v.call(ctx, b, k.call, request, (*buffer)[:encoded], after)
	v.calls = append(v.calls, info)
	if err != nil {
		return nil, err
	}
	response, err := k.decode(output.Bytes, len(output.Bytes))
	var invalid *abi.ValidationError
	switch {
	case err == nil:
		return &response, nil
	case errors.As(err, &invalid):
		return nil, invalidArtifact(invalid, err)
	default:
		return nil, &moduleError{Cause: trial.CauseHost, Message: err.Error(), HostSide: true, Err: err}
	}
}

// answer makes a call again when it failed on the host's own side, and checks what comes. Whatever a module does is deterministic:
// making its call again would change nothing.
func (k *kind[Req, Resp]) answer(call func() (*Resp, error), check func(*Resp, *abi.Collector)) (*Resp, error) {
	response, err := call()
	if failed, ok := errors.AsType[*moduleError](err); ok && failed.HostSide {
		response, err = call()
	}
	if err != nil {
		return nil, err
	}
	if f := k.declared(response); f != nil {
		return nil, &moduleError{Cause: trial.CauseFailure, Message: "the module gives up: " + f.Code + ": " + f.Message}
	}
	var c abi.Collector
	check(response, &c)
	if err := c.Err(); err != nil {
		var invalid *abi.ValidationError
		errors.As(err, &invalid)
		return nil, invalidArtifact(invalid, err)
	}
	return response, nil
}

func invalidArtifact(invalid *abi.ValidationError, err error) error {
	return &moduleError{Cause: trial.CauseInvalidArtifact, Message: "invalid artifact: " + err.Error(), Problems: invalid.Problems, Err: err}
}

// node asks a persona for the artifact of a node. check compares it with the case and adds what it finds, with paths that begin
// at the artifact's field. Where the module fails in whatever way, the persona's fallback is asked, if it has one.
// An error is a *trial.Failure, or wraps the context's.
func (v *invoker) node(ctx context.Context, node *pipeline.Node, persona *pipeline.Persona, req *abi.NodeRequest, check func(*abi.Artifact, *abi.Collector)) (*abi.Artifact, error) {
	artifact, err := v.nodeBy(ctx, node, persona, persona.Module, req, check)
	failed, ok := errors.AsType[*trial.Failure](err)
	if !ok || persona.Fallback == "" {
		return artifact, err
	}
	v.fallbacks = append(v.fallbacks, trial.Fallback{
		Node: node.Name, Persona: persona.ID, Module: persona.Module, Fallback: persona.Fallback, Cause: failed.Code, Message: failed.Message,
	})
	return v.nodeBy(ctx, node, persona, persona.Fallback, req, check)
}

// nodeBy asks one module.
func (v *invoker) nodeBy(ctx context.Context, node *pipeline.Node, persona *pipeline.Persona, module string, req *abi.NodeRequest, check func(*abi.Artifact, *abi.Collector)) (*abi.Artifact, error) {
	response, err := nodeCalls.answer(
		func() (*abi.NodeResponse, error) { return v.nodeWithWishes(ctx, module, req) },
		func(response *abi.NodeResponse, c *abi.Collector) {
			switch {
			case response.Experiment != nil: // those that are offered are run
				abi.CheckExperiment(response.Experiment, nil, c)
				return
			case response.Completion != nil: // models that are offered are asked
				abi.CheckCompletion(response.Completion, req.Models, c)
				return
			}
			family := response.Artifact.Family()
			if family == abi.FamilyDiscover && req.Family == abi.FamilyCollect {
				family = abi.FamilyCollect // which gives the same artifact
			}
			if family != req.Family {
				c.Add(abi.CodeWrongArtifact, "is not the artifact that a node of the family "+string(req.Family)+" gives", abi.Field("artifact"))
				return
			}
			mark := c.Mark()
			check(response.Artifact, c)
			c.Nest(mark, abi.Field("artifact"))
		})
	if err != nil {
		return nil, v.failure(err, node, persona.ID, module, abi.CallNode)
	}
	return response.Artifact, nil
}

// contestBy asks a persona for challenges. Errors are as those of node.
func (v *invoker) contestBy(ctx context.Context, node *pipeline.Node, persona *pipeline.Persona, req *abi.ContestRequest, check func([]abi.Challenge, *abi.Collector)) ([]abi.Challenge, error) {
	response, err := contestCalls.answer(
		func() (*abi.ContestResponse, error) {
			return contestCalls.once(ctx, v, v.broker(persona.Module, "", persona.ID), req)
		},
		func(response *abi.ContestResponse, c *abi.Collector) { check(response.Challenges, c) })
	if err != nil {
		return nil, v.failure(err, node, persona.ID, persona.Module, abi.CallContest)
	}
	return response.Challenges, nil
}

// edges puts the edges of a node to the modules that evaluate them: one call for all edges of the clerk, and one for each other module that
// an edge names. req lacks node, family and questions. Errors are as those of node.
func (v *invoker) edges(ctx context.Context, node *pipeline.Node, edges []*pipeline.Edge, req abi.EdgeRequest) ([]traverse.Answer, error) {
	req.Node, req.Family = node.Name, node.Family
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
		if err := v.edgesBy(ctx, node, edges, places, req, answers); err != nil {
			return nil, err
		}
	}
	return answers, nil
}

// edgesBy asks one module for the edges at places.
func (v *invoker) edgesBy(ctx context.Context, node *pipeline.Node, edges []*pipeline.Edge, places []int, req abi.EdgeRequest, answers []traverse.Answer) error {
	module := edges[places[0]].Module
	for _, at := range places {
		e := edges[at]
		req.Questions = append(req.Questions, abi.EdgeQuestion{ID: e.ID, Evaluator: e.Evaluator, Any: e.FromAny(), Params: Params(e.With)})
	}
	response, err := edgeCalls.answer(
		func() (*abi.EdgeResponse, error) {
			response, err := edgeCalls.once(ctx, v, v.broker(module, node.Name, ""), &req)
			v.recorder.answered(req.Questions, response)
			return response, err
		},
		func(response *abi.EdgeResponse, c *abi.Collector) {
			abi.CheckEdgeAnswers(response.Answers, req.Questions, c)
		})
	if err != nil {
		return v.failure(err, node, "", module, abi.CallEdges)
	}
	for i, at := range places {
		answers[at] = traverse.Answer{Fires: response.Answers[i].Fires, Why: response.Answers[i].Why}
	}
	return nil
}

// judge asks a judge for its opinions, one for each criterion of the request, in order. Errors are as those of node.
func (v *invoker) judge(ctx context.Context, node *pipeline.Node, module string, req *abi.JudgeRequest) ([]abi.CriterionOpinion, error) {
	response, err := judgeCalls.answer(
		func() (*abi.JudgeResponse, error) { return v.judgeOnce(ctx, node.Name, module, req) },
		func(response *abi.JudgeResponse, c *abi.Collector) { abi.CheckOpinions(response.Opinions, req, c) })
	if err != nil {
		return nil, v.failure(err, node, req.Judge, module, abi.CallJudge)
	}
	return response.Opinions, nil
}

// judgeOnce makes one call at a node, which the judge does not hear of. A judge is no persona of the pipeline, and so is granted nothing.
func (v *invoker) judgeOnce(ctx context.Context, node, module string, req *abi.JudgeRequest) (*abi.JudgeResponse, error) {
	return judgeCalls.once(ctx, v, v.broker(module, node, req.Judge), req)
}

// failure says which module failed, where and why, and logs a rejected artifact.
func (v *invoker) failure(err error, node *pipeline.Node, persona, module string, call abi.Call) error {
	var m *moduleError
	if !errors.As(err, &m) {
		return err
	}
	digest := v.modules.Digest(module)
	if m.Cause == trial.CauseInvalidArtifact && len(m.Problems) > 0 {
		first := m.Problems[0]
		v.services.Logger.Warn("artifact rejected",
			"node", node.Name, "persona", persona, "module", module, "digest", digest, "call", string(call),
			"path", first.Path.String(), "code", string(first.Code), "problems", len(m.Problems))
	}
	f := trial.NewFailure(m.Cause, node.Name, persona, module, digest, m.Message)
	f.Problems, f.HostSide = trial.NewProblems(m.Problems), m.HostSide
	return f
}

// broker serves the module of a call at a node, by a persona; either may be empty.
func (v *invoker) broker(module, node, persona string) *broker {
	b := &broker{session: v.session, module: module, at: node, by: persona}
	b.node, _ = v.graph.Node(node)
	if persona != "" {
		b.persona, _ = v.graph.Definition().Persona(persona)
	}
	return b
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
