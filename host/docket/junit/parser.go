package junit

import (
	"cmp"
	"encoding/xml"
	"errors"
	"strconv"
	"strings"

	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/docket/internal/report"
	"github.com/shadowcourt/shadowcourt/host/docket/internal/stream"
)

// parser is the state of one reading.
type parser struct {
	reader *Reader
	name   string
	xml    *report.XML
	yield  func(docket.Entry, error) bool
}

func (p *parser) root(t xml.StartElement) error {
	switch t.Name.Local {
	case "testsuites", "testsuite":
		return p.suite(t)
	default:
		return &stream.TextError{Code: CodeNotJUnit, Detail: "is no report of JUnit: it begins with <" + report.Bounded(t.Name.Local) +
			"> and not with <testsuites> or <testsuite>"}
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
	own := test{line: p.xml.Line(), class: s.name}
	err := p.xml.Children(func(t xml.StartElement) error {
		switch t.Name.Local {
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
			return p.xml.Skip()
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
	return cmp.Or(p.release(s), err)
}

func (p *parser) testcase(s *suite, start xml.StartElement) error {
	p.reader.Tests++
	c, todo := newTest(start, p.xml.Line()), false
	err := p.xml.Children(func(t xml.StartElement) error {
		switch t.Name.Local {
		case "failure", "error", "rerunFailure", "rerunError", "flakyFailure", "flakyError":
			return p.outcome(c, t)
		case "system-out", "system-err":
			return p.output(c, t.Name.Local)
		case "properties":
			return p.properties(c)
		case "skipped":
			c.skipped = true
			todo = report.Attribute(t, "type") == "todo" // of Node.js, which tells how it fails, too
			return p.xml.Skip()
		default:
			return p.xml.Skip()
		}
	}, nil)
	if err != nil {
		return err
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
			if err := p.xml.Children(nil, out.text.Write); err != nil {
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
	if err := p.xml.Children(nil, out.Write); err != nil {
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
		if err := p.xml.Children(nil, out.Write); err != nil {
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

func (p *parser) newClip() stream.Clip {
	return stream.NewClip(p.reader.HeadBytes, p.reader.TailBytes)
}
