// Package run tries the cases of dockets as one run: a trial is recorded before anybody sees its result, a journal keeps the
// trials so that an interrupted run can be resumed, and a casebook remembers the verdicts of a run that is complete.
//
// It has no flags and no terminal. What a run writes are its outputs, its record and its journal; everything else it tells by
// the callbacks of [Config] and by its [Summary].
package run

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/casebook"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/record"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/disk"
	"github.com/shadowcourt/shadowcourt/internal/render"
)

// Config is what a run tries cases with, and where their trials go. Only Host, Files and Now must be set.
type Config struct {
	Host    *host.Host
	Auditor *host.Auditor // audits the opinion of every verdict; nil: no audits
	Workers int           // trials at once; 0: one for each processor

	Writers  []render.Writer  // get every trial, redacted
	Files    *disk.Set        // of the writers: put in place when the run is complete
	Redactor *render.Redactor // nil changes nothing
	Timings  bool             // keep times in the results, which then differ from run to run
	// OneCase says that the entries are one case that was looked for: without it the files stay as they were.
	OneCase bool

	// Settings are what the results depend on besides the host, the auditor and the cases.
	Settings []record.Part
	// Swaps says that modules may be swapped while the run goes on, so that it does not depend on those at its beginning.
	Swaps bool
	// Resume continues with the record or the journal of an earlier run.
	Resume  bool
	Record  Record
	Journal Journal

	// Casebook remembers the verdicts when all cases are tried; nil remembers none.
	Casebook *casebook.Book
	// Passed gives the suites in which nothing failed; it is asked when all cases are tried.
	Passed func() []string

	Now func() time.Time
	// Stop ends a read of the entries that waits. It is called when the run fails.
	Stop func()

	// These are called one at a time.
	OnTrial    func(*trial.Trial)         // for each trial, before anybody sees it
	OnFault    func(*host.Tried, Summary) // for each entry that could not be tried
	OnProgress func(Summary)              // after each trial, and when there are no more
}

// Summary counts what came of the entries of a run, with those of the earlier run that it resumed.
type Summary struct {
	Tried      int
	Faults     int // entries that could not be tried
	Unread     int // dockets of which reading failed
	Unanswered int // cases to which Light had no answer
	// Ended says that no more cases are tried; the outputs are being completed.
	Ended bool
}

// Run is one run over dockets. Not safe for concurrent use.
type Run struct {
	config     Config
	out        *render.Output
	journal    *journal // nil where the run keeps none
	replaces   bool
	record     *recording // nil where the run keeps none
	remembered []casebook.Entry
	sum        Summary
}

// Open begins a run, or continues with an earlier one: it opens the record and the journal. The caller calls [Run.All], and
// [Run.Close] in any case. Errors are a *RecordError or a *JournalError, or say why the configuration is not known.
func Open(ctx context.Context, config Config) (*Run, error) {
	r := &Run{config: config, out: render.NewOutput(nil, config.Writers...)}
	parts, err := config.parts(ctx)
	if err != nil {
		return nil, err
	}
	var before earlier
	if r.journal, before, r.replaces, err = config.openJournal(parts); err != nil {
		return nil, err
	}
	if r.record, err = r.openRecord(parts, before); err == nil && r.record != nil && r.journal != nil && !r.journal.begun {
		err = journalError(r.journal.name, false, r.journal.begin()) // so that a record without a trial can be resumed, too
	}
	if err != nil {
		r.Close()
		return nil, err
	}
	return r, nil
}

// Close closes the record and the journal. Those of a run that did not come to its end stay, to be resumed.
func (r *Run) Close() {
	r.record.leave()
	_ = r.journal.keep()
}

// All tries every entry and completes the outputs. When the context ends it completes them with the trials so far. With an
// error the files are left as they were: a *ResumeError, *RecordError, *JournalError or *CasebookError, or one of a writer.
func (r *Run) All(ctx context.Context, entries iter.Seq2[docket.Entry, error]) (Summary, error) {
	err := r.try(ctx, entries)
	r.sum.Ended = true
	if r.config.OnProgress != nil {
		r.config.OnProgress(r.sum)
	}
	if err != nil {
		r.config.Files.Discard()
		return r.sum, err
	}
	return r.sum, r.end(ctx)
}

// try tries every case and hands the trials out.
func (r *Run) try(ctx context.Context, entries iter.Seq2[docket.Entry, error]) error {
	next, stop := iter.Pull2(entries)
	defer stop()
	if err := r.passEarlier(ctx, next); err != nil {
		return err
	}
	if r.journal != nil && r.journal.remembered {
		return r.onlyRemembered(ctx, next)
	}
	h := r.config.Host
	trials := h.TryAll(ctx, pulled(next), r.config.Workers)
	if r.config.Auditor != nil {
		trials = r.config.Auditor.AuditTrials(ctx, trials, h.Pipeline().Pipeline, r.config.Workers)
	}
	for tried := range trials {
		if tried.Trial == nil && ctx.Err() != nil {
			break // what is written has no gaps, so that a later run can resume it
		}
		if err := r.one(ctx, &tried); err != nil {
			if r.config.Stop != nil {
				r.config.Stop()
			}
			return err
		}
	}
	return r.record.acknowledge()
}

// pulled gives what is left behind next.
func pulled(next func() (docket.Entry, error, bool)) iter.Seq2[docket.Entry, error] {
	return func(yield func(docket.Entry, error) bool) {
		entry, err, more := next()
		for more && yield(entry, err) {
			entry, err, more = next()
		}
	}
}

// one hands a trial out, or says why there is none.
func (r *Run) one(ctx context.Context, tried *host.Tried) error {
	if tried.Err != nil {
		r.fault(tried)
		r.remember(tried)
		if r.journal == nil || tried.Entry.Case.ID == "" || ctx.Err() != nil {
			return nil //nolint:nilerr // an interrupted run says so
		}
		if err := r.record.acknowledge(); err != nil {
			return err
		}
		return r.journal.append(&tried.Entry, nil, errors.New(r.config.Redactor.Text(tried.Err.Error())), "")
	}
	r.note(tried.Trial)
	show := func() error { return r.show([]recorded{{tried, ""}}) }
	if r.record != nil {
		show = func() error { return r.record.append(tried) }
	}
	if err := show(); err != nil {
		return err
	}
	r.remember(tried)
	if r.config.OnProgress != nil {
		r.config.OnProgress(r.sum)
	}
	return nil
}

// note counts a trial.
func (r *Run) note(t *trial.Trial) {
	r.sum.Tried++
	if t.Result.Final.Cause == trial.CauseLight {
		r.sum.Unanswered++
	}
	if r.config.OnTrial != nil {
		r.config.OnTrial(t)
	}
}

// show gives trials to the outputs, once they are in the journal, and with a record on the disk.
func (r *Run) show(list []recorded) error {
	shown := make([]*trial.Trial, len(list))
	for i, tried := range list {
		t := tried.Trial
		if !r.config.Timings {
			t.Result.Timings = nil
		}
		shown[i] = r.config.Redactor.Trial(t)
		if err := r.journal.append(&tried.Entry, shown[i], nil, tried.head); err != nil {
			return err
		}
	}
	if r.record != nil {
		if err := r.journal.sync(); err != nil {
			return err
		}
	}
	for _, t := range shown {
		if err := r.out.Write(t); err != nil {
			return err
		}
	}
	return nil
}

// fault counts an entry that could not be tried.
func (r *Run) fault(tried *host.Tried) {
	if NamesItsPlace(tried.Err) || tried.Entry.Source != "" {
		r.sum.Faults++
	} else {
		r.sum.Unread++
	}
	if r.config.OnFault != nil {
		r.config.OnFault(tried, r.sum)
	}
}

// NamesItsPlace says whether the error of an entry names the file and the line of the entry, or the file that is no docket.
func NamesItsPlace(err error) bool {
	_, line := errors.AsType[*docket.LineError](err)
	_, foreign := errors.AsType[*ForeignError](err)
	return line || foreign
}

// Follow has a host or an auditor follow a folder of modules, which it looks at after each interval. The stop function waits for
// the end of a swap that goes on. A change is taken when two looks saw the same, so that it takes one to two intervals.
func Follow(ctx context.Context, interval time.Duration, follow func(context.Context, host.Watch), w host.Watch) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	ticker := time.NewTicker(interval)
	w.Ticks = ticker.C
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		follow(ctx, w)
	}()
	return func() {
		ticker.Stop()
		cancel()
		<-ended
	}
}

// end completes the record and the outputs, remembers the verdicts and ends the journal, in this order.
func (r *Run) end(ctx context.Context) error {
	complete := ctx.Err() == nil && r.sum.Unread == 0
	nothing := r.sum.Tried == 0 && (ctx.Err() != nil || r.sum.Unread+r.sum.Faults > 0 || r.config.OneCase)
	if err := errors.Join(r.record.end(complete), r.out.Close(), r.place(nothing)); err != nil {
		return err
	}
	if ctx.Err() == nil {
		if err := r.keepVerdicts(ctx); err != nil {
			return err
		}
	}
	if nothing || !complete || r.config.Resume { // a resumed run may continue with a longer docket
		return r.journal.keep()
	}
	return r.journal.remove()
}

// place puts the files in their places, or leaves those as they were.
func (r *Run) place(nothing bool) error {
	if nothing {
		r.config.Files.Discard()
		return nil
	}
	return r.config.Files.Commit()
}

// remember takes note of what came of an entry, to be kept when the docket is done: of one that could not be tried, that it failed.
func (r *Run) remember(tried *host.Tried) {
	if r.config.Casebook == nil || tried.Entry.Case.ID == "" {
		return
	}
	final := trial.Final{Status: trial.Mistrial}
	if tried.Err == nil {
		final = tried.Trial.Result.Final
	}
	r.remembered = append(r.remembered, Entry(&tried.Entry.Case, tried.Entry.Truth, &final))
	for i := range tried.Entry.Members {
		r.remembered = append(r.remembered, Entry(&tried.Entry.Members[i], tried.Entry.Truth, &final))
	}
}

// keepVerdicts adds the run to the casebook, all of it or nothing. One that was interrupted is added when it is resumed and done.
func (r *Run) keepVerdicts(ctx context.Context) error {
	if r.config.Casebook == nil || r.journal != nil && r.journal.remembered {
		return nil
	}
	// A process that is killed behind Remember leaves a journal, and a casebook that is not the one of its header any more.
	if err := r.journal.end(); err != nil {
		return err
	}
	done := casebook.Run{Entries: r.remembered}
	if r.config.Passed != nil {
		done.Suites = r.config.Passed()
	}
	if _, err := r.config.Casebook.Remember(ctx, done); err != nil {
		return &CasebookError{err}
	}
	return nil
}

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

// ErrNotInterrupted is the cause of a *JournalError: there is an output, and no journal of a run that was interrupted.
var ErrNotInterrupted = errors.New("there is no journal of a run that was interrupted")

var (
	// errInUse: another process writes the journal.
	errInUse = errors.New("another run writes it")
	// errNotRegular: a pipe, a device or a folder has the name of the journal.
	errNotRegular = errors.New("not a regular file")
)

// RecordError says why a record could not be opened or written.
type RecordError struct {
	File string // empty unless it could not be opened
	Case string // empty unless it is the trial of this case that could not be written
	Err  error
}

func (e *RecordError) Error() string {
	switch {
	case e.File != "":
		return "record " + e.File + ": " + e.Err.Error()
	case e.Case != "":
		return fmt.Sprintf("record: the trial of %q: %v", e.Case, e.Err)
	}
	return "record: " + e.Err.Error()
}

func (e *RecordError) Unwrap() error { return e.Err }

// JournalError says why a journal could not be opened or written.
type JournalError struct {
	File     string
	Resuming bool // it could not be opened to be resumed
	Err      error
}

func (e *JournalError) Error() string { return e.File + ": " + e.Err.Error() }

func (e *JournalError) Unwrap() error { return e.Err }

// CasebookError says why the verdicts could not be remembered.
type CasebookError struct{ Err error }

func (e *CasebookError) Error() string { return "casebook: " + e.Err.Error() }

func (e *CasebookError) Unwrap() error { return e.Err }

// ResumeError says why the run can't continue with the earlier one.
type ResumeError struct {
	File string // the record or the journal of the earlier run
	Err  error
}

func (e *ResumeError) Error() string {
	if _, other := errors.AsType[*DocketError](e.Err); other {
		return fmt.Sprintf("the docket does not begin with the cases of %s: %v", e.File, e.Err)
	}
	return e.File + ": " + e.Err.Error()
}

func (e *ResumeError) Unwrap() error { return e.Err }

// ConfigurationError: the journal is of a run of another configuration.
type ConfigurationError struct {
	Other []string // the names of the parts that differ
}

func (e *ConfigurationError) Error() string {
	return "it is of another configuration: another " + strings.Join(e.Other, ", another ")
}

// faultOf is the error of a line of the file, from 1, that can't be read.
func faultOf(line int, err error) error {
	if line == 1 {
		return fmt.Errorf("it is no journal of a run: %w", err)
	}
	return fmt.Errorf("line %d: %w; nothing was changed: to continue with what is before it, keep a copy and cut the file: head -n %d", line, err, line-1)
}

// DocketError: the docket does not begin with the cases of the earlier run.
type DocketError struct {
	Case    int    // from 1
	ID, Was string // of the case now, and of the one before as the results show it; Was is empty where it had no result
	Ends    bool   // the docket has no more cases than Case
}

func (e *DocketError) Error() string {
	switch {
	case e.Ends && e.Case == 1:
		return "it ends after 1 case"
	case e.Ends:
		return fmt.Sprintf("it ends after %d cases", e.Case)
	}
	if e.Was == "" || e.Was == e.ID {
		return fmt.Sprintf("case %d, %q, was changed since", e.Case, e.ID)
	}
	return fmt.Sprintf("case %d is %q, and was %q", e.Case, e.ID, e.Was)
}
