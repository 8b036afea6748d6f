package sandbox

import (
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
)

// ErrClosed says that a module or an engine was used after its Close. It is wrapped in the error of the call or of the load.
var ErrClosed = errors.New("closed")

// Digest is a SHA-256.
type Digest [32]byte

// String is "sha256:" and 64 hexadecimal digits.
func (d Digest) String() string { return "sha256:" + hex.EncodeToString(d[:]) }

// Cause says why a call failed. Causes are stable: records and reports hold them.
type Cause string

// The causes.
const (
	// CauseTrap is an instruction that trapped. Detail is the name of the trap: unreachable, out_of_bounds_memory, stack_overflow,
	// integer_divide_by_zero and so on.
	CauseTrap Cause = "trap"
	// CauseExit is a guest that ended itself. Detail is the exit code.
	CauseExit Cause = "exit"
	// CauseFuel is a call that spent more than its fuel. Detail has the units that were spent, and the limit.
	CauseFuel Cause = "fuel_exhausted"
	// CauseWallClock is a call that was still running at the wall clock limit.
	CauseWallClock Cause = "wall_clock"
	// CauseCancelled is a call whose caller's context ended. Err wraps the context's error.
	CauseCancelled Cause = "cancelled"
	// CauseOutOfMemory is a guest whose allocator gave no memory for the request, or that failed after memory.grow was rejected at the limit.
	CauseOutOfMemory Cause = "out_of_memory"
	// CauseOutputTooLarge is a response beyond the output limit.
	CauseOutputTooLarge Cause = "output_too_large"
	// CauseOutputOutOfBounds is a response that is not in the guest's memory.
	CauseOutputOutOfBounds Cause = "output_out_of_bounds"
	// CauseBadPointer is an allocator whose answer is not in the guest's memory.
	CauseBadPointer Cause = "bad_pointer"
	// CauseInputTooLarge is a request beyond the input limit. The guest was not called.
	CauseInputTooLarge Cause = "input_too_large"
	// CauseDenied is a guest that used a system function or a capability that it has no right to. Detail names it.
	CauseDenied Cause = "denied"
	// CauseBadRequest is a guest that asked a capability with a message that is rejected. Detail has the problems.
	CauseBadRequest Cause = "bad_request"
	// CauseInvalidResponse is a response of shadowcourt_prepare that is rejected. Detail has the problems.
	CauseInvalidResponse Cause = "invalid_response"
	// CauseFailed is a guest of Extism whose function gave something else than 0,
	// or that set an error, or a module that says that it cannot be prepared. Detail is what it said.
	CauseFailed Cause = "failed"
	// CauseMissingExport is a kind of call that the module does not serve.
	CauseMissingExport Cause = "missing_export"
	// CauseHost is a failure of the host's own side, or a closed module.
	CauseHost Cause = "host"
)

// CallError is the error of a call.
type CallError struct {
	Digest Digest // of the module
	Export string // the guest's function, empty if none was reached
	Cause  Cause
	Detail string // what the cause documents
	Stderr string // the first 4 KiB that the guest wrote to its standard error
	Err    error  // what is underneath, or nil
}

// of is the same error of another module with the same code.
func (e *CallError) of(module Digest) *CallError {
	other := *e
	other.Digest = module
	return &other
}

func (e *CallError) Error() string {
	var b strings.Builder
	b.WriteString(e.Digest.String()[:len("sha256:")+12])
	if e.Export != "" {
		b.WriteString(" " + e.Export)
	}
	b.WriteString(": " + string(e.Cause))
	if e.Detail != "" {
		b.WriteString(": " + e.Detail)
	}
	return b.String()
}

func (e *CallError) Unwrap() error { return e.Err }

// Deterministic reports whether the same call would fail again, so that trying again is pointless.
func (e *CallError) Deterministic() bool {
	return e.Cause != CauseHost && e.Cause != CauseWallClock && e.Cause != CauseCancelled
}

// FaultCode says what is wrong with a module that was not loaded. Codes are stable.
type FaultCode string

// The codes of faults.
const (
	FaultTooBig          FaultCode = "too_big"          // beyond Limits.ModuleBytes
	FaultNotWasm         FaultCode = "not_wasm"         // the bytes are no module, with the offset
	FaultCommandModule   FaultCode = "command_module"   // _start without _initialize
	FaultMissingExport   FaultCode = "missing_export"   //
	FaultWrongSignature  FaultCode = "wrong_signature"  // of an export or an import
	FaultForbiddenImport FaultCode = "forbidden_import" // not granted, named module.function
	FaultMemoryTooLarge  FaultCode = "memory_too_large" // declared beyond Limits.MemoryBytes
	FaultTableTooLarge   FaultCode = "table_too_large"  // declared beyond Limits.TableEntries
	FaultInvalid         FaultCode = "invalid"          // the compiler rejected it
	FaultTooComplex      FaultCode = "too_complex"      // compiling it would cost more than Limits.CompileSteps or CompileBytes
	FaultCompileTime     FaultCode = "compile_time"     // still compiling at Limits.CompileTime
	FaultStart           FaultCode = "start"            // it failed when it was instantiated
)

// Fault is one reason why a module was not loaded.
type Fault struct {
	Code   FaultCode
	Detail string
	Err    error // *wasmfile.Error, *complexity.Error, *CallError of the trial, or nil
}

func (f Fault) String() string { return string(f.Code) + ": " + f.Detail }

// LoadError holds every fault of a module that was not loaded.
type LoadError struct {
	Digest Digest
	Faults []Fault
}

func (e *LoadError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "module %s rejected", e.Digest.String()[:len("sha256:")+12])
	for i, f := range e.Faults {
		b.WriteString([]string{": ", "; "}[min(i, 1)] + f.String())
	}
	return b.String()
}

func (e *LoadError) Unwrap() []error {
	var errs []error
	for _, f := range e.Faults {
		if f.Err != nil {
			errs = append(errs, f.Err)
		}
	}
	return errs
}

// Has reports whether a fault of that code is among them.
func (e *LoadError) Has(code FaultCode) bool {
	return slices.ContainsFunc(e.Faults, func(f Fault) bool { return f.Code == code })
}

// calls are the kinds of calls with their exports, in the order of the contract.
var calls = [...]struct {
	call   abi.Call
	export string
}{
	{abi.CallNode, abi.ExportNode},
	{abi.CallContest, abi.ExportContest},
	{abi.CallEdges, abi.ExportEdges},
	{abi.CallJudge, abi.ExportJudge},
}

func exportOf(call abi.Call) string {
	for _, c := range calls {
		if c.call == call {
			return c.export
		}
	}
	return ""
}
