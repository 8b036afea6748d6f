package run

import (
	"errors"
	"time"

	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/record"
)

// Record is the signed record of a run.
type Record struct {
	File string // empty: none
	Key  *record.Key
}

// The most time and trials between two syncs of a record, whose results wait that long: a sync costs about as much as a trial.
const (
	syncInterval = 50 * time.Millisecond
	syncTrials   = 256
)

// recording is the record of a run. A nil one gives trials to show at once.
type recording struct {
	writer  *record.Writer // nil when it is closed
	waiting []recorded
	synced  time.Time
	now     func() time.Time
	show    func([]recorded) error // what anybody sees is in the record
}

// recorded is a trial with the head of the record behind it, which is empty where there is no record.
type recorded struct {
	*host.Tried
	head record.Digest
}

// openRecord begins the record, or continues with it behind the trials of the journal. Without a record it is nil.
func (r *Run) openRecord(parts []record.Part, earlier earlier) (*recording, error) {
	c := &r.config
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
	own := &recording{now: c.Now, show: r.show}
	if c.Resume {
		own.writer, err = record.Resume(c.Record.File, c.Record.Key, header, earlier.trials, earlier.head)
	} else {
		own.writer, err = record.Create(c.Record.File, c.Record.Key, header)
	}
	if err != nil {
		return nil, &RecordError{File: c.Record.File, Err: err}
	}
	return own, nil
}

// append records a trial, which is shown when its record is on the disk.
func (r *recording) append(tried *host.Tried) error {
	if err := r.writer.Append(tried.Record); err != nil {
		e := &RecordError{Err: err}
		if errors.Is(err, record.ErrTooLong) {
			e.Case = tried.Record.ID
		}
		return errors.Join(e, r.acknowledge()) // what was recorded before is, whatever comes of this one
	}
	r.waiting = append(r.waiting, recorded{&host.Tried{Entry: tried.Entry, Trial: tried.Trial}, r.writer.Head()}) // without its record, which may be large
	if len(r.waiting) < syncTrials && r.now().Sub(r.synced) < syncInterval {
		return nil
	}
	return r.acknowledge()
}

// acknowledge makes the record durable, and then shows the trials.
func (r *recording) acknowledge() error {
	if r == nil || len(r.waiting) == 0 {
		return nil
	}
	if err := r.writer.Sync(); err != nil {
		return &RecordError{Err: err}
	}
	r.synced = r.now()
	err := r.show(r.waiting)
	clear(r.waiting)
	r.waiting = r.waiting[:0]
	return err
}

// end closes the record of a run that came to its end; that of another one stays open, to be resumed.
func (r *recording) end(complete bool) error {
	if r == nil {
		return nil
	}
	finish := r.writer.Close
	if complete {
		finish = r.writer.Finish
	}
	r.writer = nil
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
