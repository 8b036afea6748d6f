package cli

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	snip "github.com/jedib0t/go-pretty/v6/text"
	"golang.org/x/term"
)

// Progress says how far the work is: in one line on a terminal, and in a file or a pipe, such as the log of a CI job, by a line every
// [PlainInterval] in which there was news, unless the variable SHADOWCOURT_PROGRESS is "off". On any other writer it is silent. It is
// safe for concurrent use.
type Progress struct {
	w     io.Writer
	width func() int                  // in columns; text beyond would stay when the line is cleared. nil where w is no terminal
	after func(time.Duration, func()) // calls a function later
	mu    sync.Mutex                  // experiments report beside the run
	shown bool

	text    string // what the next plain line says; empty for nothing
	waiting bool   // for the next plain line
}

// PlainInterval is the time between two lines where there is no terminal.
const PlainInterval = 30 * time.Second

// NewProgress shows progress on w.
func NewProgress(w io.Writer) *Progress {
	p := &Progress{after: func(d time.Duration, do func()) { time.AfterFunc(d, do) }}
	f, ok := w.(*os.File)
	if !ok {
		return p
	}
	switch {
	case term.IsTerminal(int(f.Fd())) && os.Getenv("TERM") != "dumb":
		p.w, p.width = w, func() int {
			width, _, err := term.GetSize(int(f.Fd()))
			if err != nil {
				return 0
			}
			return width
		}
	case os.Getenv("SHADOWCOURT_PROGRESS") != "off":
		p.w = w
	}
	return p
}

// Live says whether somebody sees it at once.
func (p *Progress) Live() bool { return p.width != nil }

// Say shows a text in place of the one before.
func (p *Progress) Say(text string) {
	if p.w == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.Live() {
		p.text = text
		p.wait()
		return
	}
	if width := p.width(); width > 1 {
		text = snip.Snip(text, width-1, "…")
	}
	fmt.Fprintf(p.w, "\r\x1b[K%s", text)
	p.shown = true
}

// wait has the next plain line written, where none is to come. The caller holds the lock.
func (p *Progress) wait() {
	if !p.waiting {
		p.waiting = true
		p.after(PlainInterval, p.line)
	}
}

// line writes a plain line.
func (p *Progress) line() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.waiting = false
	if p.text != "" {
		fmt.Fprintln(p.w, "progress: "+p.text)
		p.text = ""
	}
}

// Read says how much of the input was read so far.
func (p *Progress) Read(name string, bytes int64) {
	p.Say(fmt.Sprintf("read %d MB of %s", bytes>>20, name))
}

// Tried says how many cases were tried so far.
func (p *Progress) Tried(n, faults int) {
	if p.w == nil {
		return
	}
	text := fmt.Sprintf("tried %d", n)
	if faults > 0 {
		text += fmt.Sprintf(", %d could not be", faults)
	}
	p.Say(text)
}

// Clear takes the line away, before anything else is written.
func (p *Progress) Clear() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.text = ""
	if p.shown {
		fmt.Fprint(p.w, "\r\x1b[K")
		p.shown = false
	}
}
