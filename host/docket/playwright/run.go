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

// parts takes an error apart: its message, its frames, and the code around it, which may stand in the message.
func (f failure) parts() (message, frames, code string) {
	var said, shown []string
	for line := range strings.Lines(cmp.Or(f.message, f.stack)) {
		switch {
		case frameBegins.MatchString(line):
			frames += line
		case codeLine.MatchString(line):
			shown = append(shown, line)
		case frames == "":
			said = append(said, line)
		}
	}
	if at := frameBegins.FindStringIndex(f.stack); at != nil {
		frames = f.stack[at[0]:]
	}
	frames = strings.TrimRight(frames, "\n")
	if place := f.file + ":" + strconv.Itoa(f.line); f.line > 0 && !strings.Contains(frames, place) {
		frames = "    at " + place + ":" + strconv.Itoa(max(1, f.column)) + "\n" + frames
	}
	return strings.TrimRight(strings.Join(said, ""), "\n "), frames, cmp.Or(f.snippet, strings.Join(shown, ""))
}

// add writes an error to those of the run.
func (r *run) add(f failure) {
	message, frames, code := f.parts()
	if !r.said.Empty() {
		r.said.Write("\n")
	}
	r.said.Write(message + "\n" + frames + "\n")
	r.code = cmp.Or(r.code, code)
}

var (
	// frameBegins is where the frames of a stack begin.
	frameBegins = regexp.MustCompile(`(?m)^ +at `)
	// codeLine is one of an excerpt of the code.
	codeLine = regexp.MustCompile(`^\s*>?\s*\d* \|`)
)

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
			r.add(f)
			return err
		}),
		"stdout": p.each(func() error { return p.printed(&r.stdout) }),
		"stderr": p.each(func() error { return p.printed(&r.stderr) }),
	})
	if r.said.Empty() && single != (failure{}) {
		r.add(single)
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
