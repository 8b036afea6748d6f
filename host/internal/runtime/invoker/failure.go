package invoker

import (
	"errors"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/trial"
)

// retry makes a call again when it failed on the host's own side.
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
	return &ModuleError{Cause: trial.CauseFailure, Message: "the module gives up: " + f.Code + ": " + f.Message}
}

// rejected gives nil, or an error with the problems of an artifact.
func rejected(c *abi.Collector) error {
	err := c.Err()
	if err == nil {
		return nil
	}
	var validation *abi.ValidationError
	errors.As(err, &validation)
	return &ModuleError{Cause: trial.CauseInvalidArtifact, Message: "invalid artifact: " + err.Error(), Problems: validation.Problems, Err: err}
}
