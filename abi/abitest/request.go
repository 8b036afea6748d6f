package abitest

import (
	"context"

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

// Ending is how a call ended.
type Ending string

// The endings, by what §2.16 calls them.
const (
	Returned       Ending = ""
	Trapped        Ending = "trap"
	StackExceeded  Ending = "stack_overflow"
	Exited         Ending = "exit"
	Denied         Ending = "denied"
	OutOfMemory    Ending = "out_of_memory"
	BadPointer     Ending = "bad_pointer"
	OutOfBounds    Ending = "output_out_of_bounds"
	OutputTooLarge Ending = "output_too_large"
	OutOfFuel      Ending = "fuel_exhausted"
	OutOfTime      Ending = "wall_clock"
	BadQuestion    Ending = "bad_request"
	QuestionDenied Ending = "question_denied"
	// Declined is a module of the Extism binding that said so: it counts as a
	// failure in a response.
	Declined Ending = "failed"
)

// Outcome is what came of a call.
type Outcome struct {
	Ending Ending
	// Response, where the call returned.
	Response []byte
	// Fuel that it spent.
	Fuel uint64
	// Allocating: it ended in the allocator. Preparing: in shadowcourt_prepare.
	Allocating, Preparing bool
	// Detail of a call that did not return, and what the module wrote to its
	// standard error.
	Detail, Stderr string
}

// answer reads the response of a call that came back with one. What is wrong
// with it by itself is the finding.
func (o *Outcome) answer(call abi.Call) (answer, *finding) {
	if o.Ending == Declined {
		return answer{canonical: true, failure: &abi.Failure{Code: string(Declined), Message: o.Detail}}, nil
	}
	return read(call, o.Response)
}

// answered says whether a call came back with a response, or declined.
func (o *Outcome) answered() bool { return o.Ending == Returned || o.Ending == Declined }

// ended says how a call ended that has no response, by the names of SPEC.md §2.16.
func (o *Outcome) ended() string {
	cause := o.Ending
	if cause == QuestionDenied {
		cause = Denied
	}
	return string(cause) + ": " + o.Detail
}

// Subject makes calls to the module under test. Every call begins in pristine
// memory. An error is not the module's doing, and ends the kit.
type Subject interface {
	Call(ctx context.Context, call abi.Call, request []byte, k *Knowledge) (Outcome, error)
}

// Subjects are the module in the lives that a host may give it.
type Subjects struct {
	// Usual is as trials have it: warmed, reset after each call.
	Usual Subject
	// Fresh is warmed too, and has a new instance for every call.
	Fresh Subject
	// Cold was not called before.
	Cold Subject
	// Kept is never reset. It may be nil.
	Kept Subject
}

// Knowledge is what a host knows when a module asks it through a capability.
type Knowledge struct {
	Prior  abi.PriorCases
	Source abi.SourceAnswer
}
