package junit

import (
	"cmp"
	"encoding/xml"
	"strconv"
	"strings"
	"time"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/docket/internal/report"
	"github.com/shadowcourt/shadowcourt/host/docket/internal/stream"
)

// test is a test case as far as it was read.
type test struct {
	line        int
	name, class string
	file        string
	unnamed     bool // the name is that of its class or file
	failed      bool
	skipped     bool
	flaky       bool // and passed when it was run again
	elapsed     time.Duration

	documents report.Documents
}

// outcome is a run that failed.
type outcome struct {
	kind, class, message string
	text                 stream.Clip
}

// write takes the text of the outcome, but for the blanks between the elements in it.
func (o *outcome) write(text string) {
	if !o.text.Empty() || strings.TrimSpace(text) != "" {
		o.text.Write(text)
	}
}

// says says whether a text has a message whose line breaks were taken out, as Node.js does in attributes.
func says(text, message string) bool {
	const most = 4 << 10
	without := func(s string) string { return strings.Join(strings.Fields(s[:min(len(s), most)]), "") }
	return len(message) < most && strings.Contains(without(text), without(message))
}

// clip is the text of the outcome, behind what only its attributes say. Of a run that was not the first, the kind stands before all.
func (o *outcome) clip() stream.Clip {
	text := o.text.Text()
	said := strings.TrimSpace(o.message)
	first, _, _ := strings.Cut(said, "\n")
	if strings.Contains(text, strings.TrimSpace(first)) || says(text, said) {
		said = ""
	}
	if o.class != "" && !strings.Contains(text, o.class) && !strings.Contains(said, o.class) {
		said = strings.TrimSuffix(o.class+": "+said, ": ")
	}
	if said != "" {
		said += "\n"
	}
	if o.kind != "failure" && o.kind != "error" {
		said = o.kind + ":\n" + said
	}
	if said == "" {
		return o.text
	}
	whole := stream.NewClip(o.text.MaxHead, o.text.MaxTail)
	whole.Write(said)
	whole.Write(strings.TrimLeft(text, "\r\n"))
	return whole
}

// give makes a case of a test case that failed, which waits until the runs of its test are known.
func (p *parser) give(s *suite, c *test) error {
	if !c.failed {
		return nil
	}
	full := fullName(c)
	if c.name, c.class = report.Bounded(c.name), report.Bounded(c.class); s.onlySubtestsFailed(c) {
		return nil
	}
	unique := namesAreUnique(c.documents.Reported())
	s.unique = s.unique || unique
	return p.hold(s, heldCase{p.entry(s, c), full, unique, c.flaky})
}

// entry is the case of a test.
func (p *parser) entry(s *suite, c *test) docket.Entry {
	group := s.group(c)
	file := ""
	if c.file != group && c.file != c.name && report.Bounded(c.file) == c.file {
		file = c.file
	}
	entry := docket.Entry{
		Case:   abi.Case{ID: p.reader.ids.Unique(c.id(group)), Group: group, Subject: c.subject(group)},
		Source: p.name, Line: c.line,
	}
	c.documents.Fill(&entry.Case, file, c.elapsed)
	return entry
}

// group is what a test belongs to: its class, and where that says nothing its suite or its file.
func (s *suite) group(c *test) string {
	group := report.Bounded(c.class)
	if group == "" || group == report.Bounded(c.name) {
		group = report.Bounded(s.name)
	}
	if file := report.Bounded(c.file); group == "" && file != report.Bounded(c.name) {
		group = file
	}
	return group
}

// id is the test's full name. Some producers write it whole as the class and as the name.
func (c *test) id(group string) string {
	switch {
	case c.name == "":
		return group
	case c.class == c.name || group == "":
		return c.name
	default:
		return group + "." + c.name
	}
}

func (c *test) subject(group string) string {
	switch {
	case c.name == "" && group == "":
		return "a test fails"
	case c.name == "":
		return group + " fails outside its tests"
	}
	return report.Subject(c.name, group, c.flaky)
}

// onlySubtestsFailed says whether a test of Go failed for no other reason than that its subtests did, which are cases of
// their own. Its output begins as Go's does, and its subtests stand before it.
func (s *suite) onlySubtestsFailed(c *test) bool {
	full := c.class + "\x00" + c.name
	if i := strings.LastIndexByte(full, '/'); i > len(c.class) {
		s.parents[full[:i]] = true
	}
	if !s.parents[full] || len(c.documents.Reported()) != 1 {
		return false
	}
	text := c.documents.Reported()[0].Text
	return strings.Contains(text, "=== RUN ") && !strings.Contains(text, "\npanic: ") && !strings.Contains(text, "WARNING: DATA RACE")
}

// named is an attribute that names something, or nothing where the producer wrote what its language shows of a name that it
// did not have, as jest-junit does when a template asks for one.
func named(start xml.StartElement, key string) string {
	value := report.Attribute(start, key)
	for word := range strings.FieldsSeq(value) {
		switch word {
		case "undefined", "null", "(null)", "[object", "Object]":
		default:
			return value
		}
	}
	return ""
}

// newTest reads how a test is called. One without a name of its own is called as its class, or as its file.
func newTest(start xml.StartElement, line int) *test {
	c := &test{line: line, file: named(start, "file"), elapsed: elapsed(report.Attribute(start, "time"))}
	c.class, c.name = report.PytestName(named(start, "classname"), named(start, "name"))
	if c.name == "" && report.Attribute(start, "name") != "" {
		c.unnamed = true
		c.name, c.class = c.class, ""
		c.name = cmp.Or(c.name, c.file)
	}
	return c
}

// fullName is what tells the runs of one test from those of others. Nobody knows which tests without names are the same.
func fullName(c *test) string {
	full := c.class + "\x00" + c.name
	if c.unnamed {
		full += "\x00" + strconv.Itoa(c.line)
	}
	return full
}

// Test is a test of a report.
type Test struct {
	Class string // the class; where the report has none, or only the name again, the suite or the file
	Name  string
	File  string // empty where the report doesn't name it
	// Elapsed is how long a slow test took; 0 for others, and where the report doesn't say.
	Elapsed time.Duration
}

// End is how a test ended.
type End string

// The ends of a test.
const (
	Passed  End = "passed"
	Failed  End = "failed"
	Skipped End = "skipped"
)

// Failing is the case of a test that fails, with what was written then, as the reader makes it of a report. The names may be in any form that
// reports of pytest have.
func Failing(class, name string, documents []abi.Document) abi.Case {
	c := &test{}
	c.class, c.name = report.PytestName(class, name)
	return abi.Case{
		ID: c.id(c.class), Group: c.class, Subject: c.subject(c.class), Labels: report.Labels(), Evidence: report.Cut(c.class, documents), Documents: documents,
	}
}

// AboutDocument is the document that has the file of a test, and the seconds that a slow one took, each on a line.
const AboutDocument = report.AboutDocument

// elapsed reads an attribute with seconds, some of which have commas between thousands: 0 unless it is that of a slow test.
func elapsed(seconds string) time.Duration {
	d, err := time.ParseDuration(strings.ReplaceAll(strings.TrimSpace(seconds), ",", "") + "s")
	if d = d.Round(100 * time.Millisecond); err != nil || d < report.Slow {
		return 0
	}
	return d
}

// Named is the test that a case is about, by the subject, the group and the documents that the reader writes. False: the case names none.
func Named(c *abi.Case) (Test, bool) {
	name, ok := strings.CutSuffix(strings.TrimSuffix(c.Subject, report.Again), " fails")
	if c.Group != "" && !ok {
		name, ok = strings.CutSuffix(strings.TrimSuffix(c.Subject, report.Again), " fails in "+c.Group)
	}
	t := Test{Class: c.Group, Name: name}
	for i := range c.Documents {
		if c.Documents[i].Name != AboutDocument {
			continue
		}
		for line := range strings.Lines(c.Documents[i].Text) {
			line = strings.TrimSuffix(line, "\n")
			if file, found := strings.CutPrefix(line, report.FilePrefix); found {
				t.File = file
			} else if seconds, found := strings.CutPrefix(line, report.TimePrefix); found {
				t.Elapsed = elapsed(seconds)
			}
		}
	}
	return t, ok && name != ""
}
