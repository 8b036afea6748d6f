package invoker

import (
	"context"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/pipeline"
)

// JudgeModules plays the judges of an audit beside the personas.
type JudgeModules interface {
	Modules
	// Judge makes a call at a node, which the judge does not hear of.
	Judge(ctx context.Context, module, node string, req *abi.JudgeRequest) (*abi.JudgeResponse, error)
}

// Judge asks a judge for its opinions, one for each criterion of the request,
// in order. Errors are as those of Node.
func (v Invoker) Judge(ctx context.Context, modules JudgeModules, node *pipeline.Node, module string, req *abi.JudgeRequest) ([]abi.CriterionOpinion, error) {
	response, err := retry(func() (*abi.JudgeResponse, error) { return modules.Judge(ctx, module, node.Name, req) })
	if err == nil && response.Failure != nil {
		err = declared(response.Failure)
	}
	if err == nil {
		var c abi.Collector
		abi.CheckOpinions(response.Opinions, req, &c)
		err = rejected(&c)
	}
	if err != nil {
		return nil, v.failure(err, node, req.Judge, module, abi.CallJudge)
	}
	return response.Opinions, nil
}
