package journal

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/flock"
	"github.com/shadowcourt/shadowcourt/internal/outfile"
)

// SyncInterval is the most time between two syncs of a journal that grows.
const SyncInterval = time.Second

// Errors that callers may tell apart.
var (
	// ErrInUse: another process writes the journal.
	ErrInUse = errors.New("another run writes it")
	// ErrNotRegular: a pipe, a device or a folder has the name of the journal.
	ErrNotRegular = errors.New("not a regular file")
)

// Config of a journal.
type Config struct {
	// Parts are all that the trials depend on besides their cases.
	Parts []Part
	// Whole keeps of each trial all that a report shows, but for Documents; else only its result and whether that is right.
	Whole bool
	// Documents keeps those of the cases, too.
	Documents bool
	// Now is the clock.
	Now func() time.Time
}

// Journal is the journal of a run. Not safe for concurrent use.
type Journal struct {
	config Config
	file   *os.File
	name   string
	from   *reader // what an earlier run left; nil where this run begins
	begun  bool    // there is nothing in the file but lines of this run and of the one that it resumes
	docket string  // digest over the cases so far
	trials int
	synced time.Time
	err    error // why nothing more is written
	closed bool
	// remembered: see [Journal.Remembered].
	remembered bool
}

// Create opens a journal for a run that begins. What an earlier run left in the file stays until the first Append; left says
// that there is something.
func Create(name string, config Config) (j *Journal, left bool, err error) {
	f, err := open(name, os.O_RDWR|os.O_CREATE)
	if err != nil {
		return nil, false, err
	}
	info, err := f.Stat()
	if err != nil {
		return nil, false, errors.Join(err, f.Close())
	}
	return &Journal{config: config, file: f, name: name, synced: config.Now()}, info.Size() > 0, nil
}

// Resume opens the journal of an earlier run of the same configuration. Its trials come from Passed; what Append is given
// goes behind them. There are none in a journal that is empty, or holds only the beginning of its header. An error leaves the file as it is: fs.ErrNotExist, ErrInUse, a *ConfigurationError or a *FaultError.
func Resume(name string, config Config) (*Journal, error) {
	f, err := open(name, os.O_RDWR)
	if err != nil {
		return nil, err
	}
	j := &Journal{config: config, file: f, name: name, synced: config.Now()}
	j.from, err = newReader(f, config.Parts)
	if other, ok := errors.AsType[*ConfigurationError](err); ok && slices.Equal(other.Other, []string{casebookPart}) && hasEnded(f) {
		j.remembered, err = true, nil
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	j.begun = j.from != nil
	return j, nil
}

func open(name string, flag int) (*os.File, error) {
	if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() {
		return nil, ErrNotRegular
	}
	for {
		f, err := os.OpenFile(name, flag, 0o666) //nolint:gosec // as the results beside it
		if err != nil {
			return nil, err
		}
		err = flock.TryLock(f)
		if errors.Is(err, flock.ErrLocked) {
			err = ErrInUse
		}
		if err == nil && isNamed(f, name) {
			if flag&os.O_CREATE != 0 {
				err = outfile.SyncFolder(filepath.Dir(name)) // else a loss of power may take away what is synced in it
			}
			if err == nil {
				return f, nil
			}
		}
		if err := errors.Join(err, f.Close()); err != nil {
			return nil, err
		} // else another run just removed it
	}
}

func isNamed(f *os.File, name string) bool {
	open, err := f.Stat()
	if err != nil {
		return false
	}
	there, err := os.Stat(name)
	return err == nil && os.SameFile(open, there)
}

// Passed gives what came of an entry of the docket in the earlier run: its trial, or the text of the error for which there is
// none. Both are empty behind the last case of that run, from which on Append goes on. An entry that is not the one that the
// earlier run had here is a *DocketError.
func (j *Journal) Passed(entry *docket.Entry) (trial *trial.Trial, failed string, err error) {
	if !j.Left() {
		return nil, "", nil
	}
	l := j.from.ahead
	next := follow(j.docket, entry)
	if next != l.Docket {
		e := &DocketError{Case: j.from.cases, ID: entry.Case.ID}
		if l.Result != nil {
			e.Was = l.Result.ID
		}
		return nil, "", e
	}
	j.docket = next
	if err := j.from.advance(); err != nil {
		return nil, "", err
	}
	if l.Result == nil {
		return nil, l.Failed, nil
	}
	j.trials++
	return l.trial(), "", nil
}

// Left says whether the earlier run has cases that Passed did not give yet.
func (j *Journal) Left() bool { return j.from != nil && j.from.ahead != nil }

// Trials counts those in the journal that Passed gave and Append took.
func (j *Journal) Trials() int { return j.trials }

// Name of the file.
func (j *Journal) Name() string { return j.name }

// Append keeps the trial of the next entry of the docket; without a trial, failed says why there is none. Nothing is written
// after an error.
func (j *Journal) Append(entry *docket.Entry, trial *trial.Trial, failed error) error {
	if j.err != nil {
		return j.err
	}
	if j.err = j.append(entry, trial, failed); j.err != nil {
		return j.err
	}
	if trial != nil {
		j.trials++
	}
	return nil
}

func (j *Journal) append(entry *docket.Entry, trial *trial.Trial, failed error) error {
	if err := j.begin(); err != nil {
		return err
	}
	l := &line{}
	if trial != nil {
		if j.config.Whole && !j.config.Documents {
			trial = withoutDocuments(trial)
		}
		l = newLine(trial, j.config.Whole)
	} else {
		l.Failed = failed.Error()
	}
	l.Docket = follow(j.docket, entry)
	text, err := encode(l)
	if err != nil {
		return err
	}
	if _, err := j.file.Write(text); err != nil {
		return err
	}
	j.docket = l.Docket
	if now := j.config.Now(); now.Sub(j.synced) >= SyncInterval {
		j.synced = now
		return j.file.Sync()
	}
	return nil
}

func withoutDocuments(t *trial.Trial) *trial.Trial {
	if t == nil {
		return nil
	}
	without := *t
	without.Case.Documents = nil
	without.Beside = withoutDocuments(t.Beside)
	return &without
}

// begin puts the file where the first line of this run goes: behind what it resumes, without a line that was cut, or behind
// a new header.
func (j *Journal) begin() error {
	at := int64(0)
	switch {
	case j.begun && j.from == nil:
		return nil
	case j.begun:
		at, j.from = j.from.offset, nil
	}
	if err := j.file.Truncate(at); err != nil {
		return err
	}
	if _, err := j.file.Seek(at, io.SeekStart); err != nil {
		return err
	}
	if j.begun {
		return nil
	}
	j.begun = true
	text, err := encode(header{Format, j.config.Parts})
	if err == nil {
		_, err = j.file.Write(text)
	}
	return err
}

// casebookPart is the part of a configuration that a run changes itself when it remembers its verdicts.
const casebookPart = "casebook"

// End notes that all cases of the docket are tried and all outputs complete. Call it before verdicts are added to a casebook.
func (j *Journal) End() error {
	if j.err != nil {
		return j.err
	}
	if err := j.begin(); err != nil {
		return err
	}
	if _, err := j.file.WriteString(endLine); err != nil {
		return err
	}
	return j.file.Sync()
}

// Remembered says that the earlier run had ended and the casebook has changed since: its verdicts are in the casebook, and must
// not be added again. Such a run has no further cases.
func (j *Journal) Remembered() bool { return j.remembered }

// hasEnded says whether the last line of a journal is that of End.
func hasEnded(f *os.File) bool {
	info, err := f.Stat()
	if err != nil || info.Size() < int64(len(endLine)) {
		return false
	}
	last := make([]byte, len(endLine))
	_, err = f.ReadAt(last, info.Size()-int64(len(last)))
	return err == nil && string(last) == endLine
}

// Keep closes the journal of a run that did not end, or that may continue with a longer docket. What an earlier run left stays
// where nothing was appended. After Keep or Remove it does nothing.
func (j *Journal) Keep() error {
	if j.closed {
		return nil
	}
	info, err := j.file.Stat()
	if err == nil && info.Size() == 0 {
		return j.Remove()
	}
	j.closed = true
	return errors.Join(err, j.file.Sync(), j.file.Close())
}

// Remove removes the journal of a run whose outputs are complete.
func (j *Journal) Remove() error {
	j.closed = true
	if !flock.KeepsOpen {
		return errors.Join(j.file.Close(), os.Remove(j.name)) // these systems remove no open file
	}
	return errors.Join(os.Remove(j.name), j.file.Close()) // while it is locked
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
