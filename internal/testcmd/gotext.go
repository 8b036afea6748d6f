package testcmd

import (
	"bytes"
	"cmp"
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
	maxGoNest = 16  // how deep subtests are indented
)

// goText shows the events of `go test -json` as `go test` prints without -json: of a package that passed its last line, of one that
// failed its output with the logs of failed tests. It shows a package when that ends. What tests that run at the same time print past
// their logs is shown in the order in which they end. With -v it shows one package as it runs, and the others after it.
type goText struct {
	to      streams
	verbose bool
	current string // with -v: the package that is shown
	line    []byte
	long    bool // the line is too long, and passed over
	packs   map[string]*goPack
	begun   int  // packages and tests so far
	failed  bool // a package has
	held    int
}

// goPack is a package whose tests run.
type goPack struct {
	number int
	block  goBlock
	ended  bool
	last   string // its last line of output
	tests  map[string]*goBlock
	held   int // of what goText holds
	cut    bool
}

// goBlock is the output of a test or a package: what it printed before its result, the result, its log, and what came behind.
type goBlock struct {
	number                   int
	before, head, log, after bytes.Buffer
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

// Flush shows packages that have not ended, as far as their tests failed or still run.
func (g *goText) Flush() {
	if len(g.line) > 0 && !g.long {
		g.take(g.line)
	}
	g.line = nil
	names := g.names()
	for _, name := range names {
		if p := g.packs[name]; p != nil && g.verbose {
			g.write(p)
			g.current = name
		}
		g.end(name, true)
	}
	if g.failed && len(names) == 0 {
		_, _ = io.WriteString(g.to.out, "FAIL\n")
	}
}

// names are the packages that run, in the order in which they began.
func (g *goText) names() []string {
	return slices.SortedFunc(maps.Keys(g.packs), func(a, b string) int { return cmp.Compare(g.packs[a].number, g.packs[b].number) })
}

// follow shows output of the package that is shown, and holds that of others.
func (g *goText) follow(name, text string) {
	p := g.pack(name)
	if g.current == "" {
		g.current = name
	}
	switch {
	case name == g.current:
		_, _ = io.WriteString(g.to.out, text)
	case p != nil && g.hold(p, len(text)):
		p.block.log.WriteString(text)
	}
}

// next shows the packages that ended while another was shown, and makes one that runs the one that is shown.
func (g *goText) next() {
	g.current = ""
	for _, name := range g.names() {
		p := g.packs[name]
		g.write(p)
		if !p.ended {
			g.current = name
			return
		}
		delete(g.packs, name)
		g.held -= p.held
	}
}

// write shows what is held of a package.
func (g *goText) write(p *goPack) {
	_, _ = g.to.out.Write(p.block.log.Bytes())
	g.hold(p, -p.block.log.Len())
	p.block.log.Reset()
	if p.cut {
		_, _ = io.WriteString(g.to.out, "(more output than is shown here)\n")
	}
	p.cut = false
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
	switch {
	case e.Action == "build-output":
		_, _ = io.WriteString(g.to.err, e.Output)
	case g.verbose && e.Action == "output":
		g.follow(e.Package, e.Output)
	case g.verbose && e.Test != "":
	case e.Action == "output":
		g.output(e.Package, e.Test, e.Output)
	case e.Test != "" && (e.Action == "pass" || e.Action == "fail" || e.Action == "skip"):
		if p := g.packs[e.Package]; p != nil {
			g.endTest(p, e.Test, e.Action == "fail")
		}
	case e.Action == "pass" || e.Action == "fail" || e.Action == "skip":
		g.failed = g.failed || e.Action == "fail"
		g.end(e.Package, e.Action == "fail")
	}
}

// pack gives a package, nil if no more can be held.
func (g *goText) pack(name string) *goPack {
	p := g.packs[name]
	if p == nil && g.held+goTestFix+len(name) <= maxGoHeld {
		g.begun++
		p = &goPack{number: g.begun, tests: map[string]*goBlock{}}
		g.hold(p, goTestFix+len(name))
		g.packs[name] = p
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
	if test == "" {
		if p.last = text; len(text) <= maxGoLine && text != "PASS\n" && g.hold(p, len(text)) {
			p.block.log.WriteString(text)
		}
		return
	}
	b := p.tests[test]
	if b == nil {
		if !g.hold(p, goTestFix+len(test)) {
			return
		}
		g.begun++
		b = &goBlock{number: g.begun}
		p.tests[test] = b
	}
	trimmed := strings.TrimLeft(text, " ")
	for _, noise := range []string{"=== RUN ", "=== PAUSE ", "=== CONT ", "=== NAME ", "=== ATTR ", "=== ARTIFACTS ", "--- PASS: ", "--- SKIP: "} {
		if strings.HasPrefix(trimmed, noise) {
			return
		}
	}
	if !g.hold(p, len(text)) {
		return
	}
	switch {
	case strings.HasPrefix(trimmed, "--- FAIL: "+test+" ("):
		b.head.WriteString(trimmed)
	case strings.HasPrefix(text, "    "):
		b.log.WriteString(text)
	case b.head.Len() > 0:
		b.after.WriteString(text)
	default:
		b.before.WriteString(text)
	}
}

// endTest moves the output of a test to the test around it, or to its package. Of one that passed only what it printed is kept.
func (g *goText) endTest(p *goPack, name string, failed bool) {
	b := p.tests[name]
	if b == nil {
		return
	}
	delete(p.tests, name)
	g.hold(p, -goTestFix-len(name))
	around, indent := &p.block, ""
	for up := name; around == &p.block && strings.Count(name, "/") <= maxGoNest; {
		i := strings.LastIndexByte(up, '/')
		if i < 0 {
			break
		}
		if up = up[:i]; p.tests[up] != nil {
			around, indent = p.tests[up], "    "
		}
	}
	if indent == "" { // as it stands in the output of a package
		around.log.Write(b.before.Bytes())
	} else {
		around.before.Write(b.before.Bytes())
	}
	if failed {
		text := b.head.String() + b.log.String()
		if !g.hold(p, len(indent)*(1+strings.Count(text, "\n"))) {
			indent = ""
		}
		writeIndented(&around.log, indent, text)
	} else {
		g.hold(p, -b.head.Len()-b.log.Len())
	}
	around.log.Write(b.after.Bytes())
}

func writeIndented(to *bytes.Buffer, indent, text string) {
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "    ") || strings.HasPrefix(line, "--- ") {
			to.WriteString(indent)
		}
		to.WriteString(line)
	}
}

// end shows a package.
func (g *goText) end(name string, failed bool) {
	p := g.packs[name]
	if p == nil {
		return
	}
	if g.verbose && name != g.current {
		p.ended = true
		return
	}
	delete(g.packs, name)
	switch {
	case g.verbose:
	case failed:
		own := bytes.Clone(p.block.log.Bytes())
		p.block.log.Reset()
		// Tests that a crash has left open, the innermost first.
		open := slices.SortedFunc(maps.Keys(p.tests), func(a, b string) int { return cmp.Compare(p.tests[b].number, p.tests[a].number) })
		for _, test := range open {
			g.endTest(p, test, true)
		}
		p.block.log.Write(own)
		g.write(p)
	default:
		_, _ = io.WriteString(g.to.out, p.last)
	}
	if g.held -= p.held; g.verbose {
		g.next()
	}
}
