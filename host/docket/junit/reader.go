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
