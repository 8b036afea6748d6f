// Package junit reads reports in JUnit's XML, and in TRX, into cases, one for each test that failed.
//
// There is no one standard; the package goes by the elements that the producers share (surefire and its reruns, pytest, jest-junit,
// gotestsum and many more): testsuites and testsuite in any nesting, testcase, failure, error, skipped, system-out, system-err, properties.
// Elements and attributes that are not known are passed over. Several reports one after the other in one stream are read as one. Where the
// totals of a suite or run state more failures than stand in it, that is an error behind all cases. A report in which no element is known is
// rejected.
//
// A test case with a failure or an error is a case, as is a suite that has one itself. One that was run again (rerunFailure, rerunError) is
// one case with all its runs; one that passed when it was run again (flakyFailure, flakyError) is a case too: it failed, and the label for
// it is nd001. So it is for one that stands in its suite several times, and passed and failed: an item "runs" tells of it. Where two tests
// may have one name, as rows of a table in Java, that is so only if it failed until it passed. pytest-rerunfailures lists the runs of a
// test that it ran again, and says only of the last how it failed: such a test that passed in the end is a case without a message. A test
// of Go that only its subtests fail is no case, as in package gotest.
//
// Documents are named by the elements: failure, error, rerunFailure, rerunFailure-2, system-out, flakyFailure/system-out and so on. What
// the attributes type and message say stands first in them, unless the text says it too. The properties of a test case are the document
// "properties"; those of a suite, which describe the machine, are left out. The document "testcase" has the file of the test, and the time
// that it took if that is 3 seconds or more.
//
// TRX is the XML of vstest, MSTest and `dotnet test --logger trx`; reporters of other languages write it, too. A test's group is its class;
// its document "failure" has the message and the stack trace, "output" and "error-output" what it printed. A run that breaks off without a
// failing test is the case "run".
//
// A report is data from elsewhere: a DOCTYPE is rejected, so that no entity is ever defined or fetched; nesting, tags, documents and logs
// are bounded, see [Reader]. Characters that XML does not allow become U+FFFD where they stand in the text as such.
package junit

import (
	"cmp"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"iter"
	"strconv"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/docket/internal/report"
	"github.com/shadowcourt/shadowcourt/host/docket/internal/stream"
)

// The codes of problems that only a report can have.
const (
	// CodeNotXML: the text is no XML from some place on.
	CodeNotXML = report.CodeNotXML
	// CodeNotJUnit: it is XML, but not a report of JUnit or TRX.
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
	// HeldBytes bounds the documents of cases that wait for further runs of their tests, or in TRX for their classes. Beyond it they are
	// returned with the runs so far. Default: DefaultHeldBytes.
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
		err = text.Roots("has no report of JUnit", p.root)
		if fault := text.Fault(name, err); fault != nil {
			yield(docket.Entry{}, fault)
		} else if err == nil && p.unheld != nil {
			yield(docket.Entry{}, p.unheld)
		}
	}
}

// parser is the state of one reading.
type parser struct {
	reader *Reader
	name   string
	xml    *report.XML
	yield  func(docket.Entry, error) bool

	failures int               // elements that tell of one
	unheld   *docket.LineError // the first total that states more of them than it has
	strange  string            // the first element of a suite or run that no producer is known for
}

// unknown rejects a report in which no element is known: a green answer would rest on nothing.
func (p *parser) unknown(format, known string) error {
	detail := "is no report of " + format + ": it has <" + report.Bounded(p.strange) + "> and no " + known
	if p.strange == "FailedTests" || p.strange == "SuccessfulTests" {
		detail += ", as a report of CppUnit"
	}
	return &stream.TextError{Code: CodeNotJUnit, Detail: detail}
}

// pass passes over an element of a suite or run, and notes one that is not known.
func (p *parser) pass(t xml.StartElement) error {
	switch t.Name.Local {
	case "properties", "system-out", "system-err", "TestSettings", "Times", "TestEntries", "TestLists":
	default:
		p.strange = cmp.Or(p.strange, t.Name.Local)
	}
	return p.xml.Skip()
}

// account compares totals, which are attributes of an element, with how many failures the report holds there.
func (p *parser) account(start xml.StartElement, line, held int, totals ...string) {
	for _, total := range totals {
		value := strings.TrimSpace(report.Attribute(start, total))
		n, _ := strconv.Atoi(value) // the largest for one beyond all
		// The outcome of a run, in place of a number, states one.
		if trxFailed(value) {
			n = 1
		}
		if n > held && p.unheld == nil {
			p.unheld = docket.NewLineError(p.name, line, abi.CodeBadCount, fmt.Sprintf("states %q, but the report tells of %d there", report.Bounded(value), held))
			p.unheld.Problems[0].Path = abi.Path{abi.Field(start.Name.Local), abi.Field(total)}
		}
	}
}

func (p *parser) root(t xml.StartElement) error {
	tests, failures := p.reader.Tests, p.failures
	p.strange = ""
	switch t.Name.Local {
	case "testsuites", "testsuite":
		if err := p.suite(t); err != nil || p.strange == "" || p.reader.Tests > tests || p.failures > failures {
			return err
		}
		return p.unknown("JUnit", "<testcase>")
	case "TestRun":
		if p.reader.Ended != nil {
			return &stream.TextError{Code: CodeNotJUnit, Detail: "is a report in TRX, of which only failures are read: write JUnit XML"}
		}
		return p.trx()
	default:
		return &stream.TextError{Code: CodeNotJUnit, Detail: "is no report of JUnit or TRX: it begins with <" + report.Bounded(t.Name.Local) +
			"> and not with <testsuites>, <testsuite> or <TestRun>"}
	}
}

// suite is what the cases of a suite need of it.
type suite struct {
	name    string
	parents map[string]bool // the tests of Go of which a subtest failed
	runs    runs
	held    []heldCase
	bytes   int  // of what is held
	unique  bool // a failure tells a language that lets no two tests have one name
}

func (p *parser) suite(start xml.StartElement) error {
	s := &suite{name: named(start, "name"), parents: map[string]bool{}, runs: runs{ended: map[string][]bool{}}}
	s.runs.tests, _ = strconv.Atoi(report.Attribute(start, "tests"))
	own, before := test{line: p.xml.Line(), class: s.name}, p.failures
	err := p.xml.Children(func(t xml.StartElement) error {
		switch strings.ToLower(t.Name.Local) {
		case "testsuite", "testsuites":
			if err := p.release(s); err != nil {
				return err
			}
			return p.suite(t)
		case "testcase":
			return p.testcase(s, t)
		case "failure", "error":
			return p.outcome(&own, t)
		default:
			return p.pass(t)
		}
	}, nil)
	if err == nil {
		err = p.give(s, &own)
	}
	if err == nil {
		err = p.holdSilent(s)
	}
	if errors.Is(err, stream.ErrStopped) {
		return err
	}
	totals := []string{"failures", "errors"}
	if start.Name.Local == "testsuites" {
		totals = totals[:1] // its errors are lines of the standard error in reports of gotestsum
	}
	p.account(start, own.line, p.failures-before, totals...)
	return cmp.Or(p.release(s), err)
}

func (p *parser) testcase(s *suite, start xml.StartElement) error {
	p.reader.Tests++
	c, todo := newTest(start, p.xml.Line()), false
	status := strings.ToLower(report.Attribute(start, "status"))
	err := p.xml.Children(func(t xml.StartElement) error {
		switch strings.ToLower(t.Name.Local) {
		case "failure", "error", "rerunfailure", "rerunerror", "flakyfailure", "flakyerror":
			return p.outcome(c, t)
		case "system-out", "system-err":
			return p.output(c, t.Name.Local)
		case "properties":
			return p.properties(c)
		case "skipped":
			c.skipped = true
			todo = report.Attribute(t, "type") == "todo" // of Node.js, which tells how it fails, too
			if why := report.Attribute(t, "message"); status == "notrun" && c.class == c.name && why != "" && why != "Disabled" && !strings.HasPrefix(why, "SKIP_") {
				c.skipped = false // CTest could not start it, and counts it as failed
				return p.outcome(c, t)
			}
			return p.xml.Skip()
		default:
			return p.xml.Skip()
		}
	}, nil)
	if err != nil {
		return err
	}
	if !c.failed && !c.skipped && (status == "failed" || status == "error") {
		p.failures++
		c.failed = true
	}
	c.failed = c.failed && !todo
	s.runs.end(c)
	if p.reader.Ended != nil {
		end := Passed
		switch {
		case c.failed:
			end = Failed
		case c.skipped:
			end = Skipped
		}
		p.reader.Ended(Test{Class: report.Bounded(s.group(c)), Name: report.Bounded(c.name), File: c.file, Elapsed: c.elapsed}, end)
	}
	return p.give(s, c)
}

// output is what a run printed.
type output struct {
	name string
	text stream.Clip
}

// outcome reads a run that failed.
func (p *parser) outcome(c *test, start xml.StartElement) error {
	kind := start.Name.Local
	p.failures++
	c.failed = true
	c.flaky = c.flaky || strings.HasPrefix(kind, "flaky")
	o := outcome{kind: kind, message: report.Attribute(start, "message"), class: report.Attribute(start, "type"), text: p.newClip()}
	name := c.documents.Name(kind)
	var printed []output
	err := p.xml.Children(func(t xml.StartElement) error {
		switch t.Name.Local {
		case "stackTrace":
			return p.xml.Children(nil, o.write)
		case "system-out", "system-err":
			out := output{name: name + "/" + t.Name.Local, text: p.newClip()}
			if err := p.text(&out.text); err != nil {
				return err
			}
			if len(printed) < MaxDocuments {
				printed = append(printed, out)
			}
			return nil
		default:
			return p.xml.Skip()
		}
	}, o.write)
	if err != nil {
		return err
	}
	said := o.clip()
	c.documents.Report(name, &said)
	for _, out := range printed {
		c.documents.Print(out.name, &out.text)
	}
	return nil
}

func (p *parser) output(c *test, kind string) error {
	name, out := c.documents.Name(kind), p.newClip()
	if err := p.text(&out); err != nil {
		return err
	}
	c.documents.Print(name, &out)
	return nil
}

// properties reads those of a test case, as lines of name and value.
func (p *parser) properties(c *test) error {
	name, out := c.documents.Name("properties"), p.newClip()
	err := p.xml.Children(func(t xml.StartElement) error {
		out.Write(report.Attribute(t, "name") + "=" + report.Attribute(t, "value"))
		if err := p.text(&out); err != nil {
			return err
		}
		out.Write("\n")
		return nil
	}, nil)
	if err == nil {
		c.documents.Print(name, &out)
	}
	return err
}

// children reads the elements in the open one.
func (p *parser) children(each func(xml.StartElement) error) error { return p.xml.Children(each, nil) }

// text reads the text of the open element.
func (p *parser) text(into *stream.Clip) error { return p.xml.Children(nil, into.Write) }

func (p *parser) newClip() stream.Clip {
	return stream.NewClip(p.reader.HeadBytes, p.reader.TailBytes)
}
