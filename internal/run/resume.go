package run

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/record"
	"github.com/shadowcourt/shadowcourt/host/trial"
)

// parts are all that the results depend on besides the dockets.
func (c *Config) parts(ctx context.Context) ([]record.Part, error) {
	parts, err := c.Host.Configuration(ctx)
	if err != nil {
		return nil, err
	}
	parts = append(parts, c.Settings...)
	if c.Auditor != nil {
		own, err := c.Auditor.Configuration(ctx)
		if err != nil {
			return nil, err
		}
		parts = append(parts, own...)
	}
	if c.Swaps { // each result names the modules that it was made with
		parts = slices.DeleteFunc(parts, isModule)
	}
	return parts, nil
}

func isModule(p record.Part) bool {
	return strings.HasPrefix(p.Name, "module ") || strings.HasPrefix(p.Name, "audit module ")
}

// openJournal opens the journal of the run, or that of an earlier run; nil where there is none. It replaces the trials of an earlier run
// that is not resumed.
func (c *Config) openJournal(parts []record.Part) (_ *journal, before earlier, replaces bool, err error) {
	name := c.Journal.Name()
	if name == "" {
		return nil, before, false, nil
	}
	parts = append(slices.Clip(parts), record.Part{Name: c.Journal.Outputs, Digest: record.Digest(c.Journal.keeps())})
	if c.Resume {
		j, before, err := resumeJournal(c.Journal, parts, c.Now)
		if !errors.Is(err, fs.ErrNotExist) {
			return j, before, false, journalError(name, true, err)
		}
		for _, file := range []string{c.Journal.Output, c.Record.File} {
			if _, err := os.Stat(file); err == nil {
				return nil, before, false, &JournalError{name, true, ErrNotInterrupted}
			}
		}
	}
	j, left, err := createJournal(c.Journal, parts, c.Now)
	return j, before, left, journalError(name, false, err)
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

// Replaces says that the journal has trials of an earlier run, and that this run tries them again.
func (r *Run) Replaces() bool { return r.replaces }

// Kept gives the file with which the run can be resumed, and how many results it has; no name where there is none.
func (r *Run) Kept() (file string, results int) {
	if r.journal == nil {
		return "", 0
	}
	return r.journal.name, r.journal.trials
}

// nextEntry is what iter.Pull2 gives.
type nextEntry = func() (docket.Entry, error, bool)

// passEarlier hands on what came of the cases that were tried before, which the docket has to begin with.
func (r *Run) passEarlier(ctx context.Context, next nextEntry) error {
	cases := 0
	for r.journal.left() {
		entry, err, more := next()
		switch {
		case ctx.Err() != nil:
			return nil //nolint:nilerr // an interrupted run says so
		case !more:
			return &ResumeError{r.journal.name, &DocketError{Case: cases, Ends: true}}
		case err != nil:
			r.fault(&host.Tried{Entry: entry, Err: err})
			continue
		}
		earlier, failed, err := r.journal.passed(&entry)
		if err != nil {
			if other, ok := errors.AsType[*DocketError](err); ok {
				other.ID = r.config.Redactor.Text(other.ID)
			}
			return &ResumeError{r.journal.name, err}
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
			return &ResumeError{r.journal.name, fmt.Errorf("the run ended and its verdicts are in the casebook, so case %q can't continue with it: try the new cases in a run without --resume",
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
	return r.out.Write(t)
}
