package abitest

import (
	"context"

	"github.com/shadowcourt/shadowcourt/abi"
)

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
	// Allocating: it ended in the allocator.
	Allocating bool
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
