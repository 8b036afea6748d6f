package run

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/record"
)

// Record is the signed record of a run.
type Record struct {
	File string // empty: none
	Key  *record.Key
	// DigestsOnly says that the record has digests in place of texts; such a one can't be resumed.
	DigestsOnly bool
	// SkipEarlier keeps the results of the run that is resumed from the writers: the reader of those may have them already.
	SkipEarlier bool
}

// The most time and trials between two syncs of a record, whose results wait that long: a sync costs about as much as a trial.
const (
	syncInterval = 50 * time.Millisecond
	syncTrials   = 256
)

// recording is the record of a run. The methods of a nil one only hand trials on.
type recording struct {
	writer  *record.Writer
	resumed bool
	before  []recorded // by an earlier run
	passed  int        // of them
	waiting []*host.Tried
	done    int // trials, when the record is closed
	synced  time.Time
	now     func() time.Time
}

// openRecord begins the record, or continues with it; nil where there is none.
func (c *Config) openRecord(ctx context.Context, parts []record.Part) (*recording, error) {
	if c.Record.File == "" {
		return nil, nil //nolint:nilnil // there is none
	}
	header, err := c.Host.RecordHeader(parts)
	if err == nil && c.Auditor != nil {
		header.Audit, err = c.Auditor.RecordHeader()
	}
	if err != nil {
		return nil, err
	}
	r := &recording{resumed: c.Resume, now: c.Now}
	if c.Resume {
		r.writer, err = record.Resume(c.Record.File, c.Record.Key, header, func(t *record.Trial) error {
			r.before = append(r.before, recorded{t.ID, t.Case, slices.Clone(t.Line())})
			return ctx.Err()
		})
	} else {
		r.writer, err = record.Create(c.Record.File, c.Record.Key, header)
	}
	if err != nil {
		return nil, &RecordError{File: c.Record.File, Err: err}
	}
	return r, nil
}

// append records a trial. Its result is given to write when the record is on the disk: what anybody has seen is in the record.
func (r *recording) append(tried *host.Tried, write func(*host.Tried) error) error {
	if r == nil {
		return write(tried)
	}
	if err := r.writer.Append(tried.Record); err != nil {
		// What was recorded before is, whatever comes of this one.
		return errors.Join(appendError(tried.Record.ID, err), r.acknowledge(write))
	}
	r.waiting = append(r.waiting, &host.Tried{Entry: tried.Entry, Trial: tried.Trial}) // the record of it may be large
	if len(r.waiting) < syncTrials && r.now().Sub(r.synced) < syncInterval {
		return nil
	}
	return r.acknowledge(write)
}

// appendError says why a trial is not in the record.
func appendError(id string, err error) error {
	e := &RecordError{Err: err}
	if errors.Is(err, record.ErrTooLong) {
		e.Case = id
	}
	return e
}

// acknowledge makes the record durable, and then gives the results.
func (r *recording) acknowledge(write func(*host.Tried) error) error {
	if r == nil || len(r.waiting) == 0 {
		return nil
	}
	if err := r.writer.Sync(); err != nil {
		return &RecordError{Err: err}
	}
	r.synced = r.now()
	for _, tried := range r.waiting {
		if err := write(tried); err != nil {
			return err
		}
	}
	clear(r.waiting)
	r.waiting = r.waiting[:0]
	return nil
}

// trials counts those in the record.
func (r *recording) trials() int {
	if r.writer == nil {
		return r.done
	}
	return r.writer.Trials()
}

// end closes the record of a run that came to its end; that of another one stays open, to be resumed.
func (r *recording) end(complete bool) error {
	if r == nil {
		return nil
	}
	w := r.writer
	r.done, r.writer = w.Trials(), nil
	finish := w.Close
	if complete {
		finish = w.Finish
	}
	if err := finish(); err != nil {
		return &RecordError{Err: err}
	}
	return nil
}

// leave closes the file, whatever happened, and leaves the record open.
func (r *recording) leave() {
	if r != nil && r.writer != nil {
		_ = r.writer.Close() // an error before it was told
		r.writer = nil
	}
}
