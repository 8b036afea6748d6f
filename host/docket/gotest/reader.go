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
