package sandbox

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// errWallClock ends a call at the limit for its time, errCancelled one whose caller's context has ended.
var (
	errWallClock = errors.New("wall clock limit")
	errCancelled = errors.New("cancelled")
)

// trapNames are the traps of wazero by their text, which is all that it exports of them.
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

// failure turns what ended a call of a module into its error.
func failure(module Digest, limits Limits, in *instance, err error) *CallError {
	e := &CallError{Digest: module, Export: in.export, Stderr: string(in.state.stderr), Err: err}
	var (
		exit      *exitError
		denied    *deniedError
		binding   *bindingError
		empty     *fuelError
		request   *RequestError
		rejection *DeniedError
		failed    *guestError
		response  *responseError
	)
	switch {
	case errors.As(err, &exit):
		e.Cause, e.Detail = CauseExit, strconv.FormatUint(uint64(exit.code), 10)
	case errors.As(err, &denied):
		e.Cause, e.Detail = CauseDenied, denied.function
	case errors.As(err, &request):
		e.Cause, e.Detail = CauseBadRequest, request.Error()
	case errors.As(err, &rejection):
		e.Cause, e.Detail = CauseDenied, rejection.Error()
	case errors.As(err, &response):
		e.Cause, e.Detail = CauseInvalidResponse, response.Error()
	case errors.As(err, &failed):
		e.Cause, e.Detail = CauseFailed, failed.message
	case errors.As(err, &binding):
		e.Cause, e.Detail = binding.cause, binding.detail
	case errors.As(err, &empty):
		e.Cause, e.Detail = CauseFuel, empty.Error()
	case errors.Is(err, errWallClock):
		e.Cause, e.Detail = CauseWallClock, "still running after "+limits.WallClock.String()
	case errors.Is(err, errCancelled):
		caller := in.state.meter.caller
		e.Cause, e.Detail = CauseCancelled, context.Cause(caller).Error()
		e.Err = errors.Join(caller.Err(), context.Cause(caller))
	default:
		e.Cause, e.Detail = trapOf(err)
	}
	if in.memory != nil && in.memory.Rejected() && (e.Cause == CauseTrap || e.Cause == CauseExit) {
		e.Detail = fmt.Sprintf("%s %s after growth beyond %d bytes was rejected", e.Cause, e.Detail, limits.MemoryBytes)
		e.Cause = CauseOutOfMemory
	}
	return e
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
