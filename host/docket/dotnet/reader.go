// Package dotnet reads TRX, the XML of vstest, MSTest and `dotnet test --logger trx`, into cases, one for each test that failed. Reporters of
// other languages write it, too. Several reports one after the other in one stream are read as one.
//
// The case of a test is called as its class and its method; its group is the class. Its document "failure" has the message and the stack trace,
// "output" and "error-output" what the test printed. Tests that were skipped, were inconclusive or only warned are no failures. A run that
// breaks off without a failing test is the case "run".
//
// A report is data from elsewhere: it is read in bounded memory, see [Reader].
package dotnet

import (
	"encoding/xml"
	"io"
	"iter"
	"strings"
	"time"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/docket/internal/report"
	"github.com/shadowcourt/shadowcourt/host/docket/internal/stream"
)

// CodeNotDotNet: the text is XML, but no report of a test runner of .NET.
const CodeNotDotNet abi.Code = "not_dotnet"

// maxHeld is how many failing tests of TRX wait for the class of their method, which stands behind all results.
const maxHeld = 10_000

// Reader reads reports. The zero value is ready. One Reader for several files gives every case an id of its own. Not safe for concurrent
// use.
type Reader struct {
	// HeadBytes and TailBytes are how much of a text is kept. Defaults: 256 KiB each. All documents of a case together are
	// cut to abi.DefaultCaseDocumentBytes.
	HeadBytes, TailBytes int
	// HeldBytes is how much of the documents of TRX's tests waits for the classes of their methods. Default: 64 MiB. Beyond it they are
	// given without.
	HeldBytes int
	// Tests is how many tests were read, those that passed included.
	Tests int

	ids report.IDs
}

// Read gives the failures of a report as cases, in their order and with the number of the line on which they begin. A report in which all
// tests pass has no case, and no error.
//
// An error is the last, after the cases that stand before it. It is a *docket.LineError with the line, and the column in its text, when
// something is wrong with the report (Line 0: with the file as a whole); any other error comes from in.
//
// Memory is bounded by docket.MaxReportBytes, the most of a report, and HeldBytes.
func (r *Reader) Read(name string, in io.Reader) iter.Seq2[docket.Entry, error] {
	return func(yield func(docket.Entry, error) bool) {
		text, err := report.NewXML(in)
		if err != nil {
			yield(docket.Entry{}, docket.NewLineError(name, 0, docket.CodeNotText, err.Error()))
			return
		}
		p := &parser{reader: r, name: name, xml: text, yield: yield}
		if err := text.Fault(name, text.Roots("has no report of a test runner of .NET", p.root)); err != nil {
			yield(docket.Entry{}, err)
		}
	}
}

// parser is the state of one reading.
type parser struct {
	reader *Reader
	name   string
	xml    *report.XML
	yield  func(docket.Entry, error) bool
}

func (p *parser) root(t xml.StartElement) error {
	if t.Name.Local == "TestRun" {
		return p.trx()
	}
	return &stream.TextError{Code: CodeNotDotNet, Detail: "is no report of .NET: it begins with <" + report.Bounded(t.Name.Local) +
		"> and not with <TestRun>"}
}

// result is a test as far as it was read.
type result struct {
	report.Test

	failed                          bool
	message, stack, output, printed stream.Clip
}

func (p *parser) newResult() *result {
	clip := func() stream.Clip { return stream.NewClip(p.reader.HeadBytes, p.reader.TailBytes) }
	return &result{Test: report.Test{Line: p.xml.Line()}, message: clip(), stack: clip(), output: clip(), printed: clip()}
}

// text reads the text of the open element.
func (p *parser) text(into *stream.Clip) error { return p.xml.Children(nil, into.Write) }

// give makes a case of a test that failed.
func (p *parser) give(r *result) error {
	if !r.failed {
		return nil
	}
	r.document()
	if !p.yield(r.Entry(p.name, &p.reader.ids), nil) {
		return stream.ErrStopped
	}
	return nil
}

// document makes the documents of a test of what was read.
func (r *result) document() {
	message, stack := strings.Trim(r.message.Text(), "\r\n"), strings.Trim(r.stack.Text(), "\r\n")
	said := stream.NewClip(r.message.MaxHead, r.message.MaxTail)
	if message != "" && strings.Contains(stack, message) { // the stacks of JavaScript begin with it
		message = ""
	}
	if message != "" {
		said.Write(message + "\n")
	}
	said.Write(stack)
	r.Report(r.Documents.Name("failure"), &said)
	r.Print(r.Documents.Name("output"), &r.output)
	r.Print(r.Documents.Name("error-output"), &r.printed)
}

// named sets the name and the class of a test. Some runners write the class before the method's name, too.
func (r *result) named(class, name string) {
	r.Group = class
	if rest, ok := strings.CutPrefix(name, class+"."); ok && class != "" {
		name = rest
	}
	r.Name = name
}

// seconds reads a time in seconds.
func seconds(text string) time.Duration {
	d, err := time.ParseDuration(strings.TrimSpace(text) + "s")
	if err != nil || d < 0 {
		return 0
	}
	return d
}

// clock reads a time as TRX writes it, "00:00:03.1234567".
func clock(text string) time.Duration {
	var total time.Duration
	parts := strings.Split(text, ":")
	if len(parts) != 3 {
		return 0
	}
	for _, part := range parts {
		d := seconds(part)
		if total > 1000*time.Hour || d > 1000*time.Hour {
			return 0
		}
		total = 60*total + d
	}
	return total
}
