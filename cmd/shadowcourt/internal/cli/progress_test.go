package cli

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// Where there is no terminal, the log says now and then how far a long run is, and a short one says nothing.
func TestAccept_FZ9_ProgressWithoutATerminal(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	var next func()
	timers := 0
	p := &Progress{w: &out, after: func(d time.Duration, do func()) {
		if d != PlainInterval {
			t.Errorf("a line after %s", d)
		}
		next = do
		timers++
	}}
	p.Say("loading modules")
	p.Clear()
	for mb := range int64(87) {
		p.Say(fmt.Sprintf("read %d MB of report.json", mb))
	}
	if out.Len() > 0 || timers != 1 {
		t.Errorf("%d timers, and at once %q", timers, out.String())
	}
	next()
	p.Tried(7, 0)
	p.Tried(8, 2)
	next()
	const want = "progress: read 86 MB of report.json\nprogress: tried 8, 2 could not be\n"
	if out.String() != want || timers != 2 {
		t.Errorf("%d timers and %q, want %q", timers, out.String(), want)
	}
	p.Say("measuring")
	p.Clear()
	next()
	if out.String() != want || timers != 3 {
		t.Errorf("%d timers and %q after the end", timers, out.String())
	}
}

// What is neither a terminal nor a file is told nothing: it may be the buffer of a program that embeds the command.
func TestProgressIsSilentForOtherWriters(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	p := NewProgress(&out)
	p.after = func(time.Duration, func()) { t.Error("a timer") }
	p.Say("loading modules")
	p.Tried(1, 0)
	p.Clear()
	if out.Len() > 0 || p.Live() {
		t.Error(out.String())
	}
}
