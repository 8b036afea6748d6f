package tap

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"iter"
	"strconv"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/docket/internal/stream"
	"github.com/shadowcourt/shadowcourt/host/docket/internal/testlog"
)

// CodeNotTAP: the text has no test point, no plan and no version of TAP.
const CodeNotTAP abi.Code = "not_tap"

// The bounds of a stream.
const (
	// DefaultLineBytes is the longest line.
	DefaultLineBytes = 1 << 20
	// MaxNesting is how deep subtests may nest.
	MaxNesting = 64
	// maxYAMLBytes is the most of the YAML of a point that is looked at.
	maxYAMLBytes = 64 << 10
)

// Reader reads streams. The zero value is ready. One Reader for several files gives every case an id of its own. Not safe for concurrent
// use.
type Reader struct {
	// MaxLineBytes is the longest line. Default: DefaultLineBytes. A longer one is an error, and is not held in memory.
	MaxLineBytes int
	// HeadBytes and TailBytes are how much of an output is kept. Defaults: 256 KiB each.
	HeadBytes, TailBytes int
	// Tests is how many test points were read, those that passed included.
	Tests int

	ids testlog.IDs
}

// Read gives the failing points of a stream as cases, in their order and with the number of their line. A stream in which all pass has no
// case, and no error.
//
// An error is the last, after the cases that stand before it. It is a *docket.LineError with the line when something is wrong with the
// stream (Line 0: with the file as a whole); any other error comes from in.
//
// Memory is bounded by one line, and by the texts of one point for each level of subtests.
func (r *Reader) Read(name string, in io.Reader) iter.Seq2[docket.Entry, error] {
	return func(yield func(docket.Entry, error) bool) {
		limit := cmp.Or(max(0, r.MaxLineBytes), DefaultLineBytes)
		lines := stream.NewLines(in, limit)
		p := newParser(r, name, yield)
		for {
			line, length, err := lines.Next()
			p.line++
			if errors.Is(err, io.EOF) {
				if p.end(); !p.found && !p.stopped {
					yield(docket.Entry{}, docket.NewLineError(name, 0, CodeNotTAP, "is no TAP: it has no version, no plan and no test point"))
				}
				return
			}
			var fault error
			switch {
			case err != nil:
				fault = fmt.Errorf("reading %s, line %d: %w", name, p.line, err)
			case line == nil:
				fault = docket.NewLineError(name, p.line, abi.CodeTooLarge, "has "+strconv.Itoa(length)+" bytes, the limit is "+strconv.Itoa(limit))
			case p.line == 1 && stream.Kind(line) != "":
				fault = docket.NewLineError(name, 0, docket.CodeNotText, "is "+stream.Kind(line)+", TAP is UTF-8 text")
			default:
				text := strings.ToValidUTF8(string(line), "\uFFFD")
				if p.line == 1 {
					text = strings.TrimPrefix(text, stream.MarkUTF8)
				}
				fault = p.take(text)
			}
			if fault != nil {
				p.end()
			}
			switch {
			case p.stopped:
				return
			case fault != nil:
				yield(docket.Entry{}, fault)
				return
			}
		}
	}
}
