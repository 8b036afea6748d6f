package playwright

import (
	"strconv"
	"strings"
	"time"

	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/docket/internal/failing"
	"github.com/shadowcourt/shadowcourt/host/docket/internal/stream"
)

// parser is the state of one reading.
type parser struct {
	reader *Reader
	name   string
	json   *stream.JSON
	yield  func(docket.Entry, error) bool

	projects int
	titles   []string // of the suites around
	file     string   // that they are in
}

// fields reads an object, by the readers of those keys that count; what is there in place of a value of their kind is passed over.
func (p *parser) fields(readers map[string]func() error) error {
	if b, err := p.json.Next(); err != nil {
		return err
	} else if b != '{' {
		return p.json.Skip()
	}
	return p.json.Object(func(key string) error {
		if read := readers[key]; read != nil {
			return read()
		}
		return p.json.Skip()
	})
}

// each reads the elements of a list.
func (p *parser) each(read func() error) func() error {
	return func() error {
		if b, err := p.json.Next(); err != nil {
			return err
		} else if b != '[' {
			return p.json.Skip()
		}
		return p.json.Array(read)
	}
}

// text reads a short text.
func (p *parser) text(into *string) func() error {
	return func() error {
		b, err := p.json.Next()
		if err != nil {
			return err
		}
		if b != '"' {
			return p.json.Skip()
		}
		*into, err = p.json.String(maxNameBytes, 1)
		return err
	}
}

// long reads a text that may be a log.
func (p *parser) long(into *string) func() error {
	return func() error {
		b, err := p.json.Next()
		if err != nil {
			return err
		}
		if b != '"' {
			return p.json.Skip()
		}
		clip := p.newClip()
		text, err := p.json.String(clip.MaxHead, clip.MaxTail)
		*into = plain(text)
		return err
	}
}

// number reads a whole number, or the whole part of one.
func (p *parser) number(into *int) func() error {
	return func() error {
		b, err := p.json.Next()
		if err != nil {
			return err
		}
		if !strings.ContainsRune("-0123456789", rune(b)) {
			return p.json.Skip()
		}
		word, err := p.json.Word()
		if f, wrong := strconv.ParseFloat(word, 64); wrong == nil && f >= 0 && f < 1<<31 {
			*into = int(f)
		}
		return err
	}
}

func (p *parser) newClip() stream.Clip { return stream.NewClip(p.reader.HeadBytes, p.reader.TailBytes) }

func (p *parser) report() error {
	line := p.json.Line()
	if b, err := p.json.Next(); err != nil {
		return err
	} else if b != '{' {
		return &stream.TextError{Line: line, Code: CodeNotPlaywright, Detail: "is no report of Playwright, but " + stream.KindOf(b)}
	}
	known := false
	broken := failing.Test{Line: line, Group: "run"}
	p.projects, p.titles, p.file = 0, nil, ""
	err := p.fields(map[string]func() error{
		"config": func() error {
			return p.fields(map[string]func() error{"projects": p.each(func() error { p.projects++; return p.json.Skip() })})
		},
		"suites": func() error { known = true; return p.each(p.suite)() },
		"errors": p.each(func() error {
			e, err := p.failure()
			r := run{said: p.newClip()}
			r.add(e)
			broken.Report(broken.Documents.Name("failure"), &r.said)
			broken.Attach("code", r.code)
			return err
		}),
	})
	switch {
	case err != nil:
		return err
	case !known:
		return &stream.TextError{Line: line, Code: CodeNotPlaywright, Detail: "is no report of Playwright: it has no suites"}
	case len(broken.Reported()) > 0:
		return p.give(&broken)
	}
	return nil
}

func (p *parser) give(t *failing.Test) error {
	if !p.yield(t.Entry(p.name, &p.reader.ids), nil) {
		return errStopped
	}
	return nil
}

// suite reads a suite: a file, or what describe makes. Its title and its file stand before its tests, as Playwright writes them.
func (p *parser) suite() error {
	depth, around := len(p.titles), p.file
	p.titles = append(p.titles, "")
	err := p.fields(map[string]func() error{
		"title":  func() error { return p.text(&p.titles[depth])() },
		"file":   p.text(&p.file),
		"specs":  p.each(p.spec),
		"suites": p.each(p.suite),
	})
	p.titles, p.file = p.titles[:depth], around
	return err
}

// spec reads a test with its runs in each project.
func (p *parser) spec() error {
	title := ""
	return p.fields(map[string]func() error{
		"title": p.text(&title),
		"tests": p.each(func() error {
			t, err := p.test()
			if err != nil || t == nil {
				return err
			}
			path := append([]string{}, p.titles[min(1, len(p.titles)):]...) // the first one is the file's
			t.Name, t.Group = strings.Join(append(path, title), " › "), p.file
			if p.projects > 1 && t.project != "" {
				t.Name += " [" + t.project + "]"
			}
			return p.give(&t.Test)
		}),
	})
}

// test is a test in one project that failed, or is flaky.
type test struct {
	failing.Test

	project string
}

// test reads one; nil if it neither failed nor is flaky.
func (p *parser) test() (*test, error) {
	p.reader.Tests++
	t := &test{Test: failing.Test{Line: p.json.Line()}}
	status, expected := "", ""
	var runs []*run
	err := p.fields(map[string]func() error{
		"projectName": p.text(&t.project), "status": p.text(&status), "expectedStatus": p.text(&expected),
		"results": p.each(func() error {
			r, err := p.run()
			if len(runs) < failing.MaxDocuments {
				runs = append(runs, r)
			}
			return err
		}),
	})
	if err != nil || status != "unexpected" && status != "flaky" {
		return nil, err
	}
	t.Flaky = status == "flaky"
	for _, r := range runs {
		if d := time.Duration(r.millis) * time.Millisecond; d > t.Elapsed {
			t.Elapsed = d
		}
		p.document(t, r, expected)
	}
	return t, nil
}

// document adds the documents of a run that failed.
func (p *parser) document(t *test, r *run, expected string) {
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
