package quarantine

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/alibi"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/answers"
)

// Defaults of [Options].
const (
	DefaultDays       = 30
	DefaultConfidence = 0.95
)

// Document is what a run of alibi found out, and when.
type Document struct {
	*answers.Document

	Name   string
	Digest string // see [DigestOf]
	At     time.Time
}

// DigestOf tells documents apart: 12 hexadecimal digits of their SHA-256.
func DigestOf(data []byte) string {
	const digits = 12
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])[:digits]
}

// Options say what is proposed. Now is required.
type Options struct {
	Now time.Time
	// Days is how long a new entry holds, and Confidence how sure its answer has to be.
	Days       int
	Confidence float64
	// Owner looks after tests that have no other owner; Owners gives those of a path, and may be nil.
	Owner  string
	Owners func(path string) []string
	// Proof is the link or path that new entries name; empty: that of the document.
	Proof string
}

// Kind of a change.
type Kind string

// The kinds.
const (
	Add    Kind = "add"
	Remove Kind = "remove"
	Count  Kind = "count" // further failures of a test in quarantine
)

// Change is a proposed change of the file.
type Change struct {
	Kind Kind   `json:"kind"`
	Test string `json:"test"`
	Why  string `json:"why"`
	// Entry is the one that is added or removed, as the file has it; empty for Count.
	Entry string `json:"entry,omitempty"`
}

// Propose edits the file by documents, which may be in any order, and says what it changed. Notes say of which failures nothing was proposed, and why.
// Proposing the same documents again changes nothing.
func Propose(f *File, documents []Document, o Options) (changes []Change, notes []string, err error) {
	p := &proposal{file: f, o: o, today: DayOf(o.Now), yours: map[string]string{}, found: map[string]*Entry{}, before: map[string]Failures{}}
	for _, e := range f.Tests {
		p.before[e.Test] = e.Failures
	}
	oldest := o.Now.AddDate(0, 0, -f.MaxDays)
	list := slices.Clone(documents)
	slices.SortStableFunc(list, func(a, b Document) int { return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Digest, b.Digest)) })
	list = slices.CompactFunc(list, func(a, b Document) bool { return a.Digest == b.Digest })
	for _, d := range list {
		for i := range d.Failures {
			if t := &d.Failures[i]; t.Verdict == alibi.IsYours {
				p.yours[t.ID] = d.Name
			}
		}
	}
	for i := range list {
		if d := &list[i]; d.At.Before(oldest) {
			p.note("%s: not counted: it is of %s, more than %d days ago", d.Name, DayOf(d.At), f.MaxDays)
		} else {
			p.read(d)
		}
	}
	if err := p.add(); err != nil {
		return nil, nil, err
	}
	if err := p.close(); err != nil {
		return nil, nil, err
	}
	f.Forget(oldest)
	return p.changes, p.notes, nil
}

type proposal struct {
	file    *File
	o       Options
	today   Day
	yours   map[string]string // documents that say so
	found   map[string]*Entry
	before  map[string]Failures // what was counted
	changes []Change
	notes   []string
}

func (p *proposal) note(format string, args ...any) {
	p.notes = append(p.notes, fmt.Sprintf(format, args...))
}

func (p *proposal) read(d *Document) {
	for i := range d.Failures {
		t := &d.Failures[i]
		if e := p.file.Find(t.ID); e != nil {
			p.again(d, t, e)
			continue
		}
		if t.Label != alibi.Flaky {
			continue // whatever else made it fail, quarantine would hide it
		}
		if p.removed(d, t.ID) {
			p.note("%s: %s: removed after this document was written", d.Name, t.ID)
			continue
		}
		rate, why := p.proven(t)
		if why != "" {
			p.note("%s: %s: %s", d.Name, t.ID, why)
			continue
		}
		e := p.found[t.ID]
		if e == nil {
			e = &Entry{Test: t.ID, Since: p.today, Expires: p.today.Add(min(p.o.Days, p.file.MaxDays)), Reason: "passes and fails on the base, too"}
			p.found[t.ID] = e
		}
		e.Failures.Add(d.Digest, d.Head, d.At)
		e.Group, e.Owner = t.Group, p.owner(t)
		e.Proof = Proof{
			Attribution: t.Label, Confidence: t.Confidence, Runs: clip(t.Why), Base: rate, BaseCode: string(t.Base), Commit: d.Base.Commit,
			Date: DayOf(d.At), Link: clip(cmp.Or(p.o.Proof, d.Link, d.Name)),
		}
	}
}

// again counts a failure of a test in quarantine. What a change did, or something outside, is none of the flake.
func (p *proposal) again(d *Document, t *answers.Failure, e *Entry) {
	switch {
	case t.Verdict == alibi.IsYours:
		p.note("%s: %s: in quarantine, and a change made it fail: not counted", d.Name, t.ID)
	case t.Label == alibi.Environment:
	default:
		failures := e.Failures
		failures.Documents = slices.Clone(failures.Documents)
		if failures.Add(d.Digest, d.Head, d.At) {
			p.file.SetFailures(t.ID, failures)
		}
	}
}

// removed says whether a document is from before the removal of a test.
func (p *proposal) removed(d *Document, test string) bool {
	return slices.ContainsFunc(p.file.Removed, func(r Removal) bool { return r.Test == test && !d.At.After(r.On.Time) })
}

// proven gives the rate of failure on the base of a test that is proven flaky; else it says why it is not.
func (p *proposal) proven(t *answers.Failure) (rate Rate, why string) {
	type cell struct {
		environment abi.RunEnvironment
		order       abi.RunOrder
	}
	passed, same := map[cell]int{}, map[cell]int{}
	for i := range t.Runs {
		e := &t.Runs[i]
		if ofBase(e) {
			at := cell{e.Environment, e.Order}
			passed[at] += e.Passed
			same[at] += e.Same
		}
	}
	for at, n := range same {
		if n > 0 && passed[at] > 0 && n+passed[at] > rate.Runs {
			rate = Rate{Failed: n, Runs: n + passed[at]}
		}
	}
	switch in := p.yours[t.ID]; {
	case len(t.ID) > MaxText || len(t.Group) > MaxText:
		return rate, "not proposed: the name is too long"
	case in != "":
		return rate, "not proposed: " + in + " says that a change made it fail"
	case t.Base == abi.Contradicted:
		return rate, "not proposed: the base ran code that is not its own"
	case t.Confidence < p.o.Confidence:
		return rate, fmt.Sprintf("not proposed: flaky with a confidence of %.3f, below %v", t.Confidence, p.o.Confidence)
	case rate.Runs == 0:
		return rate, "not proposed: the base did not both pass and fail in the same way"
	}
	return rate, ""
}

// ofBase says whether runs are of the base as it is, where nothing was changed to have them fail.
func ofBase(e *trial.Experiment) bool {
	return e.Product == abi.Base && e.Tests == abi.Base && e.Environment == abi.OriginalEnvironment && e.Loaded != abi.Contradicted && e.Outcome != abi.OutcomeNotRun
}

func (p *proposal) owner(t *answers.Failure) string {
	owners := t.Owners
	if len(owners) == 0 && p.o.Owners != nil && t.File != "" {
		owners = p.o.Owners(t.File)
	}
	return clip(cmp.Or(strings.Join(owners, " "), p.o.Owner))
}

// add adds what was found, by name.
func (p *proposal) add() error {
	for _, e := range sorted(p.found) {
		if len(p.file.Tests) == MaxEntries {
			p.note("%s: not proposed: the file has %d entries", e.Test, MaxEntries)
			continue
		}
		if e.Owner == "" {
			p.note("%s: not proposed: no owner is known: name one with --owner, or in CODEOWNERS", e.Test)
			continue
		}
		text, err := e.Text()
		if err != nil {
			return err
		}
		p.file.Add(*e)
		p.changes = append(p.changes, Change{Add, e.Test, e.Proof.Runs, text})
	}
	return nil
}

func sorted(found map[string]*Entry) (list []*Entry) {
	for _, e := range found {
		list = append(list, e)
	}
	slices.SortFunc(list, func(a, b *Entry) int { return cmp.Compare(a.Test, b.Test) })
	return list
}

// close removes what has expired and what has stopped, and tells of the others what was counted.
func (p *proposal) close() error {
	for _, e := range slices.Clone(p.file.Tests) {
		why := ""
		switch chance, stopped := e.Failures.Stopped(p.o.Now); {
		case e.Expired(p.today):
			why = fmt.Sprintf("expired on %s: its failures block again until %s mends it", e.Expires, e.Owner)
		case stopped:
			why = fmt.Sprintf("stopped: %d failures from %s to %s, and such a silence since has a probability of %.2g %%",
				e.Failures.Count, DayOf(e.Failures.First.Time), DayOf(e.Failures.Last.Time), 100*chance)
		}
		before, known := p.before[e.Test]
		switch {
		case why != "":
			text, err := e.Text()
			if err != nil {
				return err
			}
			p.file.Remove(e.Test, p.o.Now, why)
			p.changes = append(p.changes, Change{Remove, e.Test, why, text})
		case known && !reflect.DeepEqual(e.Failures, before):
			p.changes = append(p.changes, Change{Count, e.Test, fmt.Sprintf("%d failures (%d before), the last on %s", e.Failures.Count, before.Count, DayOf(e.Failures.Last.Time)), ""})
		}
	}
	return nil
}

// clip is a text that fits into an entry.
func clip(s string) string {
	const most = 1000
	if len(s) > most {
		s = s[:most]
		for s != "" && !utf8.ValidString(s) {
			s = s[:len(s)-1]
		}
		s += "…"
	}
	return s
}
