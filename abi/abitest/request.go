package abitest

import (
	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/codec"
	"github.com/shadowcourt/shadowcourt/internal/quotes"
)

// Request is a request that keeps the contract, with what is needed to check
// an answer. Exactly one of Node, Contest, Edges and Judge is there.
type Request struct {
	// Name says what it is, such as "case 17, hearing, defense".
	Name    string
	Node    *abi.NodeRequest
	Contest *abi.ContestRequest
	Edges   *abi.EdgeRequest
	Judge   *abi.JudgeRequest
	// docs of the case, which the module may not see.
	docs *quotes.Documents
	// Knowledge of the host, which the module may ask for.
	Knowledge *Knowledge
}

// Call is the kind of call that the request is for.
func (r *Request) Call() abi.Call {
	switch {
	case r.Node != nil:
		return abi.CallNode
	case r.Contest != nil:
		return abi.CallContest
	case r.Edges != nil:
		return abi.CallEdges
	default:
		return abi.CallJudge
	}
}

// Bytes is the canonical message.
func (r *Request) Bytes() []byte {
	switch {
	case r.Node != nil:
		return codec.AppendNodeRequest(nil, r.Node)
	case r.Contest != nil:
		return codec.AppendContestRequest(nil, r.Contest)
	case r.Edges != nil:
		return codec.AppendEdgeRequest(nil, r.Edges)
	default:
		return codec.AppendJudgeRequest(nil, r.Judge)
	}
}

// addParam gives a copy with one more parameter.
func (r *Request) addParam(p abi.Param) *Request {
	c := *r
	add := func(list []abi.Param) []abi.Param { return append(append([]abi.Param{}, list...), p) }
	switch {
	case r.Node != nil:
		n := *r.Node
		n.Params = add(n.Params)
		c.Node = &n
	case r.Contest != nil:
		n := *r.Contest
		n.Params = add(n.Params)
		c.Contest = &n
	case r.Edges != nil:
		n := *r.Edges
		n.Questions = append([]abi.EdgeQuestion{}, n.Questions...)
		n.Questions[0].Params = add(n.Questions[0].Params)
		c.Edges = &n
	default:
		n := *r.Judge
		n.Params = add(n.Params)
		c.Judge = &n
	}
	return &c
}
