package run

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"regexp"
	"strconv"
	"strings"

	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/docket/gotest"
)

// What `go test` prints for people is turned into events, for the reader of events: its lines say which tests failed, and which package
// they are of when that ends. `go tool test2json` does the same for one package, and takes the name of none from its input.

var (
	eventLine   = regexp.MustCompile(`(?m)^\{.*"Action":"`)
	resultLine  = regexp.MustCompile(`^(ok  |FAIL|\?   )\t(\S+)(.*)$`) // ends a package
	courseLine  = regexp.MustCompile(`^=== (RUN|PAUSE|CONT|NAME)\s+(\S*)$`)
	testEndLine = regexp.MustCompile(`^--- (FAIL|PASS|SKIP): (\S+) \(\d`)
	buildLine   = regexp.MustCompile(`^# \S+( \[\S+\])?$`)
	buildText   = regexp.MustCompile(`^(\S+\.go:\d+|\s|#|/|vet: |too many errors|note: |collect2|ld: )`)
	// runsLine is a test of the list in the panic of a timeout.
	runsLine = regexp.MustCompile(`^\t+(\S+) \([^()]+\)$`)
	// crashLine begins what the runtime prints, which belongs to the test that ended last.
	crashLine = regexp.MustCompile(`^(panic: |fatal error: |={18}$|WARNING: DATA RACE|goroutine \d+ |SIG[A-Z]+: )`)
)

// maxBlockBytes is how much output waits for the line that names its package; what is beyond it is left out.
const maxBlockBytes = 32 << 20

// isGoText says whether a text that begins so is what `go test` prints for people, and no stream of events.
func isGoText(head []byte) bool { return goTestLine.Match(head) && !eventLine.Match(head) }

// goTests reads events of `go test -json`, or what `go test` prints for people, of which said is told.
func goTests(r *gotest.Reader, in *input, said func(name string)) iter.Seq2[docket.Entry, error] {
	r.Live = in.live
	_, _ = in.reader.Peek(1)
	if head, _ := in.reader.Peek(in.reader.Buffered()); !isGoText(head) {
		return r.Read(in.name, in.reader)
	}
	return func(yield func(docket.Entry, error) bool) {
		unread := r.Unread
		r.Unread = nil // of the events, which are ours
		defer func() { r.Unread = unread }()
		said(in.name)
		text := &goText{in: in.reader, lines: map[int]int{}}
		for entry, err := range r.Read(in.name, text) {
			entry.Line = text.lines[entry.Line]
			if fault, ok := errors.AsType[*docket.LineError](err); ok {
				fault.Line = text.lines[fault.Line]
			}
			if !yield(entry, err) {
				return
			}
		}
	}
}

// goEvent is an event of `go test -json`.
type goEvent struct {
	Action  string `json:"Action"`
	Package string `json:"Package,omitempty"`
	Test    string `json:"Test,omitempty"`
	Output  string `json:"Output,omitempty"`

	line int
}

// goText gives the events of a text. Not safe for concurrent use.
type goText struct {
	in    *bufio.Reader
	line  int  // of the text, from 1
	inner bool // the next part goes on in a line
	err   error
	out   bytes.Buffer
	// lines are those of the text, by the number of an event that tells of a failure.
	lines  map[int]int
	events int

	block   []goEvent
	held    int       // bytes of output in the block
	cut     int       // bytes that were left out
	ended   []goEvent // tests that ended, each in the one before; their logs follow
	test    string    // that prints
	verbose bool      // the text tells what begins
	crashed bool
	build   bool // errors of a build are told
}

// Read gives the events, a line each.
func (g *goText) Read(p []byte) (int, error) {
	for g.out.Len() == 0 {
		if g.err != nil {
			return 0, g.err
		}
		line, err := g.in.ReadSlice('\n')
		if g.err = err; errors.Is(err, bufio.ErrBufferFull) {
			g.err = nil // a long line comes in parts
		}
		if !g.inner {
			g.line++
		}
		if len(line) > 0 {
			g.take(string(line), g.inner)
		}
		if g.inner = errors.Is(err, bufio.ErrBufferFull); errors.Is(err, io.EOF) {
			g.end("", "")
		}
	}
	return g.out.Read(p)
}

// take takes a line, or a further part of one.
func (g *goText) take(line string, part bool) {
	text := strings.TrimRight(line, "\r\n")
	switch result := resultLine.FindStringSubmatch(text); {
	case part:
		g.output(line)
	case strings.HasPrefix(text, "{") && eventLine.MatchString(text):
		g.raw(line) // of another command that wrote into the text
	case result != nil:
		g.build = false
		if strings.Contains(result[3], "[build failed]") || strings.Contains(result[3], "[setup failed]") {
			g.end("", "")
			g.lines[g.events+1] = g.line
			g.raw(line)
			return
		}
		g.close(0)
		g.output(line)
		g.end(map[string]string{"ok  ": "pass", "FAIL": "fail", "?   ": "skip"}[result[1]], result[2])
	case text == "PASS" || text == "FAIL":
		g.build = false
		g.close(0)
		g.output(text + "\n")
	case g.takeCourse(text, line), g.takeEnd(text, line):
		g.build = false
	case g.build && buildText.MatchString(text), len(g.block) == 0 && buildLine.MatchString(text):
		g.build = true
		g.raw(line)
	default:
		g.build = false
		g.output(line[g.attribute(text):])
	}
}

// takeCourse takes a line that tells that a test begins, waits or goes on.
func (g *goText) takeCourse(text, line string) bool {
	m := courseLine.FindStringSubmatch(text)
	if m == nil {
		return false
	}
	g.close(0)
	g.verbose, g.test = true, m[2]
	if action := map[string]string{"RUN": "run", "PAUSE": "pause", "CONT": "cont"}[m[1]]; action != "" && m[2] != "" {
		g.block = append(g.block, goEvent{Action: action, Test: m[2]})
	}
	g.output(line)
	return true
}

// takeEnd takes a line that tells that a test ended. The end is told behind its log, which follows.
func (g *goText) takeEnd(text, line string) bool {
	depth := indentation(text)
	m := testEndLine.FindStringSubmatch(text[4*depth:])
	if m == nil {
		return false
	}
	g.close(depth)
	g.test = m[2]
	g.ended = append(g.ended, goEvent{Action: strings.ToLower(m[1]), Test: m[2], line: g.line})
	g.output(line[4*depth:])
	return true
}

// attribute finds the test that printed a line: by the indentation of logs, or the one that runs. Where the text does not tell what runs,
// any test may have printed a line that is not indented, and it is the package's. It gives how many blanks stand before the log of a subtest.
func (g *goText) attribute(text string) (blanks int) {
	g.crashed = g.crashed || crashLine.MatchString(text)
	if m := runsLine.FindStringSubmatch(text); m != nil && g.crashed && !g.verbose {
		g.block = append(g.block, goEvent{Action: "run", Test: m[1]})
	}
	depth := indentation(text)
	switch {
	case g.crashed || text == "":
	case depth > 0 && depth <= len(g.ended):
		g.test = g.ended[depth-1].Test
		return 4 * (depth - 1)
	case depth > 0 && len(g.ended) > 0: // a log of several lines
		return 4 * (len(g.ended) - 1)
	case depth == 0 && !g.verbose:
		g.test = ""
	}
	return 0
}

// indentation is how many times four blanks begin a line.
func indentation(text string) int {
	n := 0
	for strings.HasPrefix(text[4*n:], "    ") {
		n++
	}
	return n
}

// close tells the ends of tests below a depth.
func (g *goText) close(depth int) {
	g.test = ""
	for len(g.ended) > depth {
		last := len(g.ended) - 1
		g.block = append(g.block, g.ended[last])
		g.ended = g.ended[:last]
	}
}

func (g *goText) output(line string) {
	if g.held += len(line); g.held > maxBlockBytes {
		g.cut += len(line)
		return
	}
	g.block = append(g.block, goEvent{Action: "output", Test: g.test, Output: line})
}

// raw gives a line as it is.
func (g *goText) raw(line string) {
	g.out.WriteString(strings.TrimRight(line, "\r\n") + "\n")
	g.events++
}

// end gives the block as events of a package, and how that ended; without a name as those of no package.
func (g *goText) end(action, name string) {
	g.close(0)
	if g.cut > 0 {
		g.block = append(g.block, goEvent{Action: "output", Output: "[... " + strconv.Itoa(g.cut) + " bytes cut here ...]\n"})
	}
	if action != "" {
		g.block = append(g.block, goEvent{Action: action, line: g.line})
	}
	for _, e := range g.block {
		e.Package = name
		g.emit(e)
	}
	g.block, g.held, g.cut, g.test, g.verbose, g.crashed = g.block[:0], 0, 0, "", false, false
}

func (g *goText) emit(e goEvent) {
	line, err := json.Marshal(e)
	if err != nil {
		return // strings alone can always be written
	}
	g.raw(string(line))
	if e.Action == "fail" {
		g.lines[g.events] = e.line
	}
}
