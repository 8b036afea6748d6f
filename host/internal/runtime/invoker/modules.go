package invoker

import (
	"context"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/trial"
)

// Modules are the modules of one trial; they do not change while it goes on. Responses have passed the strict decoder; the
// caller checks them against the case. An error is a *ModuleError, or wraps the context's.
type Modules interface {
	Node(ctx context.Context, module string, req *abi.NodeRequest) (*abi.NodeResponse, error)
	Contest(ctx context.Context, module string, req *abi.ContestRequest) (*abi.ContestResponse, error)
	Edges(ctx context.Context, module string, req *abi.EdgeRequest) (*abi.EdgeResponse, error)
	// Replaced notes that a fallback plays in place of a module that failed.
	Replaced(f trial.Fallback)
	// Digest of the module, "sha256:" and 64 hex digits.
	Digest(module string) string
	// Recorder of the trial; nil where nothing is recorded.
	Recorder() Recorder
	// Told are the elements of which the host told the modules through capabilities, whatever they made of it.
	Told() []abi.Element
}

// Recorder is told what happens in a trial beside the calls of modules, and decides when its time is over, so that a replay
// repeats it. The goroutine of the trial uses it.
type Recorder interface {
	// Over takes whether the clock says that the time is over, and returns what counts.
	Over(now bool) bool
	// Merged takes the digest of the state after each merge; in an audit, whose
	// branches end in any order, after all those of a node.
	Merged(digest [32]byte)
}

// Over tells whether the time of a trial is over, where the clock says now.
func Over(m Modules, now bool) bool {
	if recorder := m.Recorder(); recorder != nil {
		return recorder.Over(now)
	}
	return now
}

// Merged is what to call after each merge; nil where nothing is recorded.
func Merged(m Modules) func(digest [32]byte) {
	if recorder := m.Recorder(); recorder != nil {
		return recorder.Merged
	}
	return nil
}

// ModuleError says why a module gave no usable response.
type ModuleError struct {
	Cause   trial.Cause
	Message string
	// Problems of a response that was rejected.
	Problems []abi.Problem
	// HostSide: the failure is not the module's doing, so that trying again makes sense.
	HostSide bool
	Err      error
}

// Error gives the message.
func (e *ModuleError) Error() string { return e.Message }

// Unwrap gives the error underneath, if any.
func (e *ModuleError) Unwrap() error { return e.Err }
