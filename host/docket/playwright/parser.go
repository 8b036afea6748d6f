package playwright

import (
	"strings"
	"time"

	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/docket/internal/failing"
	"github.com/shadowcourt/shadowcourt/host/docket/internal/jsontext"
	"github.com/shadowcourt/shadowcourt/host/docket/internal/stream"
)

// parser is the state of one reading.
type parser struct {
	*jsontext.Text

	reader *Reader
	name   string
	yield  func(docket.Entry, error) bool

	projects int
	titles   []string // of the suites around
	file     string   // that they are in

	readSpec func() error // made once: it has many parts
}

// text returns a reader of a short text.
func (p *parser) text(into *string) func() error { return p.Clip(into, maxNameBytes, 1) }

// long returns a reader of a text that may be a log.
func (p *parser) long(into *string) func() error {
	clip := p.newClip()
	read := p.Clip(into, clip.MaxHead, clip.MaxTail)
	return func() error {
		err := read()
		*into = plain(*into)
		return err
	}
}

// whole returns a reader of the whole part of a number.
func (p *parser) whole(into *int) func() error {
	value := 0.0
	read := p.Number(&value)
	return func() error {
		value = -1
		err := read()
		if value >= 0 && value < 1<<31 {
			*into = int(value)
		}
		return err
	}
}

func (p *parser) newClip() stream.Clip { return stream.NewClip(p.reader.HeadBytes, p.reader.TailBytes) }

func (p *parser) report() (bool, error) {
	line := p.Line()
	if b, err := p.Next(); err != nil {
		return false, err
	} else if b != '{' {
		return false, &stream.TextError{Line: line, Code: CodeNotPlaywright, Detail: "is no report of Playwright, but " + stream.KindOf(b)}
	}
	known := false
	broken := failing.Test{Line: line, Group: "run"}
	p.projects, p.titles, p.file = 0, nil, ""
	err := p.Read(jsontext.Fields{
		"config": p.Read(jsontext.Fields{"projects": p.List(func() error { p.projects++; return p.Skip() })}),
		"suites": func() error { known = true; return p.List(p.suite)() },
		"errors": p.List(func() error {
			var e failure
			err := p.failure(&e)()
			r := run{said: p.newClip()}
			r.add(e)
			broken.Report(broken.Documents.Name("failure"), &r.said)
			broken.Attach("code", r.code)
			return err
		}),
	})()
	switch {
	case err != nil:
		return false, err
	case !known:
		return false, &stream.TextError{Line: line, Code: CodeNotPlaywright, Detail: "is no report of Playwright: it has no suites"}
	case len(broken.Reported()) > 0:
		return true, p.give(&broken)
	}
	return true, nil
}

func (p *parser) give(t *failing.Test) error {
	if !p.yield(t.Entry(p.name, &p.reader.ids), nil) {
		return stream.ErrStopped
	}
	return nil
}

// suite reads a suite: a file, or what describe makes. Its title and its file stand before its tests, as Playwright writes them.
func (p *parser) suite() error {
	depth, around := len(p.titles), p.file
	p.titles = append(p.titles, "")
	err := p.Read(jsontext.Fields{
		"title":  func() error { return p.text(&p.titles[depth])() },
		"file":   p.text(&p.file),
		"specs":  p.List(p.readSpec),
		"suites": p.List(p.suite),
	})()
	p.titles, p.file = p.titles[:depth], around
	return err
}

// spec returns a reader of a test with its runs in each project.
func (p *parser) spec() func() error {
	title := ""
	read := p.Read(jsontext.Fields{
		"title": p.text(&title),
		"tests": p.List(p.test(func(t *failing.Test, project string) error {
			path := append([]string{}, p.titles[min(1, len(p.titles)):]...) // the first one is the file's
			t.Name, t.Group = strings.Join(append(path, title), " › "), p.file
			if p.projects > 1 && project != "" {
				t.Name += " [" + project + "]"
			}
			return p.give(t)
		})),
	})
	return func() error {
		title = ""
		return read()
	}
}

// test returns a reader of a test in one project; give gets those that failed or are flaky.
func (p *parser) test(give func(t *failing.Test, project string) error) func() error {
	var project, status, expected string
	var r run
	var runs []*run
	readRun := p.run(&r)
	read := p.Read(jsontext.Fields{
		"projectName": p.text(&project), "status": p.text(&status), "expectedStatus": p.text(&expected),
		"results": p.List(func() error {
			err := readRun()
			if len(runs) < failing.MaxDocuments {
				runs = append(runs, new(r))
			}
			return err
		}),
	})
	return func() error {
		p.reader.Tests++
		line := p.Line()
		project, status, expected, runs = "", "", "", nil
		if err := read(); err != nil || status != "unexpected" && status != "flaky" {
			return err
		}
		t := &failing.Test{Line: line, Flaky: status == "flaky"}
		for _, r := range runs {
			t.Elapsed = max(t.Elapsed, time.Duration(r.millis)*time.Millisecond)
			p.document(t, r, expected)
		}
		return give(t, project)
	}
}

// document adds the documents of a run that failed.
func (p *parser) document(t *failing.Test, r *run, expected string) {
	if r.status == expected || r.status == "skipped" {
		return
	}
	kind := "failure"
	switch {
	case t.Flaky:
		kind = "flakyFailure"
	case len(t.Reported()) > 0:
		kind = "rerunFailure"
	}
	said := r.said
	if said.Empty() {
		said.Write("Expected the test to be " + expected + ", but it " + r.status + ".\n")
	}
	if len(t.Reported()) == 0 {
		t.Attach("code", r.code)
	}
	t.Report(t.Documents.Name(kind), &said)
	t.Print(t.Documents.Name("stdout"), &r.stdout)
	t.Print(t.Documents.Name("stderr"), &r.stderr)
}
