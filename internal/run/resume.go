package run

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/record"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/run/journal"
)

// JournalSuffix names the journal of a run, beside one of its outputs.
const JournalSuffix = ".resume"

// Journal keeps the trials of a run until it ends.
type Journal struct {
	// Output is the file beside which the journal is; empty for a run that keeps none.
	Output string
	// Whole keeps of each trial all that a report shows, but for Documents; else only its result and whether that is right.
	Whole bool
	// Documents keeps those of the cases, too.
	Documents bool
	// Outputs names the outputs for the message that those of this run need more than an earlier journal has.
	Outputs string
}

// Name is the file of the journal, or empty.
func (j *Journal) Name() string {
	if j.Output == "" {
		return ""
	}
	return j.Output + JournalSuffix
}

// openJournal opens the journal of the run, or that of an earlier run; nil where there is none. It replaces the trials of an
// earlier run that is not resumed.
func (c *Config) openJournal(parts []record.Part) (_ *journal.Journal, replaces bool, err error) {
	name := c.Journal.Name()
	if name == "" {
		return nil, false, nil
	}
	config := journal.Config{Whole: c.Journal.Whole, Documents: c.Journal.Documents, Now: c.Now}
	for _, p := range parts {
		config.Parts = append(config.Parts, journal.Part{Name: p.Name, Digest: string(p.Digest)})
	}
	config.Parts = append(config.Parts, journal.Part{Name: c.Journal.Outputs, Digest: keeps(&config)})
	if c.Resume {
		j, err := journal.Resume(name, config)
		if !errors.Is(err, fs.ErrNotExist) {
			return j, false, journalError(name, true, err)
		}
		if _, err := os.Stat(c.Journal.Output); err == nil {
			return nil, false, &JournalError{name, true, ErrNotInterrupted}
		}
	}
	j, left, err := journal.Create(name, config)
	return j, left, journalError(name, false, err)
}

// keeps says what a journal has of each trial. A run whose outputs need more than that can't continue with it.
func keeps(config *journal.Config) string {
	switch {
	case config.Documents:
		return "trials and documents"
	case config.Whole:
		return "trials"
	}
	return "results"
}

func journalError(name string, resuming bool, err error) error {
	if err == nil {
		return nil
	}
	if pathErr, ok := errors.AsType[*fs.PathError](err); ok {
		err = pathErr.Err
	}
	return &JournalError{name, resuming, err}
}

func (r *Run) journaled(err error) error {
	if err == nil {
		return nil
	}
	return journalError(r.journal.Name(), false, err)
}

// Replaces says that the journal has trials of an earlier run, and that this run tries them again.
func (r *Run) Replaces() bool { return r.replaces }

// Recorded counts the results of an earlier run that are in the record which this run resumes.
func (r *Run) Recorded() int {
	if !r.record.resumes() {
		return 0
	}
	return len(r.record.before)
}

// Kept gives the file with which the run can be resumed, and how many results it has; no name where there is none.
func (r *Run) Kept() (file string, results int) {
	switch {
	case r.journal != nil:
		return r.journal.Name(), r.journal.Trials()
	case r.record != nil && !r.config.Record.DigestsOnly && !r.failedCase:
		return r.config.Record.File, r.record.trials()
	}
	return "", 0
}

// earlierRun is what an earlier run left, see [journal.Journal].
type earlierRun interface {
	Left() bool
	Passed(entry *docket.Entry) (t *trial.Trial, failed string, err error)
}

// earlier gives what this run continues with, and the file that has it.
func (r *Run) earlier() (earlierRun, string) {
	if r.record.resumes() {
		return r.record, r.config.Record.File
	}
	if r.journal != nil {
		return r.journal, r.journal.Name()
	}
	return nil, ""
}

// nextEntry is what iter.Pull2 gives.
type nextEntry = func() (docket.Entry, error, bool)

// passEarlier hands on what came of the cases that were tried before, which the docket has to begin with.
func (r *Run) passEarlier(ctx context.Context, next nextEntry) error {
	before, from := r.earlier()
	if before == nil {
		return nil
	}
	cases := 0
	for before.Left() {
		entry, err, more := next()
		switch {
		case ctx.Err() != nil:
			return nil //nolint:nilerr // an interrupted run says so
		case !more:
			return &ResumeError{from, &journal.DocketError{Case: cases, Ends: true}}
		case err != nil:
			r.fault(&host.Tried{Entry: entry, Err: err})
			continue
		}
		earlier, failed, err := before.Passed(&entry)
		if err != nil {
			if other, ok := errors.AsType[*journal.DocketError](err); ok {
				other.ID = r.config.Redactor.Text(other.ID)
			}
			return &ResumeError{from, err}
		}
		cases++
		if err := r.pass(&entry, earlier, failed); err != nil {
			return err
		}
	}
	return nil
}

// onlyRemembered sees to it that there is no further case: those of the earlier run are in the casebook, which later cases would
// be tried with.
func (r *Run) onlyRemembered(ctx context.Context, next nextEntry) error {
	for {
		entry, err, more := next()
		switch {
		case ctx.Err() != nil || !more:
			return nil //nolint:nilerr // an interrupted run says so
		case err == nil:
			return &ResumeError{r.journal.Name(), fmt.Errorf("the run ended and its verdicts are in the casebook, so case %q can't continue with it: try the new cases in a run without --resume",
				r.config.Redactor.Text(entry.Case.ID))}
		}
		r.fault(&host.Tried{Entry: entry, Err: err})
	}
}

// pass takes note of a case that was tried before, and writes its result.
func (r *Run) pass(entry *docket.Entry, t *trial.Trial, failed string) error {
	tried := &host.Tried{Entry: *entry, Trial: t}
	if t == nil {
		tried.Err = errors.New(failed)
		r.fault(tried)
		r.remember(tried)
		return nil
	}
	r.note(t)
	r.remember(tried)
	if r.record != nil && r.config.Record.SkipEarlier {
		return nil
	}
	return r.out.Write(t)
}
