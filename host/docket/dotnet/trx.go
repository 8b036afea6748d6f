package dotnet

import (
	"cmp"
	"encoding/xml"
	"errors"
	"path"
	"strings"

	"github.com/shadowcourt/shadowcourt/host/docket/internal/report"
	"github.com/shadowcourt/shadowcourt/host/docket/internal/stream"
)

// trxRun is a run. vstest writes the definitions of the tests behind their results, reporters of JavaScript write them before.
type trxRun struct {
	failed     map[string][]*result // that wait for their classes, by the id of the test
	order      []*result
	bytes      int
	classes    map[string]string // of tests whose results follow; nil behind the results
	classBytes int
	broken     *result // what went wrong with the run itself
	any        bool    // a test failed
}

func (p *parser) held() int { return cmp.Or(max(0, p.reader.HeldBytes), 64<<20) }

func (p *parser) trx() error {
	run := &trxRun{failed: map[string][]*result{}, classes: map[string]string{}}
	err := p.xml.Children(func(t xml.StartElement) error {
		switch t.Name.Local {
		case "Results":
			err := p.xml.Children(func(t xml.StartElement) error {
				_, err := p.trxResult(run, t)
				return err
			}, nil)
			run.classes = nil
			return err
		case "TestDefinitions":
			return p.xml.Children(func(t xml.StartElement) error { return p.trxDefinition(run, t) }, nil)
		case "ResultSummary":
			return p.trxSummary(run)
		}
		return p.xml.Skip()
	}, nil)
	if errors.Is(err, stream.ErrStopped) {
		return err
	}
	if err := cmp.Or(p.release(run), err); err != nil || run.any || run.broken == nil {
		return err // runners repeat failing tests in what they say of the run
	}
	return p.give(run.broken)
}

// trxResult reads a result, and those of its rows, which stand in it; it says whether one of them failed. What fails only because of its
// rows is no case.
func (p *parser) trxResult(run *trxRun, start xml.StartElement) (failed bool, err error) {
	switch start.Name.Local {
	case "UnitTestResult", "TestResultAggregation", "GenericTestResult", "TestResult", "WebTestResult":
	default:
		return false, p.xml.Skip()
	}
	p.reader.Tests++
	r := p.newResult()
	r.Name, r.Elapsed = report.Attribute(start, "testName"), clock(report.Attribute(start, "duration"))
	switch report.Attribute(start, "outcome") {
	case "Failed", "Error", "Timeout", "Aborted", "Disconnected", "NotRunnable":
		r.failed = true
	}
	rows := false
	err = p.xml.Children(func(t xml.StartElement) error {
		switch t.Name.Local {
		case "Output":
			return p.trxOutput(r)
		case "InnerResults":
			return p.xml.Children(func(t xml.StartElement) error {
				inner, err := p.trxResult(run, t)
				rows = rows || inner
				return err
			}, nil)
		}
		return p.xml.Skip()
	}, nil)
	if err != nil || !r.failed || rows && r.message.Empty() {
		return r.failed, err
	}
	run.any = true
	id := report.Attribute(start, "testId")
	r.named(run.classes[id], r.Name)
	run.failed[id] = append(run.failed[id], r)
	run.order = append(run.order, r)
	for _, text := range []*stream.Clip{&r.message, &r.stack, &r.output, &r.printed} {
		run.bytes += len(text.Text())
	}
	if run.bytes > p.held() || len(run.order) >= maxHeld {
		return true, p.release(run)
	}
	return true, nil
}

func (p *parser) trxOutput(r *result) error {
	return p.xml.Children(func(t xml.StartElement) error {
		switch t.Name.Local {
		case "StdOut":
			return p.text(&r.output)
		case "StdErr":
			return p.text(&r.printed)
		case "ErrorInfo":
			return p.xml.Children(func(t xml.StartElement) error {
				switch t.Name.Local {
				case "Message":
					return p.text(&r.message)
				case "StackTrace":
					return p.text(&r.stack)
				}
				return p.xml.Skip()
			}, nil)
		}
		return p.xml.Skip()
	}, nil)
}

// trxDefinition reads which method a test is.
func (p *parser) trxDefinition(run *trxRun, start xml.StartElement) error {
	id := report.Attribute(start, "id")
	return p.xml.Children(func(t xml.StartElement) error {
		if t.Name.Local == "TestMethod" {
			class := classOf(t)
			for _, r := range run.failed[id] {
				r.named(class, r.Name)
			}
			if run.classBytes += len(id) + len(class); run.classes != nil && run.classBytes <= p.held() {
				run.classes[id] = class
			}
		}
		return p.xml.Skip()
	}, nil)
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

// release gives the cases of tests that wait.
func (p *parser) release(run *trxRun) error {
	order := run.order
	run.order, run.failed, run.bytes = nil, map[string][]*result{}, 0
	for _, r := range order {
		if err := p.give(r); err != nil {
			return err
		}
	}
	return nil
}

// trxSummary reads what went wrong with the run itself.
func (p *parser) trxSummary(run *trxRun) error {
	r := p.newResult()
	r.Group, r.failed = "run", true
	return p.xml.Children(func(t xml.StartElement) error {
		if t.Name.Local != "RunInfos" {
			return p.xml.Skip()
		}
		return p.xml.Children(func(t xml.StartElement) error {
			if report.Attribute(t, "outcome") != "Error" {
				return p.xml.Skip()
			}
			run.broken = r
			return p.xml.Children(func(xml.StartElement) error {
				err := p.text(&r.message)
				r.message.Write("\n")
				return err
			}, nil)
		}, nil)
	}, nil)
}
