package reportportal

import (
	"errors"
	"io"
	"iter"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/docket/internal/stream"
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
// An item, a log or a defect type that is wrong is a *docket.LineError with the line and the path, and the others are
// read; these errors stand before the cases. Where the text is no JSON, or ends early, a *docket.LineError with the line
// (0: the file as a whole), and the column in its text, is the last, after the items that were complete, with the logs
// that were read. Any other error is the last, too, and comes from in.
//
// Cases are given when the stream has ended. Memory is bounded by the logs of the items that failed, and of those that
// stand before their items, HeadBytes + 2 TailBytes each at most.
func (r *Reader) Read(name string, in io.Reader) iter.Seq2[docket.Entry, error] {
	return func(yield func(docket.Entry, error) bool) {
		p := newParser(r, name, in, func(err error) bool { return yield(docket.Entry{}, err) })
		err := p.json.Roots("an export", "has no test item of ReportPortal", func() (bool, error) {
			err := p.value(nil)
			return p.found > 0, err
		})
		if errors.Is(err, stream.ErrStopped) {
			return
		}
		p.settle()
		for _, i := range p.items {
			if i.isCase() && !yield(p.entry(i), nil) {
				return
			}
		}
		if err != nil {
			yield(docket.Entry{}, p.json.Fault(name, err))
		}
	}
}

// fieldError says what is wrong with a field, by the path in its object.
type fieldError struct {
	line   int
	path   abi.Path
	code   abi.Code
	detail string
}
