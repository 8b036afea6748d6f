package host

import (
	"errors"
	"slices"
	"strings"

	"github.com/shadowcourt/shadowcourt/host/internal/court"
	"github.com/shadowcourt/shadowcourt/host/internal/runtime/registry"
)

// ErrNoLight: a case without a classification, and no Light to ask.
var ErrNoLight = court.ErrNoLight

// ErrClosed: the host was closed.
var ErrClosed = registry.ErrClosed

// CacheError says that the sandbox could not be opened: the folder for compiled modules cannot be used, or a limit is invalid.
type CacheError struct {
	Dir string
	Err error
}

// Error gives the message of Err.
func (e *CacheError) Error() string { return e.Err.Error() }

// Unwrap gives Err.
func (e *CacheError) Unwrap() error { return e.Err }

// CandidateError says why a candidate's court could not be made.
type CandidateError struct{ Err error }

// Error names the candidate.
func (e *CandidateError) Error() string { return "candidate: " + e.Err.Error() }

// Unwrap gives the reason.
func (e *CandidateError) Unwrap() error { return e.Err }

// RejectedError holds every fault of modules that were not installed. The modules
// before them stay.
type RejectedError struct{ Faults []Fault }

// Error gives each fault a line.
func (e *RejectedError) Error() string {
	lines := make([]string, len(e.Faults))
	for i, f := range e.Faults {
		lines[i] = f.String()
	}
	return strings.Join(lines, "\n")
}

// Has reports whether a fault has that code.
func (e *RejectedError) Has(code string) bool {
	return slices.ContainsFunc(e.Faults, func(f Fault) bool { return f.Code == code })
}

// Fault is one reason why modules were rejected.
type Fault struct {
	Module string // empty where it is the whole set's
	Code   string // stable, such as "missing_module"
	Detail string
}

// String renders the fault as `module: detail [code]`.
func (f Fault) String() string {
	s := f.Detail + " [" + f.Code + "]"
	if f.Module != "" {
		s = f.Module + ": " + s
	}
	return s
}

// rejected turns the error of the registry into a *RejectedError, and leaves others as they are.
func rejected(err error) error {
	rejected, ok := errors.AsType[*registry.RejectedError](err)
	if !ok {
		return err
	}
	e := &RejectedError{Faults: make([]Fault, len(rejected.Faults))}
	for i, f := range rejected.Faults {
		e.Faults[i] = Fault{Module: f.Module, Code: string(f.Code), Detail: f.Detail}
	}
	return e
}
