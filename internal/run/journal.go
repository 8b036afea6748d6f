package run

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/codec"
	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/record"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/disk"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
)

// JournalSuffix names the journal of a run, beside one of its outputs.
const JournalSuffix = ".resume"

// journalInterval is the most time between two syncs of a journal that grows.
const journalInterval = time.Second

// Journal says where the trials of a run are kept until it ends, so that a run that was killed, or whose disk was full, can be resumed: it
// gives the same bytes as one that was never interrupted.
//
// A journal is JSON lines: a header with the configuration of the run, then a line for each case of the docket in its
// order, with the result and what the other outputs of the run need of the trial. Each line carries a digest over the cases
// up to it, so that a changed docket is noticed, and one over itself, so that a damaged line is. Who can write the journal can write the
// outputs, too: nothing guards it against forgery. A line is one write, and is written before the trial is shown anywhere: a
// killed process loses no trial that somebody saw. Without a record the file is synced at most once a second, so that a loss of
// power costs the trials of that time, which are then tried again.
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

// keeps says what a journal has of each trial. A run whose outputs need more than that can't continue with it.
func (j *Journal) keeps() string {
	switch {
	case j.Documents:
		return "trials and documents"
	case j.Whole:
		return "trials"
	}
	return "results"
}

// journal is an open one. The methods of a nil one do nothing. Not safe for concurrent use.
type journal struct {
	config Journal
	parts  []record.Part // all that the trials depend on besides their cases
	now    func() time.Time
	file   *os.File
	name   string
	from   *reader // what an earlier run left; nil where this run begins
	begun  bool    // there is nothing in the file but lines of this run and of the one that it resumes
	docket string  // digest over the cases so far
	trials int     // of those that passed gave and append took
	synced time.Time
	err    error // why nothing more is written
	closed bool
	// remembered: the earlier run had ended and the casebook has changed since: its verdicts are in the casebook, and must not be added
	// again. Such a run has no further cases.
	remembered bool
}

// createJournal opens a journal for a run that begins. What an earlier run left in the file stays until begin; left says
// that there is something.
func createJournal(config Journal, parts []record.Part, now func() time.Time) (j *journal, left bool, err error) {
	name := config.Name()
	f, err := open(name, os.O_RDWR|os.O_CREATE)
	if err != nil {
		return nil, false, err
	}
	info, err := f.Stat()
	if err != nil {
		return nil, false, errors.Join(err, f.Close())
	}
	return &journal{config: config, parts: parts, now: now, file: f, name: name, synced: now()}, info.Size() > 0, nil
}

// earlier is what a journal has of an earlier run: how many trials, and the head of its record behind the last one.
type earlier struct {
	trials int
	head   record.Digest
}

// resumeJournal opens the journal of an earlier run of the same configuration, and reads all of it. Its trials come from
// passed; what append is given goes behind them. There are none in a journal that is empty, or holds only the beginning of its header. An
// error leaves the file as it is: fs.ErrNotExist, errInUse, a *ConfigurationError, or one of a line.
func resumeJournal(config Journal, parts []record.Part, now func() time.Time) (_ *journal, before earlier, err error) {
	name := config.Name()
	f, err := open(name, os.O_RDWR)
	if err != nil {
		return nil, before, err
	}
	j := &journal{config: config, parts: parts, now: now, file: f, name: name, synced: now()}
	before, err = readTrials(f, parts)
	if err == nil {
		j.from, err = newReader(f, parts)
	}
	if other, ok := errors.AsType[*ConfigurationError](err); ok && slices.Equal(other.Other, []string{casebookPart}) && hasEnded(f) {
		j.remembered, err = true, nil
		j.from, _ = newReader(f, parts)
	}
	if err != nil {
		return nil, before, errors.Join(err, f.Close())
	}
	j.begun = j.from != nil
	return j, before, nil
}

func open(name string, flag int) (*os.File, error) {
	if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() {
		return nil, errNotRegular
	}
	for {
		f, err := os.OpenFile(name, flag, 0o666) //nolint:gosec // as the results beside it
		if err != nil {
			return nil, err
		}
		err = disk.TryLock(f)
		if errors.Is(err, disk.ErrLocked) {
			err = errInUse
		}
		if err == nil && isNamed(f, name) {
			if flag&os.O_CREATE != 0 {
				err = disk.SyncFolder(filepath.Dir(name)) // else a loss of power may take away what is synced in it
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

// passed gives what came of an entry of the docket in the earlier run: its trial, or the text of the error for which there is
// none. Both are empty behind the last case of that run, from which on append goes on. An entry that is not the one that the
// earlier run had here is a *DocketError.
func (j *journal) passed(entry *docket.Entry) (trial *trial.Trial, failed string, err error) {
	if !j.left() {
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

// left says whether the earlier run has cases that passed did not give yet.
func (j *journal) left() bool { return j != nil && j.from != nil && j.from.ahead != nil }

// append keeps the trial of the next entry of the docket, with the head of the record behind it; without a trial, failed says why there is
// none. Nothing is written after an error.
func (j *journal) append(entry *docket.Entry, trial *trial.Trial, failed error, head record.Digest) error {
	if j == nil || j.err != nil {
		return j.fault()
	}
	j.err = j.write(entry, trial, failed, head)
	if j.err == nil && trial != nil {
		j.trials++
	}
	return j.fault()
}

// fault is why nothing more is written.
func (j *journal) fault() error {
	if j == nil {
		return nil
	}
	return journalError(j.name, false, j.err)
}

func (j *journal) write(entry *docket.Entry, t *trial.Trial, failed error, head record.Digest) error {
	if err := j.begin(); err != nil {
		return err
	}
	l := &line{}
	if t != nil {
		if j.config.Whole && !j.config.Documents {
			t = without(t, func(t *trial.Trial) { t.Case.Documents = nil })
		}
		l = newLine(t, j.config.Whole)
	} else {
		l.Failed = failed.Error()
	}
	l.Docket, l.Record = follow(j.docket, entry), head
	text, err := l.encode()
	if err != nil {
		return err
	}
	if _, err := j.file.Write(text); err != nil {
		return err
	}
	j.docket = l.Docket
	if j.now().Sub(j.synced) >= journalInterval {
		return j.flush()
	}
	return nil
}

func (j *journal) flush() error {
	j.synced = j.now()
	return j.file.Sync()
}

// sync has what was appended reach the disk.
func (j *journal) sync() error {
	if j != nil && j.err == nil {
		j.err = j.flush()
	}
	return j.fault()
}

// without is a copy of a trial, and of the one beside it, with something dropped.
func without(t *trial.Trial, drop func(*trial.Trial)) *trial.Trial {
	if t == nil {
		return nil
	}
	rest := *t
	drop(&rest)
	rest.Beside = without(t.Beside, drop)
	return &rest
}

// begin puts the file where the first line of this run goes: behind what it resumes, without a line that was cut, or behind a new header.
func (j *journal) begin() error {
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
	text, err := sanitize.EncodeJSON(header{journalFormat, j.parts}, "")
	if err == nil {
		_, err = j.file.Write(text)
	}
	return err
}

// casebookPart is the part of a configuration that a run changes itself when it remembers its verdicts.
const casebookPart = "casebook"

// end notes that all cases of the docket are tried and all outputs complete. Call it before verdicts are added to a casebook.
func (j *journal) end() error {
	if j == nil || j.err != nil {
		return j.fault()
	}
	if j.err = j.begin(); j.err == nil {
		_, j.err = j.file.WriteString(endLine)
	}
	return j.sync()
}

// hasEnded says whether the last line of a journal is that of end.
func hasEnded(f *os.File) bool {
	info, err := f.Stat()
	if err != nil || info.Size() < int64(len(endLine)) {
		return false
	}
	last := make([]byte, len(endLine))
	_, err = f.ReadAt(last, info.Size()-int64(len(last)))
	return err == nil && string(last) == endLine
}

// keep closes the journal of a run that did not end, or that may continue with a longer docket. What an earlier run left stays
// where nothing was appended. After keep or remove it does nothing.
func (j *journal) keep() error {
	if j == nil || j.closed {
		return nil
	}
	info, err := j.file.Stat()
	if err == nil && info.Size() == 0 {
		return j.remove()
	}
	j.closed = true
	return journalError(j.name, false, errors.Join(err, j.file.Sync(), j.file.Close()))
}

// remove removes the journal of a run whose outputs are complete.
func (j *journal) remove() error {
	if j == nil {
		return nil
	}
	j.closed = true
	if !disk.KeepsOpen {
		return journalError(j.name, false, errors.Join(j.file.Close(), os.Remove(j.name))) // these systems remove no open file
	}
	return journalError(j.name, false, errors.Join(os.Remove(j.name), j.file.Close())) // while it is locked
}

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

// journalFormat is that of the journals that this package reads and writes.
const journalFormat = "shadowcourt-journal/2"

type header struct {
	Format        string        `json:"format"`
	Configuration []record.Part `json:"configuration"`
}

// line is a case of the docket: its trial, or why it could not be tried.
type line struct {
	// Docket is a digest over the cases up to this one.
	Docket string `json:"docket"`
	// Record is the head of the record behind the trial; empty without a record.
	Record   record.Digest     `json:"record,omitempty"`
	Result   *trial.Result     `json:"result,omitempty"`
	Failed   string            `json:"failed,omitempty"`
	Truth    *trial.Truth      `json:"truth,omitempty"`
	Compared *trial.Comparison `json:"compared,omitempty"`
	Story    *story            `json:"story,omitempty"`
}

// story is what a trial has beside its result.
type story struct {
	*trial.Trial
	Result struct{} // in its place: the line has it
	// What the result of an audit has beside its JSON form.
	Opinion string            `json:",omitempty"`
	Cited   []trial.CitedItem `json:",omitempty"`
}

// newLine states a trial with its story, or with its result alone.
func newLine(t *trial.Trial, whole bool) *line {
	l := &line{Result: &t.Result}
	if !whole {
		if l.Truth = t.Truth; t.Truth != nil {
			compared := t.Compare()
			l.Compared = &compared
		}
		return l
	}
	l.Story = &story{Trial: t}
	if a := t.Result.Audit; a != nil {
		l.Story.Opinion, l.Story.Cited = a.Opinion, a.Cited
	}
	return l
}

// trial returns what newLine was given.
func (l *line) trial() *trial.Trial {
	t := &trial.Trial{Truth: l.Truth, Compared: l.Compared}
	if l.Story != nil && l.Story.Trial != nil {
		t = l.Story.Trial
		if a := l.Result.Audit; a != nil {
			a.Opinion, a.Cited = l.Story.Opinion, l.Story.Cited
		}
	}
	t.Result = *l.Result
	return t
}

// endLine follows the last case of a run that came to its end, see journal.end.
const endLine = `{"ended":true}` + "\n"

var (
	errNoTrial = errors.New("it is no line of a journal")
	errDamaged = errors.New("it is damaged, or was edited")
)

// The first member of a line is the SHA-256 of the object without it.
const (
	sumBegin = `{"sum":"`
	sumEnd   = `",`
)

// encode gives the line with its sum.
func (l *line) encode() ([]byte, error) {
	text, err := sanitize.EncodeJSON(l, "")
	if err != nil {
		return nil, err
	}
	return withSum(text), nil
}

func withSum(text []byte) []byte {
	return slices.Concat([]byte(sumBegin+sumOf(text)+sumEnd), text[1:])
}

func sumOf(text []byte) string {
	sum := sha256.Sum256(bytes.TrimSuffix(text, []byte("\n")))
	return hex.EncodeToString(sum[:])
}

func decode(data []byte) (*line, error) {
	rest, ok := bytes.CutPrefix(data, []byte(sumBegin))
	sum, rest, ended := bytes.Cut(rest, []byte(sumEnd))
	if !ok || !ended {
		return nil, errNoTrial
	}
	data = slices.Concat([]byte("{"), rest)
	if string(sum) != sumOf(data) {
		return nil, errDamaged
	}
	l := &line{}
	if err := json.Unmarshal(data, l); err != nil { //nolint:musttag // the fields of a trial that have no JSON form elsewhere bear their Go names here
		return nil, fmt.Errorf("%w: %w", errNoTrial, err)
	}
	if l.Docket == "" || (l.Failed == "") == (l.Result == nil) || l.Result != nil && (l.Result.ID == "" || l.Result.Final.Status == "") {
		return nil, errNoTrial
	}
	return l, nil
}

// follow gives the digest over the cases up to an entry, from that over the cases before it.
func follow(before string, entry *docket.Entry) string {
	own := sha256.Sum256(codec.AppendCase(nil, &entry.Case))
	var truth trial.Truth
	if entry.Truth != nil {
		truth = *entry.Truth
	}
	parts := [][]byte{[]byte(before), own[:], []byte(truth.Classification + "\x00" + string(truth.ExpectedVerdict))}
	for i := range entry.Members {
		member := sha256.Sum256(codec.AppendCase(nil, &entry.Members[i]))
		parts = append(parts, member[:])
	}
	sum := sha256.Sum256(slices.Concat(parts...))
	return "sha256:" + hex.EncodeToString(sum[:])
}

// EncodeTrial gives a trial as JSON, in two parts: its result, and its story, which is all that a report shows beside. The story
// has no case and no members, which the caller keeps: cases are large, and many trials have the same.
func EncodeTrial(t *trial.Trial) (result, story []byte, err error) {
	l := newLine(without(t, func(t *trial.Trial) { t.Case, t.Members = abi.Case{}, nil }), true)
	if result, err = sanitize.EncodeJSON(l.Result, ""); err != nil {
		return nil, nil, err
	}
	story, err = sanitize.EncodeJSON(l.Story, "")
	return result, story, err
}

// DecodeTrial reads what EncodeTrial gave. Without a story the trial has a result alone.
func DecodeTrial(result, told []byte) (*trial.Trial, error) {
	l := &line{Result: &trial.Result{}}
	if err := json.Unmarshal(result, l.Result); err != nil {
		return nil, fmt.Errorf("the result of a trial: %w", err)
	}
	if l.Result.ID == "" || l.Result.Final.Status == "" {
		return nil, fmt.Errorf("the result of a trial: %w", errNoTrial)
	}
	if len(told) > 0 {
		l.Story = &story{}
		if err := json.Unmarshal(told, l.Story); err != nil { //nolint:musttag // see decode
			return nil, fmt.Errorf("the story of a trial: %w", err)
		}
	}
	return l.trial(), nil
}

// reader reads what an earlier run left, one line ahead.
type reader struct {
	in     *bufio.Reader
	ahead  *line // nil behind the last
	cases  int   // up to the one ahead
	offset int64 // behind the lines that were passed
	length int   // of the line ahead
}

// readTrials reads a journal from its beginning to its end, and goes back to its beginning.
func readTrials(f *os.File, parts []record.Part) (all earlier, _ error) {
	r, fault := newReader(f, parts)
	err := fault
	if _, other := errors.AsType[*ConfigurationError](fault); other {
		err = nil
	}
	for err == nil && r != nil && r.ahead != nil {
		if r.ahead.Result != nil {
			all = earlier{all.trials + 1, r.ahead.Record}
		}
		err = r.advance()
	}
	_, back := f.Seek(0, io.SeekStart)
	return all, cmp.Or(err, fault, back)
}

// newReader reads the header; nil where the file holds at most the beginning of the header of parts. With a
// *ConfigurationError there is a reader, too.
func newReader(in io.Reader, parts []record.Part) (*reader, error) {
	r := &reader{in: bufio.NewReaderSize(in, 1<<16)}
	text, err := r.in.ReadBytes('\n')
	if errors.Is(err, io.EOF) {
		own, err := sanitize.EncodeJSON(header{journalFormat, parts}, "")
		if err == nil && !bytes.HasPrefix(own, text) {
			err = faultOf(1, errors.New("it is cut"))
		}
		return nil, err
	}
	if err != nil {
		return nil, err
	}
	var h header
	if err := json.Unmarshal(text, &h); err != nil {
		return nil, faultOf(1, err)
	}
	if h.Format != journalFormat {
		return nil, faultOf(1, fmt.Errorf("its format is %q, not %q", h.Format, journalFormat))
	}
	r.length = len(text)
	if err := r.advance(); err != nil {
		return nil, err
	}
	if other := differing(h.Configuration, parts); len(other) > 0 {
		return r, &ConfigurationError{other}
	}
	return r, nil
}

// advance passes the line ahead and reads the next one. One that was not written whole is the end.
func (r *reader) advance() error {
	r.offset += int64(r.length)
	r.ahead, r.length = nil, 0
	text, err := r.in.ReadBytes('\n')
	if errors.Is(err, io.EOF) {
		return nil
	}
	if err != nil {
		return err
	}
	if string(text) == endLine {
		return nil
	}
	r.cases++
	if r.ahead, err = decode(text); err != nil {
		return faultOf(r.cases+1, err)
	}
	r.length = len(text)
	return nil
}

// differing names the parts that are not the same, or only in one list.
func differing(a, b []record.Part) []string {
	var names []string
	for _, list := range [][2][]record.Part{{a, b}, {b, a}} {
		for _, p := range list[0] {
			if !slices.Contains(list[1], p) && !slices.Contains(names, p.Name) {
				names = append(names, p.Name)
			}
		}
	}
	return names
}
