package junit

import (
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
)

// Test is a test of a report.
type Test struct {
	Class string // the class; where the report has none, or only the name again, the suite or the file
	Name  string
	File  string // empty where the report doesn't name it
}

// End is how a test ended.
type End string

// The ends of a test.
const (
	Passed  End = "passed"
	Failed  End = "failed"
	Skipped End = "skipped"
)

// fileDocument is the document that has the file of a test, behind filePrefix.
const (
	fileDocument = "testcase"
	filePrefix   = "file="
)

// Named is the test that a case is about, by the subject, the group and the documents that the reader writes. False: the case names
// none.
func Named(c *abi.Case) (Test, bool) {
	name, ok := strings.CutSuffix(strings.TrimSuffix(c.Subject, again), " fails")
	if c.Group != "" && !ok {
		name, ok = strings.CutSuffix(strings.TrimSuffix(c.Subject, again), " fails in "+c.Group)
	}
	t := Test{Class: c.Group, Name: name}
	for i := range c.Documents {
		if file, found := strings.CutPrefix(c.Documents[i].Text, filePrefix); found && c.Documents[i].Name == fileDocument {
			t.File = strings.TrimSuffix(file, "\n")
		}
	}
	return t, ok && name != ""
}
