package gotest

import (
	"maps"
	"regexp"
	"slices"
	"strings"
)

// crashed says whether a log tells of an end that is the test's own, and not that of its subtests.
func crashed(log string) bool { return crashOf(log) != "" }

// crashOf is the part of a log that begins with the first line of a crash, or nothing.
func crashOf(log string) string {
	at := 0
	for line := range strings.Lines(log) {
		if beginsCrash(line) {
			return log[at:]
		}
		at += len(line)
	}
	return ""
}

// beginsCrash says whether a crash of the test binary, or a report of the race detector, begins with a line.
func beginsCrash(line string) bool {
	return strings.HasPrefix(line, "panic: ") || strings.HasPrefix(line, "fatal error: ") || strings.HasPrefix(line, "WARNING: DATA RACE") ||
		isTimeout(line)
}

// isTimeout says whether the timeout of `go test` panics. A test that prints without line breaks stands before it on its line.
func isTimeout(line string) bool { return strings.Contains(line, "panic: test timed out after ") }

// runningLine is a test of the list that the panic of a timeout carries, as "TestA/b (1s)".
var runningLine = regexp.MustCompile(`^\t+(\S+) \([^()]+\)$`)

// runningTests are the tests that the panic of a timeout names, without those that wait for their subtests.
func runningTests(crash string) []string {
	_, list, found := strings.Cut(crash, "running tests:\n")
	if first, _, _ := strings.Cut(crash, "\n"); !found || !isTimeout(first) {
		return nil
	}
	var names []string
	for line := range strings.SplitSeq(list, "\n") {
		name := runningLine.FindStringSubmatch(line)
		if name == nil {
			break
		}
		names = append(names, name[1])
	}
	return innermost(names)
}

// innermost leaves out the tests that others of the list are subtests of.
func innermost(names []string) []string {
	parents := map[string]bool{}
	for _, name := range names {
		for i := strings.LastIndexByte(name, '/'); i >= 0; i = strings.LastIndexByte(name[:i], '/') {
			parents[name[:i]] = true
		}
	}
	return slices.DeleteFunc(names, func(name string) bool { return parents[name] })
}

// verdict is the line that tells how a test ended. What its package prints later has the test's name too, until another test runs.
type verdict byte

const (
	noVerdict verdict = iota
	failVerdict
	otherVerdict
)

// verdictOf is what a line of a test's output tells of its end.
func verdictOf(name, line string) verdict {
	rest, ok := strings.CutPrefix(strings.TrimLeft(line, " "), "--- ")
	if !ok || len(rest) < len("FAIL: ") || !strings.HasPrefix(rest[len("FAIL: "):], name+" (") {
		return noVerdict
	}
	switch rest[:len("FAIL: ")] {
	case "FAIL: ":
		return failVerdict
	case "PASS: ", "SKIP: ":
		return otherVerdict
	}
	return noVerdict
}

// leaves says whether a crash that a test's output tells of cannot be the test's: it passed, or has failed before the
// timeout. The panic that fails a test stands below its line.
func (t *test) leaves(line string) bool {
	return t.verdict == otherVerdict && beginsCrash(line) || t.verdict == failVerdict && isTimeout(line)
}

// crash is what the test binary printed when it ended early, and the open test under whose name; none if under that of a
// test that had ended, or of the package.
type crash struct{ text, test string }

// crashes are those that the logs of a package and of its open tests hold.
func (p *pack) crashes() []crash {
	var found []crash
	if text := crashOf(p.log.Text()); text != "" {
		found = append(found, crash{text: text})
	}
	for _, name := range p.open() {
		if text := crashOf(p.tests[name].log.Text()); text != "" {
			found = append(found, crash{text, name})
		}
	}
	return found
}

// open are the tests that have not ended.
func (p *pack) open() []string { return slices.Sorted(maps.Keys(p.tests)) }

// running are the open tests that neither wait for others to end nor for their subtests.
func (p *pack) running() []string {
	return slices.DeleteFunc(innermost(p.open()), func(name string) bool { return p.tests[name].paused })
}

// maxBlamed is how many tests one crash may belong to: each gets a copy of its text. More run only with a -parallel beyond it.
const maxBlamed = 64

// blamed are the tests that a crash belongs to: those that it names, that under whose name it stands, or the only one that
// runs. It is the package's if there is none.
func (p *pack) blamed(c crash, running []string) []string {
	named := slices.DeleteFunc(runningTests(c.text), func(name string) bool { return p.tests[name] == nil })
	switch {
	case len(named) > 0 && len(named) <= maxBlamed:
		return named
	case c.test != "":
		return []string{c.test}
	case len(running) == 1:
		return running
	}
	return nil
}

// failCrashed makes cases of the tests that crashes belong to. It says whether there was one, and whether one is left for the package.
func (s *reading) failCrashed(p *pack) (some, left bool) {
	crashes, running := p.crashes(), p.running()
	blamed := map[string]string{}
	for _, c := range crashes {
		names := p.blamed(c, running)
		left = left || len(names) == 0
		for _, name := range names {
			if name == c.test || blamed[name] == "" {
				blamed[name] = c.text
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(blamed)) {
		if t := p.tests[name]; !crashed(t.log.Text()) {
			t.log.Write(blamed[name])
		}
		s.failTest(p, name)
	}
	return len(crashes) > 0, left
}

// failExited makes a case of the tests that ran when the test binary ended without a word of its own, as with os.Exit.
func (s *reading) failExited(p *pack) {
	running := p.running()
	switch len(running) {
	case 0:
	case 1:
		s.failTest(p, running[0])
	default:
		var log strings.Builder
		for _, name := range running {
			log.WriteString(p.tests[name].log.Text())
		}
		p.failed = true
		s.give(failure{pack: p.path, running: running, log: log.String() + p.log.Text()})
	}
}
