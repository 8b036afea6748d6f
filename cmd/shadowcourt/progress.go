package main

import (
	"fmt"
	"io"
	"os"

	"golang.org/x/term"
)

// fmtWriter is where messages go.
type fmtWriter = io.Writer

// progress is one line on a terminal that says how far the work is. On
// anything else it is silent.
type progress struct {
	w     io.Writer
	shown bool
}

func newProgress(w io.Writer) *progress {
	p := &progress{}
	if f, ok := w.(*os.File); ok && term.IsTerminal(int(f.Fd())) && os.Getenv("TERM") != "dumb" {
		p.w = w
	}
	return p
}

func (p *progress) say(text string) {
	if p.w == nil {
		return
	}
	fmt.Fprintf(p.w, "\r\x1b[K%s", text)
	p.shown = true
}

// tried says how many cases were tried so far.
func (p *progress) tried(n, faults int) {
	if p.w == nil {
		return
	}
	text := fmt.Sprintf("tried %d", n)
	if faults > 0 {
		text += fmt.Sprintf(", %d could not be", faults)
	}
	p.say(text)
}

// clear takes the line away, before anything else is written.
func (p *progress) clear() {
	if p.shown {
		fmt.Fprint(p.w, "\r\x1b[K")
		p.shown = false
	}
}
