package traverse

import (
	"errors"
	"fmt"
)

// Sentinels for errors.Is; the types hold the data.
var (
	// ErrNoEdge: no edge of the last node fired.
	ErrNoEdge = errors.New("no edge fires at the last node")
	// ErrStepLimit: the traversal took more steps than allowed.
	ErrStepLimit = errors.New("step limit exceeded")
)

// NoEdgeError names the last node, at which no edge fired.
type NoEdgeError struct{ Node string }

func (e *NoEdgeError) Error() string {
	return fmt.Sprintf("no edge of the last node %q fires", e.Node)
}

// Is makes errors.Is(err, ErrNoEdge) true.
func (e *NoEdgeError) Is(target error) bool { return target == ErrNoEdge }

// StepLimitError says which limit was exceeded, and the node that would have been next.
type StepLimitError struct {
	Limit int
	Node  string
}

func (e *StepLimitError) Error() string {
	return fmt.Sprintf("the traversal took %d steps without reaching an end; next would be %q", e.Limit, e.Node)
}

// Is makes errors.Is(err, ErrStepLimit) true.
func (e *StepLimitError) Is(target error) bool { return target == ErrStepLimit }
