package playwright

import (
	"io"
	"iter"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/docket/internal/jsontext"
	"github.com/shadowcourt/shadowcourt/host/docket/internal/testlog"
)

// CodeNotPlaywright: the text is JSON, but no report of Playwright.
const CodeNotPlaywright abi.Code = "not_playwright"

// maxNameBytes is the most of a title or another short field, and of a path.
const maxNameBytes = 1 << 10

// Reader reads reports. The zero value is ready. One Reader for several files gives every case an id of its own. Not safe for concurrent
// use.
type Reader struct {
	// HeadBytes and TailBytes are how much of a text is kept. Defaults: 256 KiB each. All documents of a case together are
	// cut to abi.DefaultCaseDocumentBytes.
	HeadBytes, TailBytes int
	// Tests is how many tests were read, each for its project, those that passed included.
	Tests int

	ids testlog.IDs
}

// Read gives the tests of a report that failed, or passed when they were run again, as cases, in their order and with the number of the line
// on which they begin. A report in which all tests pass has no case, and no error. Several reports one after the other are read as one.
//
// An error is the last, after the cases that stand before it. It is a *docket.LineError with the line, and the column in its text, when
// something is wrong with the report (Line 0: with the file as a whole); any other error comes from in.
//
// Memory is bounded by the texts of the runs of one test, and by the titles around it.
func (r *Reader) Read(name string, in io.Reader) iter.Seq2[docket.Entry, error] {
	return func(yield func(docket.Entry, error) bool) {
		p := &parser{Text: jsontext.New(in), reader: r, name: name, yield: yield}
		p.readSpec = p.spec()
		if err := p.Fault(name, p.Roots("a report", "has no report of Playwright", p.report)); err != nil {
			yield(docket.Entry{}, err)
		}
	}
}
