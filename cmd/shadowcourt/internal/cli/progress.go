package cli

import (
	"fmt"
	"io"
	"os"
	"sync"

	snip "github.com/jedib0t/go-pretty/v6/text"
	"golang.org/x/term"
)

// Progress is one line on a terminal that says how far the work is. On
// anything else it is silent. It is safe for concurrent use.
type Progress struct {
	w     io.Writer
	width func() int // in columns; text beyond would stay when the line is cleared
	mu    sync.Mutex // experiments report beside the run
	shown bool
}

// NewProgress shows progress where w is a terminal.
func NewProgress(w io.Writer) *Progress {
	p := &Progress{}
	if f, ok := w.(*os.File); ok && term.IsTerminal(int(f.Fd())) && os.Getenv("TERM") != "dumb" {
		p.w, p.width = w, func() int {
			width, _, err := term.GetSize(int(f.Fd()))
			if err != nil {
				return 0
			}
			return width
		}
	}
	return p
}

// Live says whether anybody sees it.
func (p *Progress) Live() bool { return p.w != nil }

// Say shows a text in place of the one before.
func (p *Progress) Say(text string) {
	if p.w == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if width := p.width(); width > 1 {
		text = snip.Snip(text, width-1, "…")
	}
	fmt.Fprintf(p.w, "\r\x1b[K%s", text)
	p.shown = true
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
	if p.shown {
		fmt.Fprint(p.w, "\r\x1b[K")
		p.shown = false
	}
}
