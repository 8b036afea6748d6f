package invoker

import (
	"errors"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
)

// Cause says why a case came to no answer. Causes are stable: programs may compare them.
type Cause string

// The causes that are a module's, or lie with the call of one.
const (
	CauseTrap            Cause = "module_trap"
	CauseExit            Cause = "module_exit"
	CauseWallClock       Cause = "wall_clock"
	CauseFuel            Cause = "fuel_exhausted"
	CauseMemory          Cause = "memory_exceeded"
	CauseStack           Cause = "stack_exceeded"
	CauseDenied          Cause = "denied"
	CauseBadRequest      Cause = "bad_request"
	CauseOutputTooLarge  Cause = "output_too_large"
	CauseBadOutput       Cause = "bad_output"
	CauseInput           Cause = "input_too_large"
	CauseInvalidArtifact Cause = "invalid_artifact"
	CauseModuleFailure   Cause = "module_failure"
	CauseHost            Cause = "host_failure"
)

// The causes that lie with a graph.
const (
	CauseNoEdge Cause = "no_edge"
	CauseSteps  Cause = "step_limit"
	CauseGraph  Cause = "graph"
)

// Failure names the module that broke a walk, and how.
type Failure struct { //nolint:errname // an outcome holds it as data, and it is an error on the way there
	Cause   Cause
	Node    string
	Persona string
	Module  string
	Digest  string
	Call    abi.Call
	Message string
	// Problems of the rejected artifact, in path order.
	Problems []abi.Problem
	// HostSide: the failure is not the module's doing.
	HostSide bool
}

// Error names persona, module, node and message.
func (f *Failure) Error() string {
	who := f.Persona
	if who == "" {
		who = f.Module
	}
	parts := []string{who}
	if f.Digest != "" {
		parts = append(parts, "("+f.Digest+")")
	}
	return strings.Join(append(parts, "at", f.Node+":", f.Message), " ")
}

// retry makes a call once more when it failed on the host's own side.
// Whatever a module does is deterministic: retrying it would change nothing.
func retry[T any](call func() (*T, error)) (*T, error) {
	response, err := call()
	var module *ModuleError
	if errors.As(err, &module) && module.HostSide {
		response, err = call()
	}
	return response, err
}

// declared turns a module's own word that it can't answer into an error.
func declared(f *abi.Failure) error {
	return &ModuleError{Cause: CauseModuleFailure, Message: "the module gives up: " + f.Code + ": " + f.Message}
}

// refused gives nil, or an error with the problems of an artifact.
func refused(c *abi.Collector) error {
	err := c.Err()
	if err == nil {
		return nil
	}
	var validation *abi.ValidationError
	errors.As(err, &validation)
	return &ModuleError{Cause: CauseInvalidArtifact, Message: "invalid artifact: " + err.Error(), Problems: validation.Problems, Err: err}
}
