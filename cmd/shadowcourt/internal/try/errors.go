package try

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/cli"
	"github.com/shadowcourt/shadowcourt/host/record"
	"github.com/shadowcourt/shadowcourt/internal/run"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
)

// openError names the flag that a run can't be opened for. Files that can't be used are faults of the command line.
func openError(err error) error {
	_, ofRecord := errors.AsType[*run.RecordError](err)
	_, ofJournal := errors.AsType[*run.JournalError](err)
	if ofRecord || ofJournal {
		return cli.FileError(runError(err))
	}
	return err
}

// runError names the flags that the errors of a run concern.
func runError(err error) error {
	if list, ok := err.(interface{ Unwrap() []error }); ok { // only errors.Join itself, none that is wrapped
		var all []error
		for _, e := range list.Unwrap() {
			all = append(all, runError(e))
		}
		return errors.Join(all...)
	}
	var ofRecord *run.RecordError
	var ofJournal *run.JournalError
	var ofCasebook *run.CasebookError
	var ofResume *run.ResumeError
	switch {
	case errors.As(err, &ofRecord):
		return recordError(ofRecord)
	case errors.As(err, &ofJournal):
		return journalError(ofJournal)
	case errors.As(err, &ofCasebook):
		return fmt.Errorf("--remember: %w", ofCasebook.Err)
	case errors.As(err, &ofResume):
		return cli.InputError(fmt.Errorf("--resume: %w", err))
	}
	return err
}

func recordError(e *run.RecordError) error {
	var fault *record.FaultError
	switch {
	case e.Case != "":
		return fmt.Errorf("--record: the trial of %q: %w; use --record FILE, or --record FILE,digests", e.Case, e.Err)
	case e.File == "":
		return fmt.Errorf("--record: %w", e.Err)
	case errors.Is(e.Err, fs.ErrExist):
		return fmt.Errorf("--record %s is there already, and a record is never written over; --resume continues with it", e.File)
	case errors.As(e.Err, &fault) && fault.Entry > 0 && !errors.Is(e.Err, record.ErrOtherKey):
		return fmt.Errorf("--record %s: %w; to continue after the last valid entry, keep a copy and cut the file: head -c %d", e.File, e.Err, fault.Offset)
	case errors.As(e.Err, &fault):
		return fmt.Errorf("--record %s: %w; the file was left as it is", e.File, e.Err)
	}
	return fmt.Errorf("--record %s: %w", e.File, e.Err)
}

func journalError(e *run.JournalError) error {
	switch {
	case errors.Is(e.Err, run.ErrNotInterrupted):
		return fmt.Errorf("--resume: %s is not of a run that was interrupted: there is no %s", strings.TrimSuffix(e.File, run.JournalSuffix), e.File)
	case e.Resuming:
		return fmt.Errorf("--resume: %s: %w", e.File, e.Err)
	}
	return fmt.Errorf("%s: %w", e.File, e.Err)
}

// kept adds to an error which results are there all the same, and how to continue with them.
func (r *tryRun) kept(err error) error {
	if _, ok := errors.AsType[*cli.ExitError](err); ok || err == nil {
		return err
	}
	file, results := r.run.Kept()
	if results == 0 {
		return err
	}
	return fmt.Errorf("%w\n%s has %s; the same command with --resume continues from there", err, file, cli.Count(results, "result", "results"))
}

// sayKept says that a journal stays although its run is complete.
func (r *tryRun) sayKept(ctx context.Context) {
	name := r.options.journalName()
	if name == "" || !r.options.resume || ctx.Err() != nil || r.sum.Unread > 0 || r.sum.Tried == 0 && r.sum.Faults > 0 {
		return // there is none, or it stays to be resumed
	}
	fmt.Fprintf(r.stderr, "note: %s stays, so that --resume can continue with a longer docket; delete it if there will be none\n", sanitize.Line(name))
}

// interrupted says how far an interrupted run came, and how to resume it.
func (o *tryOptions) interrupted(tried int, resumable bool) error {
	if tried == 0 {
		again := "the same command begins again"
		if o.record.file != "" && resumable { // the record is there, and is never written over
			again = "the same command with --resume begins again"
		}
		return errors.New("interrupted before the first case was tried; nothing was written: " + again)
	}
	text := "interrupted; " + cli.Count(tried, "case was", "cases were") + " tried and written"
	if resumable {
		text += "; the same command with --resume continues from there"
	}
	return errors.New(text)
}
