package players

import (
	"context"

	"github.com/shadowcourt/shadowcourt/abi"
)

// Modules plays the personas and the clerk of one trial. Its modules do not
// change while the trial goes on. Responses have passed the strict decoder;
// who asks holds them against the case. An error is a *ModuleError, or wraps
// the context's.
type Modules interface {
	Node(ctx context.Context, module string, req *abi.NodeRequest) (*abi.NodeResponse, error)
	Contest(ctx context.Context, module string, req *abi.ContestRequest) (*abi.ContestResponse, error)
	Edges(ctx context.Context, module string, req *abi.EdgeRequest) (*abi.EdgeResponse, error)
	// Digest of the module, "sha256:" and 64 hex digits.
	Digest(module string) string
	// Trail of the trial; nil where none is kept.
	Trail() Trail
}

// Trail is told what happens in a trial beside the calls of modules, and has
// the last word on its time, so that a trial can be tried again as it was. It is
// used by the goroutine of the trial.
type Trail interface {
	// Over gets what the clock says of whether the time is over, and gives what counts.
	Over(now bool) bool
	// Merged gets the digest of a state after each merge; of an audit, whose
	// branches come in any order, after all those of a node.
	Merged(digest [32]byte)
}

// Over is what counts of what the clock says, with a trail or without one.
func Over(m Modules, now bool) bool {
	if trail := m.Trail(); trail != nil {
		return trail.Over(now)
	}
	return now
}

// Merged is who is told of merges, nil where nobody is.
func Merged(m Modules) func(digest [32]byte) {
	if trail := m.Trail(); trail != nil {
		return trail.Merged
	}
	return nil
}

// ModuleError says why a module gave no usable response.
type ModuleError struct {
	Cause   Cause
	Message string
	// Problems of a response that was refused.
	Problems []abi.Problem
	// HostSide: the failure is not the module's doing, so that trying once more makes sense.
	HostSide bool
	Err      error
}

// Error gives the message.
func (e *ModuleError) Error() string { return e.Message }

// Unwrap gives the error underneath, if any.
func (e *ModuleError) Unwrap() error { return e.Err }
