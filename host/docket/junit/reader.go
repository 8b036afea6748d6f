// Package junit reads reports in JUnit's XML into cases, one for each test that failed.
//
// There is no one standard; the package goes by the elements that the producers share (surefire and its reruns, pytest,
// jest-junit, gotestsum and many more): testsuites and testsuite in any nesting, testcase, failure, error, skipped,
// system-out, system-err, properties. The totals that stand in attributes are not looked at. Elements and attributes that
// are not known are passed over. Several reports one after the other in one stream are read as one.
//
// A test case with a failure or an error is a case, as is a suite that has one itself. One that was run again
// (rerunFailure, rerunError) is one case with all its runs; one that passed when it was run again (flakyFailure,
// flakyError) is a case too: it failed, and the label for it is nd001. So it is for one that stands in its suite several
// times, and passed and failed: an item "runs" tells of it. Where two tests may have one name, as rows of a table in Java,
// that is so only if it failed until it passed. pytest-rerunfailures lists the runs of a test that it ran again, and
// says only of the last how it failed: such a test that passed in the end is a case without a message. A test of Go that only its subtests fail is no
// case, as in package gotest.
//
// Documents are named by the elements: failure, error, rerunFailure, rerunFailure-2, system-out, flakyFailure/system-out
// and so on. What the attributes type and message say stands first in them, unless the text says it too. The properties
// of a test case are the document "properties"; those of a suite, which describe the machine, are left out. The document
// "testcase" has the file of the test, and the time that it took if that is 3 seconds or more.
//
// A report is data from elsewhere: a DOCTYPE is rejected, so that no entity is ever defined or fetched; nesting, tags,
// documents and logs are bounded, see [Reader]. Characters that XML does not allow become U+FFFD where they stand in the
// text as such.
package junit

import (
	"io"
	"iter"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/docket/internal/report"
)

// The codes of problems that only a report can have.
const (
	// CodeNotXML: the text is no XML from some place on.
	CodeNotXML = report.CodeNotXML
	// CodeNotJUnit: it is XML, but not a report of JUnit.
	CodeNotJUnit abi.Code = "not_junit"
)

// The bounds of a report, by default and otherwise.
const (
	// MaxNesting is how deep elements may nest.
	MaxNesting = report.MaxNesting
	// MaxDocuments is how many documents a case has at most; a last one says how many more were left out.
	MaxDocuments = report.MaxDocuments
)

// Reader reads reports. The zero value is ready. One Reader for several files gives every case an id of its own. Not safe
// for concurrent use.
type Reader struct {
	// HeadBytes and TailBytes are how much of a text is kept. Defaults: 256 KiB each. All documents of a case together are
	// cut to abi.DefaultCaseDocumentBytes.
	HeadBytes, TailBytes int
	// HeldBytes is how much of the documents of cases waits for further runs of their tests. Default: DefaultHeldBytes. Beyond
	// it they are given, with the runs so far.
	HeldBytes int
	// Ended, if it is not nil, is told of every test case how it ended, those that passed included.
	Ended func(Test, End)
	// Tests is how many test cases were read, those that passed included.
	Tests int

	ids report.IDs
}

// Read gives the failures of a report as cases, in their order and with the number of the line on which they begin. They
// are given when their suite ends, since a test may stand in it again: of one that passed and failed an item of evidence
// tells. A report in which all tests pass has no case, and no error.
//
// An error is the last, after the cases that stand before it. It is a *docket.LineError with the line, and the column in
// its text, when something is wrong with the report (Line 0: with the file as a whole); any other error comes from in.
//
// Memory is bounded by docket.MaxReportBytes, the most of a report, and HeldBytes of cases that wait.
func (r *Reader) Read(name string, in io.Reader) iter.Seq2[docket.Entry, error] {
	return func(yield func(docket.Entry, error) bool) {
		text, err := report.NewXML(in)
		if err != nil {
			yield(docket.Entry{}, docket.NewLineError(name, 0, docket.CodeNotText, err.Error()))
			return
		}
		p := &parser{reader: r, name: name, xml: text, yield: yield}
		if err := text.Fault(name, text.Roots("has no report of JUnit", p.root)); err != nil {
			yield(docket.Entry{}, err)
		}
	}
}
