package junit

import (
	"cmp"
	"encoding/xml"
	"errors"
	"path"
	"strings"
	"time"

	"github.com/shadowcourt/shadowcourt/host/docket/internal/report"
	"github.com/shadowcourt/shadowcourt/host/docket/internal/stream"
)

// maxHeld is how many failing tests of TRX wait for the class of their method, which stands behind all results.
const maxHeld = 10_000

// trxRun is a run. vstest writes the definitions of the tests behind their results, reporters of JavaScript write them before.
type trxRun struct {
	failed     map[string][]*trxTest // that wait for their classes, by the id of the test
	order      []*trxTest
	bytes      int
	classes    map[string]string // of tests whose results follow; nil behind the results
	classBytes int
	broken     *trxTest // what went wrong with the run itself
	any        bool     // a test failed
	// What the summary states, and its line.
	summary, counters xml.StartElement
	line              int
}

// trxFailed says whether an outcome of a test or a run is a failure.
func trxFailed(outcome string) bool {
	switch outcome {
	case "Failed", "Error", "Timeout", "Aborted", "Disconnected", "NotRunnable":
		return true
	}
	return false
}

// trxTest is a test of TRX as far as it was read.
type trxTest struct {
	test

	message, stack, output, printed stream.Clip
}

func (p *parser) newTRXTest() *trxTest {
	return &trxTest{test: test{line: p.xml.Line()}, message: p.newClip(), stack: p.newClip(), output: p.newClip(), printed: p.newClip()}
}

// trx reads the XML of vstest, MSTest and `dotnet test --logger trx`. Tests that were skipped, were inconclusive or only warned are no
// failures.
func (p *parser) trx() error {
	run, before := &trxRun{failed: map[string][]*trxTest{}, classes: map[string]string{}}, p.failures
	known := false
	err := p.children(func(t xml.StartElement) error {
		switch known = known || t.Name.Local == "Results" || t.Name.Local == "ResultSummary"; t.Name.Local {
		case "Results":
			err := p.children(func(t xml.StartElement) error {
				_, err := p.trxResult(run, t)
				return err
			})
			run.classes = nil
			return err
		case "TestDefinitions":
			return p.children(func(t xml.StartElement) error { return p.trxDefinition(run, t) })
		case "ResultSummary":
			run.summary, run.line = t, p.xml.Line()
			return p.trxSummary(run)
		}
		return p.pass(t)
	})
	if err == nil && !known && p.strange != "" {
		return p.unknown("TRX", "<Results>")
	}
	if errors.Is(err, stream.ErrStopped) {
		return err
	}
	p.account(run.counters, run.line, p.failures-before, "failed", "error", "timeout", "aborted")
	if run.broken == nil {
		p.account(run.summary, run.line, p.failures-before, "outcome")
	}
	if err := cmp.Or(p.releaseTRX(run), err); err != nil || run.any || run.broken == nil {
		return err // runners repeat failing tests in what they say of the run
	}
	return p.giveTRX(run.broken)
}

// trxResult reads a result, and those of its rows, which stand in it; it says whether one of them failed. What fails only because of its
// rows is no case: it has no stack, and at most a message that says so.
func (p *parser) trxResult(run *trxRun, start xml.StartElement) (failed bool, err error) {
	switch start.Name.Local {
	case "UnitTestResult", "TestResultAggregation", "GenericTestResult", "TestResult", "WebTestResult":
	default:
		return false, p.xml.Skip()
	}
	p.reader.Tests++
	r := p.newTRXTest()
	r.name, r.elapsed = report.Attribute(start, "testName"), clock(report.Attribute(start, "duration"))
	if failed = trxFailed(report.Attribute(start, "outcome")); failed {
		p.failures++
	}
	rows := false
	err = p.children(func(t xml.StartElement) error {
		switch t.Name.Local {
		case "Output":
			return p.trxOutput(r)
		case "InnerResults":
			return p.children(func(t xml.StartElement) error {
				inner, err := p.trxResult(run, t)
				rows = rows || inner
				return err
			})
		}
		return p.xml.Skip()
	})
	if err != nil || !failed || rows && r.stack.Empty() {
		return failed, err
	}
	run.any = true
	id := report.Attribute(start, "testId")
	r.setClass(run.classes[id])
	run.failed[id] = append(run.failed[id], r)
	run.order = append(run.order, r)
	for _, text := range []*stream.Clip{&r.message, &r.stack, &r.output, &r.printed} {
		run.bytes += len(text.Text())
	}
	if run.bytes > p.held() || len(run.order) >= maxHeld {
		return true, p.releaseTRX(run)
	}
	return true, nil
}

func (p *parser) trxOutput(r *trxTest) error {
	return p.children(func(t xml.StartElement) error {
		switch t.Name.Local {
		case "StdOut":
			return p.text(&r.output)
		case "StdErr":
			return p.text(&r.printed)
		case "ErrorInfo":
			return p.trxOutput(r)
		case "Message":
			return p.text(&r.message)
		case "StackTrace":
			return p.text(&r.stack)
		}
		return p.xml.Skip()
	})
}

// trxDefinition reads which method a test is.
func (p *parser) trxDefinition(run *trxRun, start xml.StartElement) error {
	id := report.Attribute(start, "id")
	return p.children(func(t xml.StartElement) error {
		if t.Name.Local == "TestMethod" {
			class := classOf(t)
			for _, r := range run.failed[id] {
				r.setClass(class)
			}
			if run.classBytes += len(id) + len(class); run.classes != nil && run.classBytes <= p.held() {
				run.classes[id] = class
			}
		}
		return p.xml.Skip()
	})
}

// classOf is the class of a method, whose name may have its assembly behind a comma. Where there is none, as in mocha-trx-reporter, which
// writes "none" for both, it is the file of the tests.
func classOf(method xml.StartElement) string {
	class, _, _ := strings.Cut(report.Attribute(method, "className"), ",")
	if class == report.Attribute(method, "name") {
		return path.Base(strings.ReplaceAll(report.Attribute(method, "codeBase"), `\`, "/")) // the report's machine may be another one
	}
	return class
}

// setClass sets the class of a test. Some runners write it before the method's name, too.
func (r *trxTest) setClass(class string) {
	if rest, ok := strings.CutPrefix(r.name, class+"."); ok && class != "" {
		r.name = rest
	}
	r.class = class
}

// trxSummary reads what went wrong with the run itself.
func (p *parser) trxSummary(run *trxRun) error {
	r := p.newTRXTest()
	r.class = "run"
	return p.children(func(t xml.StartElement) error {
		if t.Name.Local != "RunInfos" {
			if t.Name.Local == "Counters" {
				run.counters = t
			}
			return p.xml.Skip()
		}
		return p.children(func(t xml.StartElement) error {
			if report.Attribute(t, "outcome") != "Error" {
				return p.xml.Skip()
			}
			run.broken = r
			return p.children(func(xml.StartElement) error {
				err := p.text(&r.message)
				r.message.Write("\n")
				return err
			})
		})
	})
}

// releaseTRX gives the cases of tests that wait.
func (p *parser) releaseTRX(run *trxRun) error {
	order := run.order
	run.order, run.failed, run.bytes = nil, map[string][]*trxTest{}, 0
	for _, r := range order {
		if err := p.giveTRX(r); err != nil {
			return err
		}
	}
	return nil
}

// giveTRX makes a case of a test that failed, with the message and the stack trace as the document "failure".
func (p *parser) giveTRX(r *trxTest) error {
	message, stack := strings.Trim(r.message.Text(), "\r\n"), strings.Trim(r.stack.Text(), "\r\n")
	said := p.newClip()
	if message != "" && !strings.Contains(stack, message) { // the stacks of JavaScript begin with it
		said.Write(message + "\n")
	}
	said.Write(stack)
	r.documents.Report("failure", &said)
	r.documents.Print("output", &r.output)
	r.documents.Print("error-output", &r.printed)
	r.name, r.class = report.Bounded(r.name), report.Bounded(r.class)
	if !p.yield(p.entry(&suite{}, &r.test), nil) {
		return stream.ErrStopped
	}
	return nil
}

// clock reads a time as TRX writes it, "00:00:03.1234567": 0 unless it is that of a slow test.
func clock(text string) time.Duration {
	parts := strings.Split(text, ":")
	if len(parts) != 3 {
		return 0
	}
	d, err := time.ParseDuration(parts[0] + "h" + parts[1] + "m" + parts[2] + "s")
	if d = d.Round(100 * time.Millisecond); err != nil || d < report.Slow {
		return 0
	}
	return d
}
