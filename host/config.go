package host

import (
	"io/fs"
	"log/slog"
	"time"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/internal/court"
	"github.com/shadowcourt/shadowcourt/host/internal/runtime"
	"github.com/shadowcourt/shadowcourt/host/internal/runtime/registry"
	"github.com/shadowcourt/shadowcourt/host/internal/sandbox"
	"github.com/shadowcourt/shadowcourt/host/pipeline"
	"github.com/shadowcourt/shadowcourt/host/record"
)

// Light answers for the classifier under review. A case that brings its own
// classification needs none; with one, the court may remand.
type Light = court.Light

// LightRequest and LightResponse are what a [Light] gets and gives.
type (
	LightRequest  = court.LightRequest
	LightResponse = court.LightResponse
)

// ErrNoLight: a case without a classification, and no Light to ask.
var ErrNoLight = court.ErrNoLight

// RefusedError holds every fault of modules that were not installed.
type RefusedError = registry.RefusedError

// ErrClosed: the host was closed.
var ErrClosed = registry.ErrClosed

// Config says what a Host is opened on. Its zero value is useful: the shipped
// court with the shipped modules, no profile, no cache on disk.
type Config struct {
	// Pipeline to walk. Default: the shipped defect-court.
	Pipeline *pipeline.Definition
	// Modules holds NAME.wasm files. Default: the modules embedded in this
	// program, which must have been built into it.
	Modules fs.FS
	// Court overrides the pipeline's limits. Optional.
	Court *abi.CourtConfig
	// Profile of the domain, handed to the personas. Optional.
	Profile *abi.Profile
	// Light to ask where a case has no classification, and after a remand. Optional.
	Light Light
	// Reclassify has Light asked about every case: the classifications that
	// cases bring are not used.
	Reclassify bool
	// LightPath is a graph to walk for Light, in place of a Light; with it every
	// case is reclassified. Optional.
	LightPath *pipeline.Definition
	// Casebook and Source answer modules that were granted recall, correlate or
	// source. Without one, they are answered that nothing is known. Optional.
	Casebook Casebook
	Source   Source
	// Candidate is a court that tries a share of the cases too, and decides
	// nothing: trial.Trial has its trial beside that of the court in force. Optional.
	Candidate *Candidate
	// CacheDir keeps compiled modules between runs; it must be the user's own. Default: none.
	CacheDir string
	// Limits of every call of a module. Zero fields mean the defaults of SPEC.md.
	Limits Limits
	// Record has [Host.TryAll] and [Host.TryRecorded] note what happens in each
	// trial, and says how much of it is kept. Default: nothing is noted.
	Record record.Contents
	// Store keeps every module that is put in force, so that records can be
	// replayed. Optional.
	Store *record.Store
	// Logger gets a record for each rejected artifact. Default: none.
	Logger *slog.Logger
	// Now is the clock that limits a trial. Default: time.Now.
	Now func() time.Time
	// Observe is called after every call of a module, from the goroutine of the trial. Optional.
	Observe func(CallRecord)

	reset     sandbox.Reset    // for tests: how calls are made pristine
	sleep     runtime.Sleep    // for tests: how to wait for a folder that changes
	callClock func() time.Time // for tests: what the wall clock of single calls is measured with; nil: time.Now
}

// Limits of one call of a module. Zero means the default of SPEC.md.
type Limits struct {
	MemoryBytes int64
	WallClock   time.Duration
	OutputBytes int64
	InputBytes  int64
	// Fuel in units of about one simple instruction.
	Fuel uint64
}

// CallRecord is one call of a module: what went in and what came out. Input is
// valid only during Observe. Output is what the module gave, before any
// validation; nil when the call failed.
type CallRecord struct {
	CaseID string
	Module string
	Digest string
	Call   abi.Call
	// Node and Persona of the request; Persona is empty for edges.
	Node, Persona string
	Input, Output []byte
	Elapsed       time.Duration
	Err           error
	// Uses are what the module asked through its capabilities during the call, in order.
	Uses []Use
}
