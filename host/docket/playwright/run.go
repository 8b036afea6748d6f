package playwright

import (
	"cmp"
	"regexp"
	"strconv"
	"strings"

	"github.com/shadowcourt/shadowcourt/host/docket/internal/jsontext"
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

// run returns a reader of a run. What it has as its error is the first of its errors.
func (p *parser) run(r *run) func() error {
	var single, one failure
	readOne := p.failure(&one)
	read := p.Read(jsontext.Fields{
		"status": p.text(&r.status), "duration": p.whole(&r.millis), "error": p.failure(&single),
		"errors": p.List(func() error {
			err := readOne()
			r.add(one)
			return err
		}),
		"stdout": p.printed(&r.stdout), "stderr": p.printed(&r.stderr),
	})
	return func() error {
		*r, single = run{said: p.newClip(), stdout: p.newClip(), stderr: p.newClip()}, failure{}
		err := read()
		if r.said.Empty() && single != (failure{}) {
			r.add(single)
		}
		return err
	}
}

// printed returns a reader of pieces of output.
func (p *parser) printed(into *stream.Clip) func() error {
	text := ""
	read := p.Read(jsontext.Fields{"text": p.long(&text)})
	return p.List(func() error {
		text = ""
		err := read()
		into.Write(text)
		return err
	})
}

func (p *parser) failure(f *failure) func() error {
	read := p.Read(jsontext.Fields{
		"message": p.long(&f.message), "stack": p.long(&f.stack), "snippet": p.long(&f.snippet), "value": p.long(&f.message),
		"location": p.Read(jsontext.Fields{"file": p.text(&f.file), "line": p.whole(&f.line), "column": p.whole(&f.column)}),
	})
	return func() error {
		*f = failure{}
		return read()
	}
}
