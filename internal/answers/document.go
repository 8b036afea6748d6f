// Package answers is what alibi found out as a document for other programs: one JSON object with every fact that a comment, an annotation or an
// issue needs. schema.json describes it.
//
// Texts in a document quote tests, commits and logs: they are untrusted, whoever wrote the document. Writers in package render sanitize them.
package answers

import (
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/shadowcourt/shadowcourt/host/alibi"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
)

// Version is the schema that documents name.
const Version = "https://github.com/shadowcourt/shadowcourt/answers/v1"

//go:embed schema.json
var schema []byte

// Schema is the JSON Schema of a document.
func Schema() []byte { return schema }

// Document is what a run of alibi found out.
type Document struct {
	Schema string `json:"schema"` // Version
	// Conclusion is a sentence about all failures, such as "2 failures are yours, 1 not yours, 0 open."
	Conclusion string `json:"conclusion"`
	Yours      int    `json:"yours"`
	NotYours   int    `json:"not_yours"`
	Open       int    `json:"open"`
	// Unanswered counts failures of the report without an answer, as after an interruption.
	Unanswered int  `json:"unanswered,omitempty"`
	Base       Base `json:"base"`
	// Head is the commit of HEAD. The tree under test may have further changes.
	Head string `json:"head"`
	// Court names the court where it is not the shipped one, and MaxFalseAlibi is its price of a false alibi where it is not the usual one.
	Court         string  `json:"court,omitempty"`
	MaxFalseAlibi float64 `json:"max_false_alibi,omitempty"`
	// Link is the page of the CI run; empty where that is not known.
	Link string `json:"link,omitempty"`
	// Time is when the run began, in UTC; zero where that is not known.
	Time     time.Time `json:"time,omitzero"`
	Failures []Failure `json:"failures"`
}

// Base is the commit that the change began at: by which name it was asked for, or why it was taken.
type Base struct {
	Commit string `json:"commit"`
	Name   string `json:"name,omitempty"`
	Why    string `json:"why,omitempty"`
}

// Failure is the answer to one failing test.
type Failure struct {
	alibi.Answer
	Place

	// Conclusion is the answer in sentences: what did it, since which commit, which part of the change.
	Conclusion string `json:"conclusion"`
	// Fingerprint is the same for the same failure of the same test: 32 hexadecimal digits.
	Fingerprint string  `json:"fingerprint"`
	Seconds     float64 `json:"seconds"`
}

// Place is where a failure is, and who looks after it.
type Place struct {
	// File is the path of the test or of the frame that failed, from the top folder of the repository, with slashes; empty where it is not known.
	// Line is from 1; 0 where it is not known.
	File string `json:"file,omitempty"`
	Line int    `json:"line,omitempty"`
	// Owners are those of File by CODEOWNERS, such as @team or an address.
	Owners []string `json:"owners,omitempty"`
	// Quarantined is the entry of the quarantine file that the test has; nil for none.
	Quarantined *Quarantined `json:"quarantined,omitempty"`
}

// Where is such as "cart/parse_test.go:31"; empty where it is not known.
func (p *Place) Where() string {
	if p.File == "" || p.Line == 0 {
		return p.File
	}
	return p.File + ":" + strconv.Itoa(p.Line)
}

// Quarantined says why a test is in quarantine, until when, and who looks after it.
type Quarantined struct {
	Reason  string `json:"reason"`
	Owner   string `json:"owner"`
	Expires string `json:"expires"` // a date, such as 2026-12-31
}

// Limits of a document that is read.
const (
	maxBytes    = 64 << 20
	MaxFailures = 100_000
	maxText     = 64 << 10 // bytes of one name or sentence
)

// Read reads a document. What is no document, or too large, is an error; of a wrong one all faults are named.
func Read(r io.Reader) (*Document, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxBytes+1))
	if err != nil {
		return nil, err
	}
	if len(data) > maxBytes {
		return nil, fmt.Errorf("the document has more than %d MiB", maxBytes>>20)
	}
	var d Document
	if err := json.Unmarshal(data, &d); err != nil {
		return nil, fmt.Errorf("not a document of answers, as alibi --report FILE.json writes it: %s", sanitize.Line(err.Error()))
	}
	return &d, d.Check()
}

// Check names all faults of a document.
func (d *Document) Check() error {
	if d.Schema != Version {
		return fmt.Errorf("schema: %q is not %s: write the document with alibi --report FILE.json", clip(d.Schema), Version)
	}
	if len(d.Failures) > MaxFailures {
		return fmt.Errorf("failures: more than %d", MaxFailures)
	}
	var c checker
	c.text("conclusion", d.Conclusion, true)
	c.commit("base.commit", d.Base.Commit, true)
	c.text("base.name", d.Base.Name, false)
	c.text("base.why", d.Base.Why, false)
	c.commit("head", d.Head, true)
	c.text("court", d.Court, false)
	if d.Link != "" && !strings.HasPrefix(d.Link, "https://") && !strings.HasPrefix(d.Link, "http://") {
		c.add("link", "not an http or https address")
	}
	c.text("link", d.Link, false)
	counts := map[alibi.Verdict]int{}
	ids := make(map[string]bool, len(d.Failures))
	for i := range d.Failures {
		f := &d.Failures[i]
		c.failure(fmt.Sprintf("failures[%d].", i), f)
		counts[f.Verdict]++
		if ids[f.ID] {
			c.add(fmt.Sprintf("failures[%d].id", i), fmt.Sprintf("%q stands twice", clip(f.ID)))
		}
		ids[f.ID] = true
	}
	if d.Yours != counts[alibi.IsYours] || d.NotYours != counts[alibi.NotYours] || d.Open != counts[alibi.IsOpen] || d.Unanswered < 0 {
		c.add("yours, not_yours, open", "do not count the failures")
	}
	return c.err()
}

// maxFaults of a document are named.
const maxFaults = 20

type checker struct {
	faults []error
	more   int
}

func (c *checker) add(where, what string) {
	if len(c.faults) == maxFaults {
		c.more++
		return
	}
	c.faults = append(c.faults, errors.New(where+": "+what))
}

func (c *checker) err() error {
	if c.more > 0 {
		c.faults = append(c.faults, fmt.Errorf("and %d more faults", c.more))
	}
	return errors.Join(c.faults...)
}

func (c *checker) text(where, s string, needed bool) {
	switch {
	case needed && s == "":
		c.add(where, "missing")
	case len(s) > maxText:
		c.add(where, fmt.Sprintf("more than %d bytes", maxText))
	}
}

// commit checks the hash of a commit; what is not committed has none.
func (c *checker) commit(where, id string, needed bool) {
	const shortest, longest = 7, 64
	switch {
	case id == "" && needed:
		c.add(where, "missing")
	case id != "" && (len(id) < shortest || len(id) > longest || strings.Trim(id, "0123456789abcdef") != ""):
		c.add(where, fmt.Sprintf("%q is not the hash of a commit", clip(id)))
	}
}

// labels are those of each verdict.
var labels = map[alibi.Verdict][]string{
	alibi.IsYours:  {alibi.Caused, alibi.Conflict},
	alibi.NotYours: {alibi.Preexisting, alibi.Flaky, alibi.Environment},
	alibi.IsOpen:   {""},
}

func (c *checker) failure(at string, f *Failure) {
	for _, s := range []struct {
		name, text string
		needed     bool
	}{
		{"id", f.ID, true},
		{"group", f.Group, false},
		{"test", f.Test, true},
		{"why", f.Why, false},
		{"next", f.Next, false},
		{"message", f.Message, false},
		{"file", f.File, false},
		{"conclusion", f.Conclusion, true},
		{"part", string(f.Part), false},
	} {
		c.text(at+s.name, s.text, s.needed)
	}
	fits, known := false, labels[f.Verdict]
	for _, label := range known {
		fits = fits || label == f.Label
	}
	switch {
	case known == nil:
		c.add(at+"verdict", fmt.Sprintf("%q is not yours, not yours or open", clip(string(f.Verdict))))
	case !fits:
		c.add(at+"attribution", fmt.Sprintf("%q does not fit the verdict %q", clip(f.Label), f.Verdict))
	}
	if !(f.Confidence >= 0 && f.Confidence <= 1) {
		c.add(at+"confidence", "outside of [0, 1]")
	}
	if f.File != "" && (path.IsAbs(f.File) || path.Clean(f.File) != f.File || f.File == ".." || strings.HasPrefix(f.File, "../") || strings.ContainsAny(f.File, "\x00\\")) {
		c.add(at+"file", fmt.Sprintf("%q is not a clean path below the top folder", clip(f.File)))
	}
	const mostLine = 1 << 30
	if f.Line < 0 || f.Line > mostLine {
		c.add(at+"line", "outside of [0, 2^30]")
	}
	if !(f.Seconds >= 0 && f.Seconds <= mostLine) {
		c.add(at+"seconds", "below 0, or too many")
	}
	if err := alibi.CheckRuns(f.Runs); err != nil {
		c.add(at+"runs", clip(sanitize.Line(err.Error())))
	}
	const mostRuns = 1_000_000
	for i := range f.Runs {
		if e := &f.Runs[i]; max(e.Passed, e.Same, e.Other, e.Runs) > mostRuns {
			c.add(fmt.Sprintf("%sruns[%d]", at, i), fmt.Sprintf("more than %d runs", mostRuns))
		}
	}
	if len(f.Fingerprint) != fingerprintDigits || strings.Trim(f.Fingerprint, "0123456789abcdef") != "" {
		c.add(at+"fingerprint", fmt.Sprintf("not %d hexadecimal digits", fingerprintDigits))
	}
	if f.Culprit != nil {
		c.culprit(at+"culprit.", f.Culprit)
	}
	if q := f.Quarantined; q != nil {
		c.text(at+"quarantined.reason", q.Reason, true)
		c.text(at+"quarantined.owner", q.Owner, true)
		if _, err := time.Parse(time.DateOnly, q.Expires); err != nil {
			c.add(at+"quarantined.expires", fmt.Sprintf("%q is not a date such as 2026-12-31", clip(q.Expires)))
		}
	}
	const mostOwners = 100
	if len(f.Owners) > mostOwners {
		c.add(at+"owners", fmt.Sprintf("more than %d", mostOwners))
	}
	for i, owner := range f.Owners {
		c.text(fmt.Sprintf("%sowners[%d]", at, i), owner, true)
	}
}

func (c *checker) culprit(at string, l *alibi.Culprit) {
	const most = 1_000_000 // runs of one commit, and lines of a file
	c.commit(at+"commit", l.Commit, false)
	c.text(at+"title", l.Title, false)
	c.text(at+"author", l.Author, false)
	chance := func(where string, p float64) {
		if !(p >= 0 && p <= 1) {
			c.add(where, "outside of [0, 1]")
		}
	}
	chance(at+"probability", l.Probability)
	if l.Runs < 0 || l.Runs > most {
		c.add(at+"runs", fmt.Sprintf("outside of [0, %d]", most))
	}
	if p := l.Pair; p != nil {
		c.commit(at+"pair.parent", p.Parent, false)
		for _, t := range []alibi.Tally{p.OfParent, p.Culprit} {
			if min(t.Failed, t.Passed) < 0 || max(t.Failed, t.Passed) > most {
				c.add(at+"pair", fmt.Sprintf("runs outside of [0, %d]", most))
			}
		}
	}
	for i := range l.Ribbon {
		c.commit(fmt.Sprintf("%sribbon[%d].commit", at, i), l.Ribbon[i].Commit, false)
		chance(fmt.Sprintf("%sribbon[%d].probability", at, i), l.Ribbon[i].Probability)
	}
	for i, id := range l.Beside {
		c.commit(fmt.Sprintf("%sbeside[%d]", at, i), id, false)
	}
	if h := l.Hunk; h != nil && (h.Line < 0 || h.Line > 1<<30) {
		c.add(at+"hunk.line", "outside of [0, 2^30]")
	}
}

// clip is a text that an error quotes.
func clip(s string) string {
	const most = 80
	if len(s) > most {
		for s = s[:most]; s != "" && !utf8.ValidString(s); {
			s = s[:len(s)-1]
		}
		s += "…"
	}
	return s
}
