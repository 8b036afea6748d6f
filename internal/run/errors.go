package run

import (
	"errors"
	"fmt"

	"github.com/shadowcourt/shadowcourt/internal/run/journal"
)

// ErrNotInterrupted is the cause of a *JournalError: there is an output, and no journal of a run that was interrupted.
var ErrNotInterrupted = errors.New("there is no journal of a run that was interrupted")

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
	var fault *journal.FaultError
	var other *journal.DocketError
	switch {
	case errors.As(e.Err, &fault):
		return fmt.Sprintf("%s: %v; nothing was changed: to continue with what is before it, keep a copy and cut the file: head -n %d", e.File, e.Err, fault.Line-1)
	case errors.As(e.Err, &other):
		return fmt.Sprintf("the docket does not begin with the cases of %s: %v", e.File, e.Err)
	}
	return e.File + ": " + e.Err.Error()
}

func (e *ResumeError) Unwrap() error { return e.Err }
