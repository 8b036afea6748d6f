package run

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

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

// FaultError: a line of the file can't be read.
type FaultError struct {
	Line int // from 1
	Err  error
}

func (e *FaultError) Error() string {
	if e.Line == 1 {
		return "it is no journal of a run: " + e.Err.Error()
	}
	return fmt.Sprintf("line %d: %v; nothing was changed: to continue with what is before it, keep a copy and cut the file: head -n %d", e.Line, e.Err, e.Line-1)
}

func (e *FaultError) Unwrap() error { return e.Err }

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

// Notes say what was in the inputs and is no case, a line each: files of archives, and what text for people lacks. They are complete when
// all entries are read.
func (i *Dockets) Notes() []string {
	var notes []string
	for _, a := range i.Archives {
		if a.Others == 0 {
			continue
		}
		note := fmt.Sprintf("%s: %s read, and %s left out", a.Name, countOf(a.Reports, "report was", "reports were"), countOf(a.Others, "file that is no report was", "files that are no reports were"))
		if len(a.Archives) > 0 {
			note += "; archives in an archive are not opened: " + strings.Join(a.Archives, ", ")
		}
		notes = append(notes, note)
	}
	for _, name := range i.Texts {
		notes = append(notes, name+" is what `go test` prints for people: tests that passed, and which test printed what, are not in it; `go test -json ./...` tells them")
	}
	return notes
}

func countOf(n int, one, more string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + more
}
