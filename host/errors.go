package host

import (
	"github.com/shadowcourt/shadowcourt/host/internal/court"
	"github.com/shadowcourt/shadowcourt/host/internal/court/registry"
)

// ErrNoLight: a case without a classification, and no Light to ask.
var ErrNoLight = court.ErrNoLight

// ErrClosed: the host was closed.
var ErrClosed = registry.ErrClosed

// CacheError says that the sandbox could not be opened: the folder for compiled modules, Dir, cannot be used, or a limit is invalid.
// It unwraps to Err.
type CacheError = court.CacheError

// CandidateError says why a candidate's court could not be made. It unwraps to Err.
type CandidateError = court.CandidateError

// RejectedError holds every fault of modules that were not installed, in Faults; its message gives each a line. The modules
// before them stay. Has reports whether a fault has a code.
type RejectedError = registry.RejectedError

// Fault is one reason why modules were rejected: the Module, which is empty where it is the whole set's, a Code that is stable, such as
// "missing_module", a Detail, and the Subject that it is about, such as a family, where there is one.
type Fault = registry.Fault
