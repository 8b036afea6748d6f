package testcmd

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"slices"
	"strings"
)

// The bounds of what is held to show it later. What is beyond them is in the report, and is not shown.
const (
	maxGoLine = 1 << 20
	maxGoHeld = 32 << 20
	goTestFix = 256 // what a test or a package costs beside its output, in bytes
)

// goText shows the events of `go test -json` to people: of a package that passed its last line, and of one that failed what its tests
// printed and the logs of those that failed, when the package ends. With -v it shows one package as it runs, and the others after it.
type goText struct {
	to      streams
	verbose bool
	current string // with -v: the package that is shown
	line    []byte
	long    bool // the line is too long, and passed over
	packs   map[string]*goPack
	order   []string // of the packages, as they began
	failed  bool     // a package has
	held    int
}

// goPack is a package whose tests run.
type goPack struct {
	tests map[string]*bytes.Buffer // that have not ended
	ended bytes.Buffer             // of tests that have
	own   bytes.Buffer             // of the package; with -v all
	last  string                   // its last line of output
	over  bool                     // it has ended
	held  int                      // of what goText holds
	cut   bool
}

func newGoText(to streams, verbose bool) *goText {
	return &goText{to: to, verbose: verbose, packs: map[string]*goPack{}}
}

// Show takes a part of the events.
func (g *goText) Show(data []byte) {
	for len(data) > 0 {
		part, rest, whole := bytes.Cut(data, []byte("\n"))
		data = rest
		if g.long = g.long || len(g.line)+len(part) > maxGoLine; !g.long {
			g.line = append(g.line, part...)
		}
		if whole {
			if !g.long {
				g.take(g.line)
			}
			g.line, g.long = g.line[:0], false
		}
	}
}

// Flush shows packages that have not ended, as if they had failed.
func (g *goText) Flush() {
	if len(g.line) > 0 && !g.long {
		g.take(g.line)
	}
	g.line = nil
	none := len(g.packs) == 0
	for len(g.order) > 0 {
		g.current = ""
		g.end(g.order[0], true)
	}
	if g.failed && none {
		_, _ = io.WriteString(g.to.out, "FAIL\n")
	}
}

func (g *goText) take(line []byte) {
	var e struct {
		Action  string `json:"Action"`
		Package string `json:"Package"`
		Test    string `json:"Test"`
		Output  string `json:"Output"`
	}
	if len(line) == 0 || line[0] != '{' || json.Unmarshal(line, &e) != nil || e.Action == "" {
		_, _ = g.to.out.Write(append(line, '\n')) // of the go command, or of a program that writes past it
		return
	}
	ends := e.Action == "pass" || e.Action == "fail" || e.Action == "skip"
	switch p := g.packs[e.Package]; {
	case e.Action == "build-output":
		_, _ = io.WriteString(g.to.err, e.Output)
	case e.Action == "output":
		g.output(e.Package, e.Test, e.Output)
	case ends && e.Test != "" && p != nil:
		g.endTest(p, e.Test, e.Action == "fail")
	case ends && e.Test == "":
		g.failed = g.failed || e.Action == "fail"
		g.end(e.Package, e.Action == "fail")
	}
}

// pack gives a package, nil if no more can be held.
func (g *goText) pack(name string) *goPack {
	p := g.packs[name]
	if p == nil && g.held+goTestFix+len(name) <= maxGoHeld {
		p = &goPack{tests: map[string]*bytes.Buffer{}}
		g.hold(p, goTestFix+len(name))
		g.packs[name] = p
		g.order = append(g.order, name)
	}
	return p
}

// hold says whether so many bytes more can be held of a package.
func (g *goText) hold(p *goPack, n int) bool {
	if g.held+n > maxGoHeld {
		p.cut = true
		return false
	}
	g.held += n
	p.held += n
	return true
}

func (g *goText) output(pack, test, text string) {
	p := g.pack(pack)
	if p == nil {
		return
	}
	if g.verbose {
		if g.current == "" {
			g.current = pack
		}
		if pack == g.current {
			_, _ = io.WriteString(g.to.out, text)
		} else if g.hold(p, len(text)) {
			p.own.WriteString(text)
		}
		return
	}
	if test == "" {
		if p.last = text; len(text) <= maxGoLine && text != "PASS\n" && g.hold(p, len(text)) {
			p.own.WriteString(text)
		}
		return
	}
	trimmed := strings.TrimLeft(text, " ")
	for _, noise := range []string{"=== RUN ", "=== PAUSE ", "=== CONT ", "=== NAME ", "=== ATTR ", "=== ARTIFACTS ", "--- PASS: ", "--- SKIP: "} {
		if strings.HasPrefix(trimmed, noise) {
			return
		}
	}
	if p.tests[test] == nil && g.hold(p, goTestFix+len(test)) {
		p.tests[test] = &bytes.Buffer{}
	}
	if log := p.tests[test]; log != nil && g.hold(p, len(text)) {
		log.WriteString(text)
	}
}

// endTest keeps the output of a test: of one that passed only what it printed.
func (g *goText) endTest(p *goPack, name string, failed bool) {
	log := p.tests[name]
	if log == nil {
		return
	}
	delete(p.tests, name)
	g.hold(p, -goTestFix-len(name))
	for line := range bytes.Lines(log.Bytes()) {
		if failed || !bytes.HasPrefix(line, []byte("    ")) {
			p.ended.Write(line)
		} else {
			g.hold(p, -len(line))
		}
	}
}

// end shows a package.
func (g *goText) end(name string, failed bool) {
	p := g.packs[name]
	if p == nil {
		return
	}
	if p.over = true; g.verbose && g.current != "" && name != g.current {
		return
	}
	for _, test := range slices.Sorted(maps.Keys(p.tests)) { // that a crash has left open
		g.endTest(p, test, true)
	}
	if failed || g.verbose {
		g.show(p)
	} else {
		_, _ = io.WriteString(g.to.out, p.last)
	}
	g.remove(name, p)
	if !g.verbose {
		return
	}
	for g.current = ""; g.current == "" && len(g.order) > 0; { // those that waited, up to one that runs
		next := g.order[0]
		p := g.packs[next]
		if g.show(p); p.over {
			g.remove(next, p)
		} else {
			g.current = next
		}
	}
}

// show shows what is held of a package.
func (g *goText) show(p *goPack) {
	for _, text := range []*bytes.Buffer{&p.ended, &p.own} {
		_, _ = g.to.out.Write(text.Bytes())
		g.hold(p, -text.Len())
		text.Reset()
	}
	if p.cut {
		_, _ = io.WriteString(g.to.out, "(more output than is shown here)\n")
	}
	p.cut = false
}

func (g *goText) remove(name string, p *goPack) {
	delete(g.packs, name)
	g.order = slices.DeleteFunc(g.order, func(other string) bool { return other == name })
	g.held -= p.held
}
