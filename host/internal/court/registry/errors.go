package registry

import (
	"errors"
	"strings"
)

// ErrClosed: the registry was closed.
var ErrClosed = errors.New("the host is closed")

// FaultCode says why a module was rejected. Codes are stable; those of the
// sandbox (not_wasm, missing_export, forbidden_import, ...) are passed on.
type FaultCode = string

// The registry's own codes.
const (
	FaultMissing     FaultCode = "missing_module"
	FaultNoManifest  FaultCode = "no_manifest"
	FaultManifest    FaultCode = "invalid_manifest"
	FaultABIVersion  FaultCode = "abi_version"
	FaultCall        FaultCode = "call_not_served"
	FaultFamily      FaultCode = "family_not_served"
	FaultEdge        FaultCode = "edge_not_served"
	FaultCriterion   FaultCode = "criterion_not_served"
	FaultImport      FaultCode = "forbidden_import" // of a capability; the sandbox has it too
	FaultCapability  FaultCode = "capability_not_granted"
	FaultLimits      FaultCode = "limits_not_granted"
	FaultSides       FaultCode = "sides_not_apart"
	FaultUnavailable FaultCode = "unavailable"
)

// missing is the fault of a module that is not there.
func missing(name string) Fault {
	detail := "there is no module of this name"
	switch {
	case strings.Contains(name, ":"):
		detail = "it was not fetched: a host looks for what a reference names among its modules, and goes to no registry itself"
	case strings.ContainsAny(name, `/\`):
		detail += ": a module is named without folder and .wasm"
	}
	return Fault{Module: name, Code: FaultMissing, Detail: detail}
}

// Fault is one reason why modules were rejected.
type Fault struct {
	Module string
	Code   FaultCode
	Detail string
	// Subject is the family, evaluator, criterion, call or capability that the fault is about; empty otherwise.
	Subject string
}

// String renders the fault as `module: detail [code]`.
func (f Fault) String() string {
	s := f.Detail + " [" + f.Code + "]"
	if f.Module != "" {
		s = f.Module + ": " + s
	}
	return s
}

// RejectedError holds every fault of the modules that were to be installed.
// What was installed before goes on.
type RejectedError struct{ Faults []Fault }

// Error gives one fault a line.
func (e *RejectedError) Error() string {
	lines := make([]string, len(e.Faults))
	for i, f := range e.Faults {
		lines[i] = f.String()
	}
	return strings.Join(lines, "\n")
}

// Has reports whether a fault of that code is among them.
func (e *RejectedError) Has(code FaultCode) bool {
	for _, f := range e.Faults {
		if f.Code == code {
			return true
		}
	}
	return false
}
