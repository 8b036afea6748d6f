package junit

import (
	"strings"
	"time"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/docket/internal/report"
)

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

// Named is the test that a case is about, by the subject, the group and the documents that the reader writes. False: the case names
// none.
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
