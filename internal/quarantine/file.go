// Package quarantine reads and edits the reviewed file of tests in quarantine: tests that are proven flaky and do not block until somebody
// mended them, each with a reason, a proof, an owner and a last day. It proposes entries from answers of alibi, and removals, and writes the tests in
// quarantine in the forms that test runners obey; it never changes what a test run does.
//
// Values are not safe for concurrent use while they are edited.
package quarantine

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/internal/strictyaml"
)

// Path is where the file is, from the top folder of the repository.
const Path = ".shadowcourt/quarantine.yaml"

// Limits of a file.
const (
	MaxBytes   = 1 << 20
	MaxEntries = 1000
	MaxText    = 4 << 10 // bytes of one text
	maxMaxDays = 365

	// DefaultMaxDays is how far ahead an entry may expire where the file does not say.
	DefaultMaxDays = 90
)

// The codes of faults beside those of any YAML file.
const (
	CodeBadDate   abi.Code = "bad_date"
	CodeTooLong   abi.Code = "too_long"
	CodeNotFlaky  abi.Code = "not_flaky"
	CodeDuplicate abi.Code = "duplicate_test"
)

// Day is a date such as 2026-12-31, in UTC. Days compare as texts do.
type Day string

// DayOf is the day of a time.
func DayOf(t time.Time) Day { return Day(t.UTC().Format(time.DateOnly)) }

// Add is the day so many days later.
func (d Day) Add(days int) Day { return DayOf(d.start().AddDate(0, 0, days)) }

func (d Day) start() time.Time {
	t, _ := time.Parse(time.DateOnly, string(d))
	return t
}

// ReadYAML takes a date, quoted or not.
func (d *Day) ReadYAML(r *strictyaml.Reader, v *strictyaml.Node, path string) {
	if _, err := time.Parse(time.DateOnly, v.Value); err != nil || v.Kind != yaml.ScalarNode {
		r.Fail(v, path, CodeBadDate, "want a date such as 2026-12-31, not %q", strictyaml.Clip(v.Value))
		return
	}
	*d = Day(v.Value)
}

// Time is an instant, to the second.
type Time struct{ time.Time }

// TimeOf drops what is below a second.
func TimeOf(t time.Time) Time { return Time{t.UTC().Truncate(time.Second)} }

func (t Time) String() string { return t.UTC().Format(time.RFC3339) }

// WriteYAML leaves out the zero time.
func (t Time) WriteYAML() any {
	if t.IsZero() {
		return nil
	}
	return t.String()
}

// ReadYAML takes a time such as 2026-11-26T20:15:00Z, quoted or not.
func (t *Time) ReadYAML(r *strictyaml.Reader, v *strictyaml.Node, path string) {
	at, err := time.Parse(time.RFC3339, v.Value)
	if err != nil || v.Kind != yaml.ScalarNode || at.Year() < 1 {
		r.Fail(v, path, CodeBadDate, "want a time such as 2026-11-26T20:15:00Z, not %q", strictyaml.Clip(v.Value))
		return
	}
	*t = TimeOf(at)
}

// File is a quarantine file.
type File struct {
	Name string // as messages call it
	// MaxDays is how far ahead an entry may expire, in days.
	MaxDays int       `yaml:"max_days"`
	Tests   []Entry   `yaml:"tests" write:"always"`
	Removed []Removal `yaml:"removed"`

	root *yaml.Node // as it was read
}

// Entry is a test in quarantine.
type Entry struct {
	// Test is its id as answers of alibi have it, and Group the package, class or file in it; empty where the id alone tells.
	Test  string `yaml:"test"`
	Group string `yaml:"group"`
	// Reason, Owner, Since and Expires are required. The entry counts on its last day, Expires, too.
	Reason   string   `yaml:"reason"`
	Proof    Proof    `yaml:"proof"`
	Owner    string   `yaml:"owner"`
	Since    Day      `yaml:"since"`
	Expires  Day      `yaml:"expires"`
	Failures Failures `yaml:"failures"`

	Line int // in the file, from 1; 0 for an entry that is new
}

// Proof says what showed that a test is flaky. One of Runs and Link is required.
type Proof struct {
	Attribution string  `yaml:"attribution"` // flaky or environment; empty where a person judged
	Confidence  float64 `yaml:"confidence"`  // probability of the attribution
	Runs        string  `yaml:"runs"`        // in words
	Base        Rate    `yaml:"base"`
	BaseCode    string  `yaml:"base_code"` // certified, or not_certified
	Commit      string  `yaml:"commit"`    // the base that it was run on
	Date        Day     `yaml:"date"`
	Link        string  `yaml:"link"` // of a run, or the path of a signed proof
}

// Rate counts runs of the base.
type Rate struct {
	Failed int `yaml:"failed" write:"always"`
	Runs   int `yaml:"runs" write:"always"`
}

// Removal remembers an entry that was removed, so that documents from before do not bring it back.
type Removal struct {
	Test string `yaml:"test"`
	On   Time   `yaml:"on"`
	Why  string `yaml:"why"`
}

// ErrLink: the file, or the folder of the usual one, is a link, which may lead out of what is reviewed.
var ErrLink = errors.New("is a link: keep the file itself in the repository")

// Load is [Parse] for a file of the disk. The error is fs.ErrNotExist where there is none, and ErrLink for a link.
func Load(name string, today Day) (*File, error) {
	paths := []string{name}
	if folder := filepath.Dir(name); filepath.Base(folder) == path.Dir(Path) {
		paths = append(paths, folder)
	}
	for _, at := range paths {
		if info, err := os.Lstat(at); err == nil && info.Mode()&fs.ModeSymlink != 0 {
			return nil, fmt.Errorf("%s %w", filepath.Base(at), ErrLink)
		}
	}
	data, err := strictyaml.ReadFile(name, MaxBytes, strictyaml.Open)
	if err != nil {
		return nil, err
	}
	return Parse(name, data, today)
}

// Parse reads a file. The error has all faults, each with file, line and path. today is the date that Expires is compared with.
func Parse(name string, data []byte, today Day) (*File, error) {
	f := &File{Name: name, MaxDays: DefaultMaxDays}
	r := &strictyaml.Reader{File: name}
	if f.root = r.Document(data, MaxBytes); f.root != nil {
		r.Struct(f.root, "", f, nil)
		f.check(r, today)
	}
	if err := r.Err(); err != nil {
		return nil, err
	}
	return f, nil
}

// check finds what the types of the file do not say.
func (f *File) check(r *strictyaml.Reader, today Day) {
	if f.MaxDays < 1 || f.MaxDays > maxMaxDays {
		r.FailAt("max_days", strictyaml.CodeOutOfRange, "want 1 to %d days, not %d", maxMaxDays, f.MaxDays)
		f.MaxDays = DefaultMaxDays
	}
	if len(f.Tests) > MaxEntries || len(f.Removed) > MaxEntries {
		r.FailAt("tests", strictyaml.CodeTooLarge, "more than %d entries", MaxEntries)
		return
	}
	lines := make(map[string]int, len(f.Tests))
	for i := range f.Tests {
		e, path := &f.Tests[i], strictyaml.IndexPath("tests", i)
		e.Line = r.Places.At(path).Line
		e.check(r, path, today.Add(f.MaxDays), f.MaxDays)
		if first, twice := lines[e.Test]; twice && e.Test != "" {
			r.FailAt(path+".test", CodeDuplicate, "%q is in line %d already", strictyaml.Clip(e.Test), first)
		}
		lines[e.Test] = e.Line
	}
	for i := range f.Removed {
		path := strictyaml.IndexPath("removed", i)
		r.Required(path+".test", f.Removed[i].Test)
		if f.Removed[i].On.IsZero() {
			r.FailAt(path+".on", strictyaml.CodeMissing, "is missing or empty")
		}
	}
}

func (e *Entry) check(r *strictyaml.Reader, path string, last Day, days int) {
	for _, text := range []struct {
		key, value string
		required   bool
	}{
		{"test", e.Test, true},
		{"group", e.Group, false},
		{"reason", e.Reason, true},
		{"owner", e.Owner, true},
		{"since", string(e.Since), true},
		{"expires", string(e.Expires), true},
		{"proof.runs", e.Proof.Runs, false},
		{"proof.link", e.Proof.Link, false},
		{"proof.commit", e.Proof.Commit, false},
		{"proof.base_code", e.Proof.BaseCode, false},
	} {
		if text.required && strings.TrimSpace(text.value) == "" {
			r.FailAt(path+"."+text.key, strictyaml.CodeMissing, "is missing or empty")
		}
		if len(text.value) > MaxText {
			r.FailAt(path+"."+text.key, CodeTooLong, "has more than %d bytes", MaxText)
		}
	}
	switch {
	case e.Expires != "" && e.Expires < e.Since:
		r.FailAt(path+".expires", CodeBadDate, "%s is before since, %s", e.Expires, e.Since)
	case e.Expires > last:
		r.FailAt(path+".expires", CodeBadDate, "%s is more than %d days ahead: the last date is %s", e.Expires, days, last)
	}
	p := &e.Proof
	switch {
	case p.Attribution == "caused" || p.Attribution == "conflict":
		r.FailAt(path+".proof.attribution", CodeNotFlaky, "%s: a change made the test fail; mend or revert the change", p.Attribution)
	case p.Attribution != "" && p.Attribution != "flaky" && p.Attribution != "environment":
		r.FailAt(path+".proof.attribution", CodeNotFlaky, "want flaky or environment, not %q", strictyaml.Clip(p.Attribution))
	}
	if p.Runs == "" && p.Link == "" {
		r.FailAt(path+".proof", strictyaml.CodeMissing, "say what showed it: runs in words, or the link of a run")
	}
	if p.Confidence < 0 || p.Confidence > 1 {
		r.FailAt(path+".proof.confidence", strictyaml.CodeOutOfRange, "want a probability, not %v", p.Confidence)
	}
	if p.Base.Failed < 0 || p.Base.Failed > p.Base.Runs {
		r.FailAt(path+".proof.base", strictyaml.CodeOutOfRange, "%d of %d runs", p.Base.Failed, p.Base.Runs)
	}
	e.Failures.check(r, path+".failures")
}

// Find is the entry of a test; nil for none.
func (f *File) Find(test string) *Entry {
	if f == nil {
		return nil
	}
	for i := range f.Tests {
		if f.Tests[i].Test == test {
			return &f.Tests[i]
		}
	}
	return nil
}

// Expired says whether the last day of an entry is over.
func (e *Entry) Expired(today Day) bool { return e.Expires < today }

// Expired are the entries whose last day is over.
func (f *File) Expired(today Day) (list []*Entry) {
	for i := range f.Tests {
		if f.Tests[i].Expired(today) {
			list = append(list, &f.Tests[i])
		}
	}
	return list
}

// Overdue says of an expired entry who has to do what.
func (f *File) Overdue(e *Entry) error {
	return fmt.Errorf("%s:%d: %s: the quarantine expired on %s: %s has to mend the test and remove the entry, or to set another date, at most %d days ahead",
		f.Name, e.Line, e.Test, e.Expires, e.Owner, f.MaxDays)
}

const heading = "# Tests that are proven flaky and do not block. Review changes as code; validate with: shadowcourt quarantine check"

// New is a file without entries.
func New(name string) *File {
	return &File{Name: name, MaxDays: DefaultMaxDays, root: &yaml.Node{Kind: yaml.MappingNode, HeadComment: heading}}
}

// Add adds an entry: before the first one with a later name, or at the end.
func (f *File) Add(e Entry) {
	at := slices.IndexFunc(f.Tests, func(other Entry) bool { return other.Test > e.Test })
	if at < 0 {
		at = len(f.Tests)
	}
	f.Tests = slices.Insert(f.Tests, at, e)
	f.Removed = slices.DeleteFunc(f.Removed, func(r Removal) bool { return r.Test == e.Test })
}

// Remove removes the entry of a test with its comments, and remembers when and why.
func (f *File) Remove(test string, now time.Time, why string) {
	f.Tests = slices.DeleteFunc(f.Tests, func(e Entry) bool { return e.Test == test })
	f.Removed = append(f.Removed, Removal{test, TimeOf(now), why})
}

// Forget drops removals from before a time.
func (f *File) Forget(before time.Time) {
	f.Removed = slices.DeleteFunc(f.Removed, func(r Removal) bool { return r.On.Before(before) })
}

// Bytes is the file as it is written. Comments and the order of keys stay; equal files give equal bytes.
func (f *File) Bytes() ([]byte, error) {
	written := *f
	written.MaxDays = 0 // only people set it: what they wrote stays
	if len(f.Removed) == 0 {
		written.Removed = nil
	}
	text, err := encode(merge(f.root, nodeOf(&written)))
	return []byte(text), err
}

// Text is one entry as it is written.
func (e *Entry) Text() (string, error) { return encode(nodeOf([]Entry{*e})) }

func encode(n *yaml.Node) (string, error) {
	var out bytes.Buffer
	enc := yaml.NewEncoder(&out)
	enc.SetIndent(2)
	err := enc.Encode(n)
	return out.String(), err
}

// merge is the new value in the form of the one that was read, with its comments and the order of its keys.
func merge(old, now *yaml.Node) *yaml.Node {
	out := *old
	out.Content = nil
	switch {
	case old.Kind != now.Kind || old.Kind == yaml.ScalarNode && old.Value != now.Value:
		out = *now
		out.HeadComment, out.LineComment, out.FootComment = old.HeadComment, old.LineComment, old.FootComment
	case old.Kind == yaml.SequenceNode:
		out.Style &= now.Style // tests: [] becomes a list with an entry a line
		for _, n := range now.Content {
			if at := slices.IndexFunc(old.Content, func(o *yaml.Node) bool { return identity(o) == identity(n) }); at >= 0 {
				n = merge(old.Content[at], n)
			}
			out.Content = append(out.Content, n)
		}
	case old.Kind == yaml.MappingNode:
		for i := 0; i < len(old.Content); i += 2 {
			key, was := old.Content[i], old.Content[i+1]
			switch is := value(now, key.Value); {
			case is != nil:
				out.Content = append(out.Content, key, merge(was, is))
			case key.Value == "head" || key.Value == "removed" && len(was.Content) > 0: // they can become empty
				out.FootComment = strings.TrimSpace(out.FootComment + "\n" + key.FootComment) // such as the last line of the file
			default: // people wrote the default, which is not written
				out.Content = append(out.Content, key, was)
			}
		}
		for i := 0; i < len(now.Content); i += 2 {
			if value(old, now.Content[i].Value) == nil {
				out.Content = append(out.Content, now.Content[i], now.Content[i+1])
			}
		}
	}
	return &out
}

// identity tells the elements of a list apart: tests, or plain texts.
func identity(n *yaml.Node) string {
	if test := value(n, "test"); test != nil {
		return test.Value
	}
	return n.Value
}

// value is the value of a key; nil for none.
func value(m *yaml.Node, key string) *yaml.Node {
	for i := 0; i+1 < len(m.Content); i += 2 {
		if m.Content[i].Value == key {
			return m.Content[i+1]
		}
	}
	return nil
}

// nodeOf is a value as it is written. Dates and times have no quotes, and a text with a line break has: nobody may take it for lines of the file.
func nodeOf(v any) *yaml.Node {
	n := strictyaml.NodeOf(v)
	restyle(n, "")
	return n
}

func restyle(n *yaml.Node, key string) {
	switch {
	case slices.Contains([]string{"since", "expires", "date", "first", "last", "on"}, key):
		n.Tag, n.Style = "", 0
	case n.Kind == yaml.ScalarNode && !strings.ContainsFunc(n.Value, func(r rune) bool { return !strconv.IsPrint(r) }):
		n.Style = 0 // the library quotes what would read as another type
	case n.Kind == yaml.MappingNode && (key == "base" || key == "removed"):
		n.Style = yaml.FlowStyle
	}
	for i, child := range n.Content {
		switch {
		case n.Kind == yaml.SequenceNode:
			restyle(child, key)
		case i%2 == 1:
			restyle(child, n.Content[i-1].Value)
		}
	}
}
