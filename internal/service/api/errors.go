package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/validation"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
	"github.com/shadowcourt/shadowcourt/internal/service/store"
	"github.com/shadowcourt/shadowcourt/internal/service/wire"
)

var useProblems = sync.OnceFunc(func() {
	huma.DefaultArrayNullable = false
	huma.ValidateStrictCasing = true
	// The library has its own errors in variables; nothing else in this program uses it.
	huma.NewError = func(status int, message string, faults ...error) huma.StatusError {
		return newProblem(status, message, faults)
	}
})

// codes are those of errors that the library finds.
var codes = map[int]wire.Code{
	http.StatusBadRequest:            wire.Invalid,
	http.StatusNotFound:              wire.NotFound,
	http.StatusMethodNotAllowed:      wire.MethodNotAllowed,
	http.StatusNotAcceptable:         wire.NotAcceptable,
	http.StatusRequestTimeout:        wire.TimedOut,
	http.StatusRequestEntityTooLarge: wire.TooLarge,
	http.StatusUnsupportedMediaType:  wire.UnsupportedMedia,
	http.StatusUnprocessableEntity:   wire.Invalid,
}

// newProblem turns an error of the library into a problem. Values that were sent are not repeated.
func newProblem(status int, message string, faults []error) *wire.Problem {
	for _, err := range faults {
		if p, ok := errors.AsType[*wire.Problem](err); ok {
			return p
		}
	}
	code, ok := codes[status]
	if !ok {
		code = wire.Internal
		if status < http.StatusInternalServerError {
			code = wire.Invalid
		}
	}
	p := wire.NewProblem(status, code, message)
	if code == wire.Internal {
		return wire.AsProblem(errors.Join(faults...))
	}
	for _, err := range faults {
		var detail huma.ErrorDetailer
		if !errors.As(err, &detail) {
			_ = p.Add(wire.Fault{Message: err.Error()})
			continue
		}
		d := detail.ErrorDetail()
		if strings.HasPrefix(d.Message, "invalid date/time") {
			d.Message = "is no date and time in the form of RFC 3339, such as 2026-11-23T17:00:00Z"
		}
		_ = p.Add(wire.Fault{Path: d.Location, Code: string(codeOf(d.Message)), Message: d.Message})
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
	case strings.HasSuffix(message, sanitize.MsgDuplicateKey):
		return abi.CodeDuplicateKey
	case strings.HasPrefix(message, "expected number"):
		return abi.CodeOutOfRange
	case strings.HasPrefix(message, "expected length"):
		return abi.CodeBadLength
	case strings.HasPrefix(message, "expected array length"):
		return abi.CodeBadCount
	}
	return abi.CodeInvalidValue
}

// Reject turns an error into the problem that is answered, logs it and counts it.
func (o *Operations) Reject(ctx context.Context, err error) *wire.Problem {
	p := problemOf(err)
	if o.Rejected != nil {
		o.Rejected(string(p.Code))
	}
	level := slog.LevelInfo
	switch {
	case p.Status == http.StatusServiceUnavailable:
		level = slog.LevelWarn // it passes
	case p.Status >= http.StatusInternalServerError:
		level = slog.LevelError
	}
	o.Log.Log(ctx, level, "a request was rejected", "status", p.Status, "code", string(p.Code), "error", p)
	return p
}

func problemOf(err error) *wire.Problem {
	if p, ok := errors.AsType[*wire.Problem](err); ok {
		return p
	}
	if errors.Is(err, store.ErrFull) {
		return wire.NewProblem(http.StatusServiceUnavailable, wire.Unavailable, store.ErrFull.Error()).Because(err)
	}
	if store.IsBusy(err) {
		return wire.NewProblem(http.StatusServiceUnavailable, wire.Unavailable, "the database is locked or does not answer; try again").Because(err)
	}
	for _, known := range [...]struct {
		err    error
		status int
		code   wire.Code
	}{
		{store.ErrNotFound, http.StatusNotFound, wire.NotFound},
		{store.ErrKeyReused, http.StatusUnprocessableEntity, wire.KeyReused},
		{store.ErrTooLarge, http.StatusRequestEntityTooLarge, wire.TooLarge},
		{store.ErrState, http.StatusConflict, wire.Conflict},
		{store.ErrLabel, http.StatusUnprocessableEntity, wire.Invalid},
	} {
		if errors.Is(err, known.err) {
			return wire.NewProblem(known.status, known.code, err.Error())
		}
	}
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		return wire.NewProblem(http.StatusServiceUnavailable, wire.TimedOut, "the request was ended before it was done").Because(err)
	}
	return wire.AsProblem(err)
}

// invalid is a fault of one parameter or field.
func invalid(path string, code abi.Code, format string, args ...any) *wire.Problem {
	message := fmt.Sprintf(format, args...)
	return wire.NewProblem(http.StatusUnprocessableEntity, wire.Invalid, "the request is not valid: "+path+": "+message).
		Add(wire.Fault{Path: path, Code: string(code), Message: message})
}

func forbidden(detail string) *wire.Problem {
	return wire.NewProblem(http.StatusForbidden, wire.Forbidden, detail)
}

// maxText is the most characters of a name, a label or a text to look for.
const maxText = 200

// bounded rejects texts of more characters than they may have: paths and texts in turns.
func bounded(most int, pathsAndTexts ...string) error {
	for i := 0; i+1 < len(pathsAndTexts); i += 2 {
		if utf8.RuneCountInString(pathsAndTexts[i+1]) > most {
			return invalid(pathsAndTexts[i], abi.CodeBadLength, "has more than %d characters", most)
		}
	}
	return nil
}

// jsonFormat is JSON without escapes for HTML: results are the same bytes as elsewhere.
//
// Characters that are not visible are escaped, as in results: names and texts of cases may have terminal escapes and bidirectional controls.
var jsonFormat = huma.Format{
	Marshal: func(w io.Writer, v any) error {
		text, err := sanitize.EncodeJSON(v, "")
		if err == nil {
			_, err = w.Write(sanitize.JSON(text))
		}
		return err
	},
	Unmarshal: unmarshal,
}

// unmarshal decodes a request's body, in which no object has a key twice: encoding/json would take the last. In JSON Schema 516.0 and 5e2
// are integers, and validation takes them; encoding/json does not, and so they are decoded again as integers.
func unmarshal(data []byte, v any) error {
	err := json.Unmarshal(data, v)
	if _, first := v.(*any); first && err == nil { // to be validated; it is then decoded again
		return sanitize.UniqueKeys(json.NewDecoder(bytes.NewReader(data)), false)
	}
	if _, ok := errors.AsType[*json.UnmarshalTypeError](err); !ok {
		return err
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var tree any
	if d.Decode(&tree) != nil {
		return err
	}
	plain, marshalErr := json.Marshal(integers(tree))
	if marshalErr != nil {
		return err
	}
	return json.Unmarshal(plain, v)
}

// integers writes numbers that are integers as such.
func integers(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for key := range v {
			v[key] = integers(v[key])
		}
	case []any:
		for i := range v {
			v[i] = integers(v[i])
		}
	case json.Number:
		const exact = 1 << 53 // beyond it a float is no certain integer
		if f, err := v.Float64(); err == nil && math.Trunc(f) == f && math.Abs(f) <= exact {
			return json.Number(strconv.FormatInt(int64(f), 10))
		}
	}
	return v
}
