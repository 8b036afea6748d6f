// Package gotest reads the output of `go test -json` into cases, one for each failing test.
//
// [Reader.Read] streams: it holds the logs of the tests that still run, and of each log only its head and tail. A parent
// that fails because its subtests fail is no case of its own. A package that doesn't build, that panics outside a test or
// that fails without a failing test is a case. Lines that are no events, as build errors of older Go versions, are kept as
// output of the test or the package that ran when they came, if only one did, and counted (see [Unread]). The progress and the
// warnings of the go command itself, as "go: downloading ...", are neither kept nor counted.
//
// A crash of the test binary belongs to the tests that it names as running (the timeout of `go test` does), else to the open
// test under whose name it stands, else to the only test that runs, else to the package. The go command prints it under the
// name of the test that wrote last, which may have passed. A package that exits without a crash while tests run is a case of
// the test that ran, or of the package if there were several.
//
// The labels are ReportPortal's: pb001 product bug, ab001 automation bug, si001 system issue, nd001 no defect (flaky).
//
// A case has its log as the document named "log", and evidence cut from it by rules over Go's test output (see
// evidence.go). An item quotes the log word for word; its source_ref says where, as log:L12. An item names a label only
// where the rule that cut it speaks for one. Its element is that of the Light node which would find it:
//
//	fire     assertions: what a triage sees first
//	earth    environment and build errors: what locates the failure
//	water    panics, frames, races, timeouts: what an investigation digs out
//	air      the summary that the go command prints
//
// Of a test that passed in some runs of the stream and failed in others, as with -count or when it is run again, an item
// "runs" tells, which speaks for nd001.
//
// [Light] is a first simple classification by a few rules on the symptom.
package gotest

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"iter"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/docket/internal/report"
	"github.com/shadowcourt/shadowcourt/host/docket/internal/stream"
)

// The most of one log that is kept. What lies between head and tail is cut, and a line says how many bytes were.
const (
	DefaultHeadBytes = stream.DefaultHeadBytes
	DefaultTailBytes = stream.DefaultTailBytes
)

// Reader reads streams of `go test -json`. The zero value is ready. One Reader for several files gives every case an id
// of its own. Not safe for concurrent use.
type Reader struct {
	// MaxLineBytes is the longest line. Default: DefaultLineBytes. A longer line is one error, and is not held in memory.
	MaxLineBytes int
	// HeadBytes and TailBytes are how much of a log is kept. Defaults: DefaultHeadBytes, DefaultTailBytes.
	HeadBytes, TailBytes int
	// HeldBytes is how much of the documents of cases waits for further runs of their tests. Default: DefaultHeldBytes. Beyond
	// it the first are given, with the runs so far.
	HeldBytes int
	// Live gives the cases of a package when the package ends, for streams that somebody waits for. Runs of a test behind
	// that, as those who run failed tests again append them, are then not known.
	Live bool
	// Passed, if it is not nil, is called for each package that passed: the group of the cases that it does not have.
	Passed func(pack string)
	// Unread, if it is not nil, is called at the end of a stream that has lines which are no events.
	Unread func(stream string, lines Unread)
	// Tests is how many tests were read that ended, subtests included.
	Tests int

	ids report.IDs
}

// Read gives the failing tests of a stream as cases, in the order in which they ended and with the number of the line that
// ended them. They are given when the stream ends, or with Live the package, since a test may run again in it: of one that passed and failed an item
// of evidence tells. A stream in which all tests pass has no case, and no error.
//
// An error that is a *docket.LineError concerns one line, or with Line 0 the stream: the lines after it follow. Any other
// error comes from in and is the last, after the cases that were still open.
//
// Memory is bounded by the logs of the tests that run at the same time, HeadBytes + 2 TailBytes each at most, one line, and
// HeldBytes of cases that wait. Of the first 262,144 tests the runs are counted.
func (r *Reader) Read(name string, in io.Reader) iter.Seq2[docket.Entry, error] {
	return func(yield func(docket.Entry, error) bool) {
		s := r.newReading(name, yield)
		limit := cmp.Or(max(0, r.MaxLineBytes), DefaultLineBytes)
		from := stream.NewLines(in, limit)
		for !s.stopped {
			line, length, err := from.Next()
			if err != nil {
				s.end()
				if !errors.Is(err, io.EOF) && !s.stopped {
					yield(docket.Entry{}, fmt.Errorf("reading %s, line %d: %w", name, s.line+1, err))
				}
				return
			}
			s.line++
			if line == nil {
				s.problem(s.line, abi.CodeTooLarge, "has "+strconv.Itoa(length)+" bytes, the limit is "+strconv.Itoa(limit))
				continue
			}
			s.take(line)
		}
	}
}

func (s *reading) take(line []byte) {
	if s.line == 1 {
		line = bytes.TrimPrefix(line, []byte(stream.MarkUTF8))
	}
	if len(line) == 0 || line[0] != '{' {
		s.plain(strings.ToValidUTF8(string(line), "\uFFFD"))
		return
	}
	e, problems := parseEvent(line)
	if e.Action == "" && !damagedEvent(line, problems) {
		s.plain(strings.ToValidUTF8(string(line), "\uFFFD"))
		return
	}
	if problems != nil {
		s.problems(s.line, problems...)
		return
	}
	s.events++
	s.handle(e)
}

// DefaultLineBytes is the longest line of a stream. The go command writes a line for each line of output, and cuts those beyond a few KiB.
const DefaultLineBytes = 16 << 20

// event is a line of `go test -json`, see `go doc test2json` and `go help buildjson`. Fields that later versions of Go add are ignored.
type event struct {
	Action      string `json:"Action"`
	Package     string `json:"Package"`
	ImportPath  string `json:"ImportPath"`
	Test        string `json:"Test"`
	Output      string `json:"Output"`
	FailedBuild string `json:"FailedBuild"`
}

// parseEvent reads a line that begins with a brace. Invalid UTF-8 becomes U+FFFD.
func parseEvent(line []byte) (event, []abi.Problem) {
	var e event
	err := json.Unmarshal(line, &e, jsontext.AllowInvalidUTF8(true))
	if err == nil {
		return e, nil
	}
	problem := abi.Problem{Code: docket.CodeNotJSON, Detail: "is no event of go test -json"}
	if wrong, ok := errors.AsType[*json.SemanticError](err); ok {
		field := abi.Field(wrong.JSONPointer.LastToken())
		problem = abi.Problem{Path: abi.Path{field}, Code: abi.CodeWrongType, Detail: "is " + stream.KindOf(wrong.JSONKind) + ", expected a string"}
	} else if fault := stream.JSONFault(err, line, 0); fault != nil {
		problem.Code, problem.Detail = fault.Code, fault.Error()
	}
	return event{}, []abi.Problem{problem}
}

// damagedEvent says whether a line with problems is an event, and not something else that begins with a brace.
func damagedEvent(line []byte, problems []abi.Problem) bool {
	return problems != nil && (bytes.Contains(line, []byte(`"Action"`)) || bytes.HasPrefix(line, []byte(`{"Time":`)))
}
