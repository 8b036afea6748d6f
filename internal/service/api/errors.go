package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/validation"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/internal/service/problem"
	"github.com/shadowcourt/shadowcourt/internal/service/store"
)

var useProblems = sync.OnceFunc(func() {
	huma.DefaultArrayNullable = false
	// The library has its own errors in variables; nothing else in this program uses it.
	huma.NewError = func(status int, message string, faults ...error) huma.StatusError {
		return newProblem(status, message, faults)
	}
})

// codes are those of errors that the library finds.
var codes = map[int]problem.Code{
	http.StatusBadRequest:            problem.Invalid,
	http.StatusNotFound:              problem.NotFound,
	http.StatusMethodNotAllowed:      problem.MethodNotAllowed,
	http.StatusNotAcceptable:         problem.NotAcceptable,
	http.StatusRequestTimeout:        problem.TimedOut,
	http.StatusRequestEntityTooLarge: problem.TooLarge,
	http.StatusUnsupportedMediaType:  problem.UnsupportedMedia,
	http.StatusUnprocessableEntity:   problem.Invalid,
}

// newProblem turns an error of the library into a problem. Values that were sent are not repeated.
func newProblem(status int, message string, faults []error) *problem.Error {
	for _, err := range faults {
		if p, ok := errors.AsType[*problem.Error](err); ok {
			return p
		}
	}
	code, ok := codes[status]
	if !ok {
		code = problem.Internal
		if status < http.StatusInternalServerError {
			code = problem.Invalid
		}
	}
	p := problem.New(status, code, message)
	if code == problem.Internal {
		return problem.As(errors.Join(faults...))
	}
	for _, err := range faults {
		var detail huma.ErrorDetailer
		if !errors.As(err, &detail) {
			_ = p.Add(problem.Fault{Message: err.Error()})
			continue
		}
		d := detail.ErrorDetail()
		if strings.HasPrefix(d.Message, "invalid date/time") {
			d.Message = "is no date and time in the form of RFC 3339, such as 2026-11-23T17:00:00Z"
		}
		_ = p.Add(problem.Fault{Path: d.Location, Code: string(codeOf(d.Message)), Message: d.Message})
	}
	if message == "validation failed" {
		p.Detail = "the request is not valid"
		if len(p.Errors) == 1 {
			p.Detail += ": " + p.Errors[0].Path + ": " + p.Errors[0].Message
		}
	}
	return p
}

// codeOf gives the code that the rest of the program has for a fault of a message.
func codeOf(message string) abi.Code {
	required, _, _ := strings.Cut(validation.MsgExpectedRequiredProperty, "%s")
	switch {
	case message == validation.MsgUnexpectedProperty:
		return abi.CodeUnknownField
	case strings.HasPrefix(message, required):
		return abi.CodeMissingField
	case message == validation.MsgExpectedBoolean, message == validation.MsgExpectedNumber, message == validation.MsgExpectedInteger,
		message == validation.MsgExpectedString, message == validation.MsgExpectedArray, message == validation.MsgExpectedObject:
		return abi.CodeWrongType
	case strings.HasPrefix(message, "expected number"):
		return abi.CodeOutOfRange
	case strings.HasPrefix(message, "expected length"):
		return abi.CodeBadLength
	case strings.HasPrefix(message, "expected array length"):
		return abi.CodeBadCount
	}
	return abi.CodeInvalidValue
}

// fail turns an error of the store into a problem, and notes it.
func (s *server) fail(ctx context.Context, err error) error {
	p := failure(err)
	s.note(ctx, p)
	return p
}

func failure(err error) *problem.Error {
	if p, ok := errors.AsType[*problem.Error](err); ok {
		return p
	}
	if errors.Is(err, store.ErrFull) {
		return problem.New(http.StatusServiceUnavailable, problem.Unavailable, store.ErrFull.Error()).Because(err)
	}
	for _, known := range [...]struct {
		err    error
		status int
		code   problem.Code
	}{
		{store.ErrNotFound, http.StatusNotFound, problem.NotFound},
		{store.ErrKeyReused, http.StatusUnprocessableEntity, problem.KeyReused},
		{store.ErrTooLarge, http.StatusRequestEntityTooLarge, problem.TooLarge},
		{store.ErrState, http.StatusConflict, problem.Conflict},
		{store.ErrLabel, http.StatusUnprocessableEntity, problem.Invalid},
	} {
		if errors.Is(err, known.err) {
			return problem.New(known.status, known.code, err.Error())
		}
	}
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		return problem.New(http.StatusServiceUnavailable, problem.TimedOut, "the request was ended before it was done").Because(err)
	}
	return problem.As(err)
}

// invalid is a fault of one parameter or field.
func invalid(path string, code abi.Code, format string, args ...any) *problem.Error {
	message := fmt.Sprintf(format, args...)
	return problem.New(http.StatusUnprocessableEntity, problem.Invalid, "the request is not valid: "+path+": "+message).
		Add(problem.Fault{Path: path, Code: string(code), Message: message})
}
