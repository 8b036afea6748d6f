package reportportal

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/docket/internal/jsonstream"
	"github.com/shadowcourt/shadowcourt/host/docket/internal/magic"
	"github.com/shadowcourt/shadowcourt/host/docket/internal/testlog"
)

// The most of the log of one item that is kept, by default. All items that failed are held until the stream ends, since
// their logs may follow.
const (
	DefaultHeadBytes = 64 << 10
	DefaultTailBytes = 64 << 10
)

// Reader reads exports. The zero value is ready. One Reader for several files gives every case an id of its own. Not safe
// for concurrent use.
type Reader struct {
	// HeadBytes and TailBytes are how much of the log of one item is kept. Defaults: DefaultHeadBytes, DefaultTailBytes.
	HeadBytes, TailBytes int
	// Truth takes the defect type that a person gave an item for the truth. Default: there is none.
	Truth bool

	ids testlog.IDs
}

// Read gives the items of a stream that failed as cases, in the order in which they stand there, with the number of the
// line on which an item begins. An export in which all items passed has no case, and no error.
//
// An error is the last, after the items before it, with the logs that were read. It is a *docket.LineError with the line,
// and the column in its text, when something is wrong with the export (Line 0: with the file as a whole); any other error
// comes from in.
//
// Cases are given when the stream has ended. Memory is bounded by the logs of the items that failed, and of those that
// stand before their items, HeadBytes + 2 TailBytes each at most.
func (r *Reader) Read(name string, in io.Reader) iter.Seq2[docket.Entry, error] {
	return func(yield func(docket.Entry, error) bool) {
		p := newParser(r, name, in)
		err := p.texts()
		p.settle()
		for _, i := range p.items {
			if i.isCase() && !yield(p.entry(i), nil) {
				return
			}
		}
		if err != nil {
			yield(docket.Entry{}, p.placed(err))
		}
	}
}

// fieldError says that a field is not of the type that it has in the API.
type fieldError struct {
	line   int
	path   abi.Path
	detail string
}

func (e *fieldError) Error() string { return e.path.String() + ": " + e.detail }

// errEmpty and errNotText concern the file as a whole.
var (
	errEmpty   = errors.New("has no test item of ReportPortal")
	errNotText = errors.New("an export is UTF-8 text")
)

func (p *parser) placed(err error) error {
	lineError := func(line int, problem abi.Problem) error {
		return &docket.LineError{File: p.name, Line: line, Problems: []abi.Problem{problem}}
	}
	var field *fieldError
	switch {
	case errors.As(err, &field):
		return lineError(field.line, abi.Problem{Path: field.path, Code: abi.CodeWrongType, Detail: field.detail})
	case errors.Is(err, errEmpty):
		return lineError(0, abi.Problem{Code: docket.CodeEmptyDocket, Detail: err.Error()})
	case errors.Is(err, errNotText):
		return lineError(0, abi.Problem{Code: docket.CodeNotText, Detail: err.Error()})
	}
	if line, problem, ok := jsonstream.Problem(err, docket.CodeNotJSON); ok {
		return lineError(line, problem)
	}
	return fmt.Errorf("reading %s, line %d: %w", p.name, p.json.Line(), err)
}

// texts reads the stream to its end.
func (p *parser) texts() error {
	head := p.json.Head(4)
	if kind := magic.Kind(head); kind != "" {
		return fmt.Errorf("is %s, %w", kind, errNotText)
	}
	if strings.HasPrefix(string(head), magic.MarkUTF8) {
		p.json.Drop(len(magic.MarkUTF8))
	}
	for {
		more, err := p.json.More()
		if err != nil {
			return err
		}
		if !more {
			break
		}
		if err := p.value(nil); err != nil {
			return err
		}
	}
	if p.found == 0 {
		return errEmpty
	}
	return nil
}
