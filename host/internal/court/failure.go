package court

import (
	"errors"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/pipeline"
)

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

// failure says which module failed, where and why, and logs a refused
// artifact. When the time is over that is the cause, whatever the module did.
func (t *trial) failure(err error, node *pipeline.Node, persona, module string, call abi.Call) error {
	var m *ModuleError
	if !errors.As(err, &m) {
		if t.expired() {
			return errTTL
		}
		return err
	}
	digest := t.modules.Digest(module)
	if m.Cause == CauseInvalidArtifact && len(m.Problems) > 0 {
		first := m.Problems[0]
		t.court.log.Warn("artifact refused",
			"node", node.Name, "persona", persona, "module", module, "digest", digest, "call", string(call),
			"path", first.Path.String(), "code", string(first.Code), "problems", len(m.Problems))
	}
	if t.expired() && (m.Cause == CauseWallClock || m.HostSide) {
		return errTTL
	}
	return &Failure{
		Cause: m.Cause, Node: node.Name, Persona: persona, Module: module, Digest: digest,
		Call: call, Message: m.Message, Problems: m.Problems,
	}
}
