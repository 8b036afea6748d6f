package record

import (
	"context"
	"errors"
	"io"
)

// Report says what a record is worth.
type Report struct {
	// Entries and Trials that hold, from the beginning, and how many of the trials
	// have an audit.
	Entries, Trials, Audits int
	// Closed: the last entry closes the record, with the right number of trials.
	Closed bool
	// Head is the digest of the last line that holds.
	Head Digest
	// Fault is nil where every entry holds.
	Fault *FaultError
}

// Complete says whether every entry holds and the record is closed.
func (r *Report) Complete() bool { return r.Fault == nil && r.Closed }

// Verify reads a record to its end or to the first entry that does not fit, and
// hands on each entry that holds with the digest of its line, the head of the
// record up to there; each may be nil. The error is one of reading, or why the
// context ended, which is looked at between entries.
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
	if errors.As(err, &report.Fault) || errors.Is(err, io.EOF) {
		return report, nil
	}
	return nil, err
}
