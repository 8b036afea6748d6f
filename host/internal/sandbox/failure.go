package sandbox

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/tetratelabs/wazero/sys"
)

// errWallClock is the cause of a context that ended by the limit of a call,
// which tells it from the caller's own deadline.
var errWallClock = errors.New("wall clock limit")

// trapNames are the traps of wazero by their text, which is all that it
// exports of them.
var trapNames = map[string]string{
	"stack overflow":                "stack_overflow",
	"invalid conversion to integer": "invalid_conversion_to_integer",
	"integer overflow":              "integer_overflow",
	"integer divide by zero":        "integer_divide_by_zero",
	"unreachable":                   "unreachable",
	"out of bounds memory access":   "out_of_bounds_memory",
	"invalid table access":          "invalid_table_access",
	"indirect call type mismatch":   "indirect_call_type_mismatch",
	"unaligned atomic":              "unaligned_atomic",
	"expected shared memory":        "expected_shared_memory",
	"too many waiters":              "too_many_waiters",
	"uncaught exception":            "uncaught_exception",
	"null reference":                "null_reference",
}

// failure turns what ended a call into its error. ctx is the context of the
// call, caller the one it was made from.
func (m *Module) failure(caller, ctx context.Context, in *instance, err error) *CallError {
	e := &CallError{Digest: m.info.Digest, Export: in.export, Stderr: string(in.state.stderr), Err: err}
	var (
		exit    *exitError
		denied  *deniedError
		binding *bindingError
		stopped *sys.ExitError
	)
	switch {
	case errors.As(err, &exit):
		e.Cause, e.Detail = CauseExit, strconv.FormatUint(uint64(exit.code), 10)
	case errors.As(err, &denied):
		e.Cause, e.Detail = CauseDenied, denied.function
	case errors.As(err, &binding):
		e.Cause, e.Detail = binding.cause, binding.detail
	case errors.As(err, &stopped):
		m.stopped(e, caller, ctx)
	default:
		e.Cause, e.Detail = trapOf(err)
	}
	if in.state.memory.refused && (e.Cause == CauseTrap || e.Cause == CauseExit) {
		e.Detail = fmt.Sprintf("%s %s after growth beyond %d bytes was refused", e.Cause, e.Detail, m.limits.MemoryBytes)
		e.Cause = CauseOutOfMemory
	}
	return e
}

// stopped explains an instance that was closed while it ran: its context
// ended, nothing else closes one.
func (m *Module) stopped(e *CallError, caller, ctx context.Context) {
	cause := context.Cause(ctx)
	switch {
	case errors.Is(cause, errWallClock):
		e.Cause, e.Detail, e.Err = CauseWallClock, "still running after "+m.limits.WallClock.String(), errWallClock
	case caller.Err() != nil:
		e.Cause, e.Detail, e.Err = CauseCancelled, cause.Error(), caller.Err()
		if !errors.Is(cause, e.Err) {
			e.Err = errors.Join(caller.Err(), cause)
		}
	default:
		e.Cause, e.Detail = CauseHost, "the instance was closed while it ran"
	}
}

// trapOf names a trap. Anything that is none is the host's.
func trapOf(err error) (Cause, string) {
	root := err
	for next := errors.Unwrap(root); next != nil; next = errors.Unwrap(root) {
		root = next
	}
	text := root.Error()
	if strings.HasPrefix(text, "data[") { // an active segment: data[3]: out of bounds memory access
		_, text, _ = strings.Cut(text, ": ")
	}
	if name, ok := trapNames[text]; ok {
		return CauseTrap, name
	}
	return CauseHost, root.Error()
}

func span(pointer, length, size uint32) string {
	return fmt.Sprintf("%d bytes at %d are not in a memory of %d bytes", length, pointer, size)
}

func bytesOver(n, limit int64) string {
	return fmt.Sprintf("%d bytes, the limit is %d", n, limit)
}
