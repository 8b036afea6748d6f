package junit

import (
	"cmp"
	"encoding/xml"
	"errors"
	"io"
	"strconv"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/docket/internal/stream"
)

// parser is the state of one reading.
type parser struct {
	reader *Reader
	name   string
	from   *source
	xml    *xml.Decoder
	yield  func(docket.Entry, error) bool
	path   []string // the open elements
}

// token gives the next token. The path is that behind it.
func (p *parser) token() (xml.Token, error) {
	t, err := p.xml.Token()
	if err != nil {
		return nil, err
	}
	switch t := t.(type) {
	case xml.StartElement:
		if len(p.path) == MaxNesting {
			return nil, &stream.TextError{Code: abi.CodeTooDeep, Detail: "elements nest deeper than " + strconv.Itoa(MaxNesting)}
		}
		p.path = append(p.path, t.Name.Local)
	case xml.EndElement:
		p.path = p.path[:len(p.path)-1]
	}
	return t, nil
}

// open names the innermost open element.
func (p *parser) open() string {
	if len(p.path) == 0 {
		return "a tag"
	}
	return "<" + p.path[len(p.path)-1] + ">"
}

// reports reads the stream to its end: one report, or several.
func (p *parser) reports() error {
	found := false
	for {
		t, err := p.token()
		if errors.Is(err, io.EOF) {
			if !found {
				return &stream.TextError{Code: docket.CodeEmptyDocket, Detail: "has no report of JUnit"}
			}
			return nil
		}
		if err != nil {
			return err
		}
		switch t := t.(type) {
		case xml.StartElement:
			found = true
			if err := p.root(t); err != nil {
				return err
			}
			p.from.latin1 = false
		case xml.CharData:
			if strings.TrimSpace(string(t)) != "" {
				return &stream.TextError{Code: CodeNotXML, Detail: "is no XML: text stands where a report should"}
			}
		}
	}
}

func (p *parser) root(t xml.StartElement) error {
	switch t.Name.Local {
	case "testsuites", "testsuite":
		return p.suite(t)
	default:
		return &stream.TextError{Code: CodeNotJUnit, Detail: "is no report of JUnit: it begins with <" + bounded(t.Name.Local) +
			"> and not with <testsuites> or <testsuite>"}
	}
}

// children calls each for the elements in the open one, which has to read them to their ends, and text for its text; nil
// passes over what is there. It returns behind the end of the open element.
func (p *parser) children(each func(xml.StartElement) error, text func(string)) error {
	for {
		t, err := p.token()
		if err != nil {
			return err
		}
		switch t := t.(type) {
		case xml.StartElement:
			if each == nil {
				err = p.skip()
			} else {
				err = each(t)
			}
			if err != nil {
				return err
			}
		case xml.CharData:
			if text != nil {
				text(string(t))
			}
		case xml.EndElement:
			return nil
		}
	}
}

// skip passes over the open element.
func (p *parser) skip() error {
	for depth := len(p.path); len(p.path) >= depth; {
		if _, err := p.token(); err != nil {
			return err
		}
	}
	return nil
}

// suite is what the cases of a suite need of it.
type suite struct {
	name    string
	parents map[string]bool // the tests of Go of which a subtest failed
	runs    runs
	held    []heldCase
	bytes   int // of what is held
}

func (p *parser) suite(start xml.StartElement) error {
	s := &suite{name: named(start, "name"), parents: map[string]bool{}, runs: runs{ended: map[string][]bool{}}}
	s.runs.tests, _ = strconv.Atoi(attribute(start, "tests"))
	own := test{line: p.from.line, class: s.name}
	err := p.children(func(t xml.StartElement) error {
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
			return p.skip()
		}
	}, nil)
	if err == nil {
		err = p.give(s, &own)
	}
	if errors.Is(err, errStopped) {
		return err
	}
	return cmp.Or(p.release(s), err)
}

func (p *parser) testcase(s *suite, start xml.StartElement) error {
	p.reader.Tests++
	c := newTest(start, p.from.line)
	err := p.children(func(t xml.StartElement) error {
		switch t.Name.Local {
		case "failure", "error", "rerunFailure", "rerunError", "flakyFailure", "flakyError":
			return p.outcome(c, t)
		case "system-out", "system-err":
			return p.output(c, t.Name.Local)
		case "properties":
			return p.properties(c)
		case "skipped":
			c.skipped = true
			return p.skip()
		default:
			return p.skip()
		}
	}, nil)
	if err != nil {
		return err
	}
	s.runs.end(c)
	if p.reader.Ended != nil {
		end := Passed
		switch {
		case c.failed:
			end = Failed
		case c.skipped:
			end = Skipped
		}
		p.reader.Ended(Test{Class: bounded(s.group(c)), Name: bounded(c.name), File: c.file, Elapsed: c.elapsed}, end)
	}
	return p.give(s, c)
}

// outcome reads a run that failed.
func (p *parser) outcome(c *test, start xml.StartElement) error {
	kind := start.Name.Local
	c.failed = true
	c.flaky = c.flaky || strings.HasPrefix(kind, "flaky")
	o := outcome{kind: kind, message: attribute(start, "message"), class: attribute(start, "type"), text: p.newClip()}
	name := c.documentName(kind)
	var printed []output
	err := p.children(func(t xml.StartElement) error {
		switch t.Name.Local {
		case "stackTrace":
			return p.children(nil, o.write)
		case "system-out", "system-err":
			out := output{name: name + "/" + t.Name.Local, text: p.newClip()}
			if err := p.children(nil, out.text.Write); err != nil {
				return err
			}
			if len(printed) < MaxDocuments {
				printed = append(printed, out)
			}
			return nil
		default:
			return p.skip()
		}
	}, o.write)
	if err != nil {
		return err
	}
	c.report(output{name: name, text: o.clip()})
	for _, out := range printed {
		c.print(out)
	}
	return nil
}

func (p *parser) output(c *test, kind string) error {
	out := output{name: c.documentName(kind), text: p.newClip()}
	if err := p.children(nil, out.text.Write); err != nil {
		return err
	}
	c.print(out)
	return nil
}

// properties reads those of a test case, as lines of name and value.
func (p *parser) properties(c *test) error {
	out := output{name: c.documentName("properties"), text: p.newClip()}
	err := p.children(func(t xml.StartElement) error {
		out.text.Write(attribute(t, "name") + "=" + attribute(t, "value"))
		if err := p.children(nil, out.text.Write); err != nil {
			return err
		}
		out.text.Write("\n")
		return nil
	}, nil)
	if err == nil {
		c.print(out)
	}
	return err
}

func (p *parser) newClip() stream.Clip {
	return stream.NewClip(p.reader.HeadBytes, p.reader.TailBytes)
}

func attribute(t xml.StartElement, name string) string {
	for _, a := range t.Attr {
		if a.Name.Local == name && a.Name.Space == "" {
			return a.Value
		}
	}
	return ""
}
