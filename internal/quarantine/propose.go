package quarantine

import (
	"bufio"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/alibi"
	"github.com/shadowcourt/shadowcourt/host/docket/junit"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/answers"
	"github.com/shadowcourt/shadowcourt/internal/strictyaml"
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

// Propose edits the file by documents, which may be in any order, and says what it changed. Notes name the failures without a proposal, and why.
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
			e.Failures = failures
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

func sorted(found map[string]*Entry) []*Entry {
	return slices.SortedFunc(maps.Values(found), func(a, b *Entry) int { return cmp.Compare(a.Test, b.Test) })
}

// close removes what has expired and what has stopped, and lists what was counted of the others.
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

// Failures are what the rule of [Failures.Stopped] needs to know of a test in quarantine.
type Failures struct {
	// Count counts failures; several in a row of one commit, Head, count once.
	Count int    `yaml:"count"`
	First Time   `yaml:"first"`
	Last  Time   `yaml:"last"`
	Head  string `yaml:"head"` // commit of the last one
	// Longest is the longest time between two of them.
	Longest time.Duration `yaml:"longest"`
	// Documents are digests of the documents that were counted, the latest ones, at most 50.
	Documents []string `yaml:"documents"`
}

// maxDocuments of an entry are remembered.
const maxDocuments = 50

func (f *Failures) check(r *strictyaml.Reader, path string) {
	switch {
	case f.Count < 0 || f.Longest < 0 || len(f.Documents) > maxDocuments:
		r.FailAt(path, strictyaml.CodeOutOfRange, "want a count and a time from 0 on, and at most %d documents", maxDocuments)
	case f.Count > 0 && (f.First.IsZero() || f.Last.Before(f.First.Time)):
		r.FailAt(path, CodeBadDate, "want first and last, in this order")
	}
}

// Add counts a failure in a document at a commit, and says whether it is new: a document that was counted is not counted again. Of a long history,
// only what is later than the last failure is counted.
func (f *Failures) Add(digest, head string, at time.Time) bool {
	now := TimeOf(at)
	if slices.Contains(f.Documents, digest) || len(f.Documents) == maxDocuments && !now.After(f.Last.Time) {
		return false
	}
	f.Documents = append(f.Documents, digest)
	if len(f.Documents) > maxDocuments {
		f.Documents = f.Documents[1:]
	}
	again := f.Count > 0 && head != "" && head == f.Head
	switch {
	case f.Count == 0:
		f.First, f.Last, f.Head = now, now, head
	case now.After(f.Last.Time):
		if !again {
			f.Longest = max(f.Longest, now.Sub(f.Last.Time))
		}
		f.Last, f.Head = now, head
	case now.Before(f.First.Time):
		f.Longest = max(f.Longest, f.First.Sub(now.Time))
		f.First = now
	}
	if !again {
		f.Count++
	}
	return true
}

// The rule of Go's flake watcher (golang.org/x/build/cmd/watchflakes, close.go, 2026): the level below which silence is no chance, and the shortest
// span that tells a rate. Failures closer together are one burst.
const (
	closeLevel   = 0.01
	shortestSpan = 24 * time.Hour
)

// SilenceProbability is how probable it is that n failures within a span are followed by so much silence if nothing has changed. Of a Poisson
// process, the n-1 failures after the first are anywhere between the first and now, so that all of them lie in the span with the probability
// (span/(span+silence))^(n-1).
func SilenceProbability(n int, span, silence time.Duration) float64 {
	if n < 2 || span <= 0 || silence <= 0 {
		return 1
	}
	return math.Pow(float64(span)/(float64(span)+float64(silence)), float64(n-1))
}

// Stopped says whether a test has been silent for too long to be a chance, and how probable that silence is. It must also be longer than any before: flakes that come in
// seasons are no Poisson process.
func (f *Failures) Stopped(now time.Time) (p float64, stopped bool) {
	span, silence := f.Last.Sub(f.First.Time), now.Sub(f.Last.Time)
	p = SilenceProbability(f.Count, span, silence)
	return p, f.Count >= 2 && span >= shortestSpan && silence > f.Longest && p < closeLevel
}

// Known collects the names of all tests in reports. The zero value is empty.
type Known struct{ ids map[string]bool }

// Has says whether a report had a test by its id.
func (k *Known) Has(id string) bool { return k.ids[id] }

// maxTests of reports are remembered, and maxEvent bytes of a line are read.
const (
	maxTests = 1_000_000
	maxEvent = 16 << 20
)

// Read reads a report: go test -json, or JUnit XML. The error says why it is neither, or too large.
func (k *Known) Read(name string, r io.Reader) error {
	if k.ids == nil {
		k.ids = map[string]bool{}
	}
	in := bufio.NewReader(r)
	first, err := in.Peek(1)
	if err != nil {
		return fmt.Errorf("%s: the report is empty", name)
	}
	if first[0] != '{' {
		return k.junit(name, in)
	}
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, maxEvent)
	for lines.Scan() {
		var e struct {
			Package string `json:"Package"`
			Test    string `json:"Test"`
		}
		if json.Unmarshal(lines.Bytes(), &e) != nil || e.Package == "" {
			continue // what a build printed
		}
		id := e.Package
		if e.Test != "" {
			id += "." + e.Test
		}
		if err := k.add(id); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

func (k *Known) junit(name string, in io.Reader) error {
	var full error
	reader := junit.Reader{Ended: func(t junit.Test, _ junit.End) {
		// A test whose class is its name has the id without it.
		full = errors.Join(full, k.add(t.Name))
		if t.Class != "" {
			full = errors.Join(full, k.add(t.Class+"."+t.Name))
		}
	}}
	for _, err := range reader.Read(name, in) {
		if err != nil {
			return err
		}
		if full != nil {
			return fmt.Errorf("%s: %w", name, full)
		}
	}
	return full
}

var errTooMany = fmt.Errorf("more than %d tests", maxTests)

func (k *Known) add(id string) error {
	if len(k.ids) >= maxTests && !k.ids[id] {
		return errTooMany
	}
	k.ids[id] = true
	return nil
}
