package wire

import (
	"cmp"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
)

// ProblemType is the media type of a problem.
const ProblemType = "application/problem+json"

// Code names a kind of problem. Codes are stable: programs may rely on them.
type Code string

// The codes of requests. Faults inside of a message have codes of package abi.
const (
	Unauthenticated  Code = "unauthenticated"
	Forbidden        Code = "forbidden"
	CrossOrigin      Code = "cross_origin"
	NotFound         Code = "not_found"
	MethodNotAllowed Code = "method_not_allowed"
	NotAcceptable    Code = "not_acceptable"
	Invalid          Code = "invalid"
	BadDocket        Code = "bad_docket"
	BadModule        Code = "bad_module"
	Conflict         Code = "conflict"
	KeyReused        Code = "key_reused"
	TooLarge         Code = "too_large"
	UnsupportedMedia Code = "unsupported_media"
	TooManyRequests  Code = "too_many_requests"
	TimedOut         Code = "timed_out"
	Unavailable      Code = "unavailable"
	Internal         Code = "internal"
)

// Fault is one thing wrong with a message.
type Fault struct {
	// Path leads to the value, such as cases[3].light.confidence; body, query and path parameters begin with body, query or path.
	Path string `json:"path,omitempty" doc:"Where the fault is, such as body.labels[1] or line 3: light.confidence"`
	// Code is stable; Message is for people.
	Code    string `json:"code,omitempty" doc:"Kind of the fault; stable" example:"missing_field"`
	Message string `json:"message" doc:"What is wrong, for people"`
}

// Problem is the body of an error response, and an error. Its texts have no bodies of documents in them.
type Problem struct { //nolint:errname // RFC 9457 calls it so
	Title  string `json:"title" doc:"Kind of the problem, for people"`
	Status int    `json:"status" minimum:"400" maximum:"599" doc:"The HTTP status code"`
	Code   Code   `json:"code" doc:"Kind of the problem; stable" example:"not_found"`
	Detail string `json:"detail,omitempty" doc:"What failed, what was expected and what to do, for people"`
	// Instance is the ID of the request, which the logs have, too.
	Instance string  `json:"instance,omitempty" doc:"The ID of the request, as the server's log has it"`
	Errors   []Fault `json:"errors,omitempty" doc:"Each fault with its place"`
	// Omitted counts faults beyond those in Errors.
	Omitted int `json:"omitted,omitempty" minimum:"0" doc:"Faults that are not in the list"`
	// Entries counts those of a docket that can't be tried.
	Entries int `json:"entries,omitempty" minimum:"0" doc:"Entries that can't be tried, of a docket that is rejected for it"`

	after time.Duration
	cause error
}

// NewProblem makes a problem. Detail says what failed, what was expected and what to do: in lower case and without a full stop.
func NewProblem(status int, code Code, detail string) *Problem {
	p := &Problem{Title: http.StatusText(status), Status: status, Code: code, Detail: detail}
	if status == http.StatusServiceUnavailable {
		p.after = 2 * time.Second
	}
	return p
}

// Because notes the error behind a problem. It is for the log: nobody outside sees it.
func (p *Problem) Because(err error) *Problem {
	p.cause = err
	return p
}

// After says when a request may be sent again; rounded up to seconds. Default: after 2 s where the service is not available.
func (p *Problem) After(d time.Duration) *Problem {
	p.after = d
	return p
}

// With adds what err says of places in a message: problems of the contract, and faults of a line of a docket.
func (p *Problem) With(err error) *Problem {
	var line *docket.LineError
	var invalid *abi.ValidationError
	switch {
	case errors.As(err, &line):
		place := ""
		if line.Line > 0 {
			place = "line " + strconv.Itoa(line.Line)
		}
		p.addAll(place, line.Problems, line.Omitted)
	case errors.As(err, &invalid):
		p.addAll("", invalid.Problems, invalid.Omitted)
	case err != nil:
		_ = p.Add(Fault{Message: sanitize.Line(err.Error())})
	}
	return p
}

func (p *Problem) addAll(place string, problems []abi.Problem, omitted int) {
	for i := range problems {
		path := problems[i].Path.String()
		if place != "" && path != "" {
			path = ": " + path
		}
		_ = p.Add(Fault{Path: place + path, Code: string(problems[i].Code), Message: sanitize.Line(problems[i].Detail)})
	}
	p.Omitted += omitted
}

// Add adds a fault.
func (p *Problem) Add(f Fault) *Problem {
	if len(p.Errors) >= abi.MaxProblems {
		p.Omitted++
		return p
	}
	p.Errors = append(p.Errors, f)
	return p
}

// Error gives the detail and, for the log, what is behind it.
func (p *Problem) Error() string {
	text := cmp.Or(p.Detail, p.Title)
	if p.cause == nil {
		return text
	}
	if cause := p.cause.Error(); strings.HasPrefix(cause, text) {
		return cause
	}
	return text + ": " + p.cause.Error()
}

// Unwrap gives the error behind the problem.
func (p *Problem) Unwrap() error { return p.cause }

// GetStatus is the HTTP status code.
func (p *Problem) GetStatus() int { return p.Status }

// GetHeaders are headers of the response besides its type.
func (p *Problem) GetHeaders() http.Header {
	h := http.Header{}
	if p.after > 0 {
		h.Set("Retry-After", strconv.Itoa(int((p.after+time.Second-1)/time.Second)))
	}
	if p.Status == http.StatusUnauthorized {
		h.Set("WWW-Authenticate", `Bearer realm="shadowcourt"`)
	}
	return h
}

// ContentType is that of a problem, whatever was asked for.
func (p *Problem) ContentType(string) string { return ProblemType }

// WriteProblem answers a request with a problem. A connection that is gone is nobody's fault.
func WriteProblem(w http.ResponseWriter, p *Problem) {
	body, err := json.Marshal(p)
	if err != nil {
		body = []byte(`{"title":"Internal Server Error","status":500,"code":"internal"}`)
	}
	maps.Copy(w.Header(), p.GetHeaders())
	w.Header().Set("Content-Type", ProblemType)
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(p.Status)
	_, _ = w.Write(append(sanitize.JSON(body), '\n'))
}

// AsProblem finds the problem that an error is; another error is an internal one, whose text only the log has.
func AsProblem(err error) *Problem {
	if p, ok := errors.AsType[*Problem](err); ok {
		return p
	}
	return NewProblem(http.StatusInternalServerError, Internal, "the server failed; its log says why").Because(err)
}
