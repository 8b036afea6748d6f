package main

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

// progress tells where the run is: on a terminal in one line that changes, elsewhere in a line for each module.
type progress struct {
	mu       sync.Mutex
	out      io.Writer
	terminal bool
	from     time.Time
	modules  int
	done     int
	cases    int
}

func newProgress(out io.Writer, modules int) *progress {
	p := &progress{out: out, from: time.Now(), modules: modules}
	if f, ok := out.(*os.File); ok {
		info, err := f.Stat()
		p.terminal = err == nil && info.Mode()&os.ModeCharDevice != 0
	}
	return p
}

func (p *progress) now(m module, cause string, kept, quota int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.terminal {
		fmt.Fprintf(p.out, "\r\x1b[K%s %d of %d modules, %d cases; %s %s %d of %d", p.time(), p.done, p.modules, p.cases, m.path, cause, kept, quota)
	}
}

func (p *progress) module(m module, cases int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done++
	p.cases += cases
	if !p.terminal {
		fmt.Fprintf(p.out, "dockets: %s %d of %d modules, %d cases; %s gave %d\n", p.time(), p.done, p.modules, p.cases, m.path, cases)
	}
}

func (p *progress) end() {
	if p.terminal {
		fmt.Fprintln(p.out)
	}
}

func (p *progress) time() string { return time.Since(p.from).Round(time.Second).String() }
