package record

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
)

// MaxEntryBytes is the longest line that is written or read, its line feed included: 128 MiB. All but ContentsBytes stays far below it.
const MaxEntryBytes = 128 << 20

// FaultError names the first entry of a record that does not fit, and why. All entries before it hold.
type FaultError struct {
	// Entry counts from 0, Line from 1. Offset is where the line begins in the file.
	Entry, Line int
	Offset      int64
	// Torn: the file ends in the middle of this entry, as it does after a crash.
	Torn bool
	Err  error
}

// Error names the entry.
func (e *FaultError) Error() string {
	return fmt.Sprintf("entry %d (line %d, at byte %d): %s", e.Entry, e.Line, e.Offset, e.Err)
}

// Unwrap gives the reason.
func (e *FaultError) Unwrap() error { return e.Err }

// ErrTorn: the file ends in the middle of an entry, with what an entry of this key may begin with.
var ErrTorn = errors.New("the file ends in the middle of it")

// ErrOtherKey: the entry was signed by another key than the one given.
var ErrOtherKey = errKey

// Reader reads the entries of a record, each verified with key and chain before it is given. It is not safe for concurrent use.
type Reader struct {
	in     *bufio.Reader
	opener opener
	buffer []byte // of the line
	chain  chain
	offset int64
	err    error
}

// NewReader reads a record and verifies it with a key.
func NewReader(in io.Reader, key *Key) (*Reader, error) {
	if key == nil {
		return nil, errors.New("there is no key to verify the record with")
	}
	return &Reader{in: bufio.NewReaderSize(in, 64<<10), opener: opener{key: key}}, nil
}

// Next gives the next entry; io.EOF behind the last. What does not fit is a *FaultError, and the end: nothing behind it can be trusted.
func (r *Reader) Next() (*Entry, error) {
	if r.err != nil {
		return nil, r.err
	}
	var e *Entry
	e, r.err = r.next()
	return e, r.err
}

func (r *Reader) next() (*Entry, error) {
	line, form, err := r.line()
	if err != nil {
		return nil, err
	}
	e, err := form.of()
	if err != nil {
		return nil, r.fault(err)
	}
	entry, err := r.opener.open(e)
	if err == nil {
		err = r.chain.add(entry, line)
	}
	if err != nil {
		return nil, r.fault(err)
	}
	r.offset += int64(len(line)) + 1
	return entry, nil
}

func (r *Reader) fault(err error) error {
	return &FaultError{Entry: r.chain.next, Line: r.chain.next + 1, Offset: r.offset, Torn: errors.Is(err, ErrTorn), Err: err}
}

// line reads up to a line feed, and gives what is before it. At the end of the
// file it gives io.EOF or a fault. The line is valid until the next one.
func (r *Reader) line() ([]byte, shape, error) {
	line, form := r.buffer[:0], shape{}
	for {
		piece, err := r.in.ReadSlice('\n')
		whole := err == nil
		if whole {
			piece = piece[:len(piece)-1]
		}
		if len(line)+len(piece) >= MaxEntryBytes {
			return nil, form, r.fault(fmt.Errorf("it is longer than %d bytes", MaxEntryBytes))
		}
		line = append(line, piece...)
		r.buffer = line
		if err := form.follow(line); err != nil {
			return nil, form, r.fault(err)
		}
		switch {
		case whole && len(line) == 0:
			return nil, form, r.fault(errors.New("the line is empty"))
		case errors.Is(err, io.EOF) && len(line) > 0:
			return nil, form, r.fault(cmp.Or(form.cut(r.opener.key), ErrTorn))
		case whole, err != nil && !errors.Is(err, bufio.ErrBufferFull):
			return line, form, err
		}
	}
}

// Offset is where the next line begins.
func (r *Reader) Offset() int64 { return r.offset }

// Header is that of the record, nil before the first entry.
func (r *Reader) Header() *Header { return r.chain.header }

// Entries and Trials count what was read.
func (r *Reader) Entries() int { return r.chain.next }

// Trials counts the trials that were read.
func (r *Reader) Trials() int { return r.chain.trials }

// Statements counts the statements of other types that were read.
func (r *Reader) Statements() int { return r.chain.statements }

// Audits counts those of the trials that were read.
func (r *Reader) Audits() int { return r.chain.audits }

// Closed says whether the last entry that was read closes the record, and nothing that does not fit was found behind it.
func (r *Reader) Closed() bool { return r.chain.closed && (r.err == nil || errors.Is(r.err, io.EOF)) }

// Head is the digest of the last line that was read: who keeps it elsewhere can tell later that nothing was taken from the end.
func (r *Reader) Head() Digest { return r.chain.previous }

// Report says what a record is worth.
type Report struct {
	// Entries and Trials that hold, from the beginning, and how many of the trials have an audit.
	Entries, Trials, Audits int
	// Statements among the entries are of other types than those of entries.
	Statements int
	// Closed: the last entry closes the record, with the right number of trials.
	Closed bool
	// Head is the digest of the last line that holds.
	Head Digest
	// Fault is nil where every entry holds.
	Fault *FaultError
}

// Complete says whether every entry holds and the record is closed.
func (r *Report) Complete() bool { return r.Fault == nil && r.Closed }

// Verify reads a record to its end or to the first entry that does not fit, and hands on each entry that holds with the digest of its line,
// the head of the record up to there; each may be nil. The error is one of reading, or why the context ended, which is looked at between
// entries.
func Verify(ctx context.Context, in io.Reader, key *Key, each func(e *Entry, head Digest)) (*Report, error) {
	r, err := NewReader(in, key)
	if err != nil {
		return nil, err
	}
	report := &Report{}
	for err == nil {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		var e *Entry
		if e, err = r.Next(); err == nil && each != nil {
			each(e, r.Head())
		}
	}
	report.Entries, report.Trials, report.Audits, report.Closed, report.Head = r.Entries(), r.Trials(), r.Audits(), r.Closed(), r.Head()
	report.Statements = r.Statements()
	if errors.As(err, &report.Fault) || errors.Is(err, io.EOF) {
		return report, nil
	}
	return nil, err
}
