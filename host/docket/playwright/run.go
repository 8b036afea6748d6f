package playwright

import (
	"cmp"
	"regexp"
	"strconv"
	"strings"

	"github.com/shadowcourt/shadowcourt/host/docket/internal/stream"
)

// run is a run of a test.
type run struct {
	status               string // passed, failed, timedOut, interrupted, skipped
	millis               int
	said, stdout, stderr stream.Clip
	code                 string // around the first error that shows it
}

// failure is an error of a run.
type failure struct {
	message, stack, snippet string
	file                    string
	line, column            int
}

// String is the error as Playwright prints it: the stack begins with the message.
func (f failure) String() string {
	message := strings.TrimRight(cmp.Or(f.message, f.stack), "\n")
	frames := ""
	if at := frameBegins.FindStringIndex(f.stack); at != nil {
		frames = strings.TrimLeft(f.stack[at[0]:], "\n") + "\n"
		if f.message == "" {
			message = strings.TrimRight(f.stack[:at[0]], "\n")
		}
	}
	text := message + "\n"
	if place := f.file + ":" + strconv.Itoa(f.line); f.line > 0 && !strings.Contains(frames, place) {
		frames = "    at " + place + ":" + strconv.Itoa(max(1, f.column)) + "\n" + frames
	}
	return text + frames
}

// frameBegins is where the frames of a stack begin.
var frameBegins = regexp.MustCompile(`(?m)^ +at `)

// colour is a sequence that colours a terminal.
var colour = regexp.MustCompile(`\x1b\[[0-9;]*[A-Za-z]`)

// plain is a text without colours.
func plain(text string) string {
	if !strings.Contains(text, "\x1b") {
		return text
	}
	return colour.ReplaceAllString(text, "")
}

// run reads a run. What it has as its error is the first of its errors.
func (p *parser) run() (*run, error) {
	r := &run{said: p.newClip(), stdout: p.newClip(), stderr: p.newClip()}
	var single failure
	err := p.fields(map[string]func() error{
		"status": p.text(&r.status), "duration": p.number(&r.millis),
		"error": func() (err error) { single, err = p.failure(); return err },
		"errors": p.each(func() error {
			f, err := p.failure()
			if !r.said.Empty() {
				r.said.Write("\n")
			}
			r.said.Write(f.String())
			r.code = cmp.Or(r.code, f.snippet)
			return err
		}),
		"stdout": p.each(func() error { return p.printed(&r.stdout) }),
		"stderr": p.each(func() error { return p.printed(&r.stderr) }),
	})
	if r.said.Empty() && single != (failure{}) {
		r.said.Write(single.String())
		r.code = single.snippet
	}
	return r, err
}

// printed reads a piece of output.
func (p *parser) printed(into *stream.Clip) error {
	text := ""
	err := p.fields(map[string]func() error{"text": p.long(&text)})
	into.Write(text)
	return err
}

func (p *parser) failure() (failure, error) {
	var f failure
	err := p.fields(map[string]func() error{
		"message": p.long(&f.message), "stack": p.long(&f.stack), "snippet": p.long(&f.snippet), "value": p.long(&f.message),
		"location": func() error {
			return p.fields(map[string]func() error{"file": p.text(&f.file), "line": p.number(&f.line), "column": p.number(&f.column)})
		},
	})
	return f, err
}
