package gotest

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/docket/internal/report"
	"github.com/shadowcourt/shadowcourt/host/docket/internal/stream"
)

// reading is the state of one reading.
type reading struct {
	reader  *Reader
	name    string
	yield   func(docket.Entry, error) bool
	stopped bool
	line    int
	events  int

	packages map[string]*pack
	builds   map[string]*stream.Clip // the build output of import paths
	built    map[string][]string     // import paths by their names, without what they are built for
	order    []string                // import paths, in the order of their output
	failed   []string                // import paths that failed to build
	named    map[string]bool         // those of them that a package has named
	section  *stream.Clip            // the build output that lines that are no events belong to
	loose    stream.Clip             // those that belong to no package
	unread   Unread
	history  history
}

// pack is a package whose tests run.
type pack struct {
	path       string
	log        stream.Clip
	tests      map[string]*test
	benchmarks bool // one began
	failed     bool // a case was made of one of its tests
	crashed    bool // and that test crashed
	done       bool // all tests have run
	// silent are subtests that failed without a word: what ended them may stand below the lines of the tests around them.
	silent []failure
}

// test is a test that runs.
type test struct {
	log         stream.Clip
	childFailed bool
	began       bool // an event told so
	paused      bool
	verdict     verdict
	left        bool // what is printed under its name is the package's
}

func (r *Reader) newReading(name string, yield func(docket.Entry, error) bool) *reading {
	s := &reading{
		reader: r, name: name, yield: yield, packages: map[string]*pack{}, builds: map[string]*stream.Clip{}, built: map[string][]string{}, named: map[string]bool{},
		history: history{runs: map[testKey]*report.Runs{}},
	}
	s.loose = s.newBuildClip()
	return s
}

func (s *reading) newClip() stream.Clip {
	return stream.NewClip(s.reader.HeadBytes, s.reader.TailBytes)
}

func (s *reading) problem(line int, code abi.Code, detail string) {
	s.problems(line, abi.Problem{Code: code, Detail: detail})
}

func (s *reading) problems(line int, list ...abi.Problem) {
	if s.stopped {
		return
	}
	err := &docket.LineError{File: s.name, Line: line, Problems: list}
	s.stopped = !s.yield(docket.Entry{}, err)
}

func (s *reading) handle(e event) {
	s.section = nil
	switch e.Action {
	case "build-output":
		s.build(e.ImportPath).Write(e.Output)
	case "build-fail":
		if e.ImportPath == "" {
			s.lacks("ImportPath")
			return
		}
		s.failed = append(s.failed, e.ImportPath)
	case "output":
		s.output(e)
	case "start":
		s.pack(e.Package)
	case "run", "pause", "cont":
		s.run(s.pack(e.Package), e.Test, e.Action)
	case "fail":
		switch {
		case e.Test != "":
			s.reader.Tests++
			s.failTest(s.pack(e.Package), e.Test)
		case e.Package == "" && s.packages[""] == nil: // test2json without -p names none, but has told of it before
			s.lacks("Package")
		default:
			s.failPackage(s.pack(e.Package), e.FailedBuild)
		}
	case "pass", "skip":
		if e.Test != "" {
			s.reader.Tests++
			delete(s.pack(e.Package).tests, e.Test)
			if e.Action == "pass" {
				s.history.ended(testKey{e.Package, e.Test}, true)
			}
		} else {
			s.account(s.pack(e.Package), e.Action)
			s.closePackage(e.Package)
			if e.Action == "pass" && s.reader.Passed != nil {
				s.reader.Passed(e.Package)
			}
		}
	}
}

// account rejects the good end of a package of which a test has not ended. No event ends a benchmark.
func (s *reading) account(p *pack, end string) {
	for _, name := range p.open() {
		if t := p.tests[name]; t.began && t.verdict == noVerdict && !strings.HasPrefix(name, "Benchmark") {
			s.problem(s.line, abi.CodeTruncated, "is the end ("+end+") of "+p.path+", of which "+report.Bounded(name)+" has begun and not ended")
			return
		}
	}
}

// lacks reports an event of something that failed, and that nobody can name.
func (s *reading) lacks(field string) {
	s.problems(s.line, abi.Problem{Path: abi.Path{abi.Field(field)}, Code: abi.CodeMissingField, Detail: "is missing: it is not known what failed"})
}

func (s *reading) pack(path string) *pack {
	p := s.packages[path]
	if p == nil {
		p = &pack{path: path, log: s.newClip(), tests: map[string]*test{}}
		s.packages[path] = p
	}
	return p
}

func (s *reading) test(p *pack, name string) *test {
	t := p.tests[name]
	if t == nil {
		t = &test{log: s.newClip()}
		p.tests[name] = t
	}
	return t
}

// The build output of a package that others import may explain their failures until the stream ends. This much of it is kept, and given to
// a package whose own is not known; the go command prints ten errors of a package.
const (
	maxBuilds     = 1024
	maxBuildBytes = 32 << 10 // of the head, and of the tail
)

func (s *reading) newBuildClip() stream.Clip {
	c := s.newClip()
	c.MaxHead, c.MaxTail = min(c.MaxHead, maxBuildBytes), min(c.MaxTail, maxBuildBytes)
	return c
}

// build is where the build output of an import path goes; what is beyond the most that is kept goes nowhere.
func (s *reading) build(importPath string) *stream.Clip {
	c := s.builds[importPath]
	if c == nil {
		fresh := s.newBuildClip()
		c = &fresh
		if len(s.builds) < maxBuilds {
			s.builds[importPath] = c
			s.order = append(s.order, importPath)
			name, _, _ := strings.Cut(importPath, " ")
			s.built[name] = append(s.built[name], importPath)
		}
	}
	return c
}

func (s *reading) output(e event) {
	p := s.pack(e.Package)
	if e.Test == "" {
		p.done = p.done || e.Output == "PASS\n" || e.Output == "FAIL\n"
		p.log.Write(e.Output)
		return
	}
	t := s.test(p, e.Test)
	if t.left = t.left || t.leaves(e.Output); t.left {
		p.log.Write(e.Output)
		return
	}
	t.log.Write(e.Output)
	if v := verdictOf(e.Test, e.Output); v != noVerdict {
		t.verdict = v
	}
}

// run notes that a test begins, or that it waits for others. No event tells that a benchmark has ended: it has when another begins.
func (s *reading) run(p *pack, name, action string) {
	if action == "run" && p.benchmarks {
		maps.DeleteFunc(p.tests, func(open string, _ *test) bool {
			return strings.HasPrefix(open, "Benchmark") && !strings.HasPrefix(name, open+"/")
		})
	}
	p.benchmarks = p.benchmarks || strings.HasPrefix(name, "Benchmark")
	t := s.test(p, name)
	t.began, t.paused = t.began || action == "run", action == "pause"
}

func notBuilt(log string) bool {
	return strings.Contains(log, "[build failed]") || strings.Contains(log, "[setup failed]")
}

func (s *reading) failTest(p *pack, name string) {
	t := s.test(p, name)
	delete(p.tests, name)
	s.history.ended(testKey{p.path, name}, false)
	if i := strings.LastIndexByte(name, '/'); i >= 0 {
		if parent := p.tests[name[:i]]; parent != nil {
			parent.childFailed = true
		}
	}
	log := t.log.Text()
	defer s.giveSilent(p, name)
	if t.childFailed && !crashed(log) {
		return
	}
	p.failed = true
	p.crashed = p.crashed || crashed(log)
	if silent := p.silentBelow(name); silent != nil && endsSubtest(crashOf(log), name) {
		silent.log += crashOf(log)
		return
	}
	f := failure{pack: p.path, test: name, log: log}
	if strings.Contains(name, "/") && isSilent(log) && len(p.silent) < maxSilent {
		p.silent = append(p.silent, f)
		return
	}
	s.give(f)
}

// maxSilent is how many subtests that failed without a word wait for the end of the test that began them.
const maxSilent = 64

// isSilent says whether a log has nothing but the lines that tell of the test's course and its end.
func isSilent(log string) bool {
	for line := range strings.Lines(log) {
		if line = strings.TrimLeft(line, " "); !strings.HasPrefix(line, "--- FAIL: ") && !strings.HasPrefix(line, "=== ") {
			return false
		}
	}
	return log != ""
}

// endsSubtest says whether a crash under a test's name is a panic of one of its subtests. It stands behind the lines of all tests
// that it ends, the innermost first, and the test itself, which waits in another goroutine, is not among its frames.
func endsSubtest(crash, name string) bool {
	return strings.HasPrefix(crash, "panic: ") && !isTimeout(crash) && !strings.Contains(crash, "."+name+"(")
}

// silentBelow is the last of the subtests of a test that failed without a word, nil for none.
func (p *pack) silentBelow(name string) *failure {
	if n := len(p.silent); n > 0 && strings.HasPrefix(p.silent[n-1].test, name+"/") {
		return &p.silent[n-1]
	}
	return nil
}

// giveSilent gives the silent subtests of a test that has ended, and is none itself.
func (s *reading) giveSilent(p *pack, name string) {
	if strings.Contains(name, "/") {
		return
	}
	for _, f := range p.silent {
		s.give(f)
	}
	p.silent = nil
}

// failPackage makes cases of the tests that a crash left open, or one of the package if no test of it explains its end.
func (s *reading) failPackage(p *pack, failedBuild string) {
	crashed, left := s.failCrashed(p)
	if !crashed && !p.crashed && !p.done {
		s.failExited(p)
	}
	if !p.failed || left {
		log := p.log.Text()
		build := failedBuild != "" || notBuilt(log)
		if build {
			log = s.buildLog(p.path, failedBuild) + log
		} else if saysNothing(log) {
			log = s.loose.Text() + log
		}
		s.give(failure{pack: p.path, log: log, build: build})
	}
	s.closePackage(p.path)
}

// saysNothing says whether a log has nothing but the last line of the go command.
func saysNothing(log string) bool {
	return log == "" || strings.HasPrefix(log, "FAIL\t") && strings.Count(log, "\n") <= 1
}

func (s *reading) closePackage(path string) {
	if p := s.packages[path]; p != nil {
		s.giveSilent(p, "")
	}
	delete(s.packages, path)
	if s.reader.Live {
		s.releasePackage(path)
	}
}

// buildLog is the build output that explains why a package failed: that of the import path that the event names, or of
// one that names the package, as in "example.com/a [example.com/a.test]". Without either it is that of the others, which it may import, unless
// there are too many to tell: then its own may be one that was not kept.
func (s *reading) buildLog(path, failedBuild string) string {
	s.named[failedBuild] = true
	if c := s.builds[failedBuild]; c != nil {
		return c.Text()
	}
	own := slices.Concat(s.built[path], s.built[path+"_test"], s.built[path+".test"])
	slices.Sort(own)
	log := s.joined(own, 4*maxBuildBytes)
	if log == "" && len(s.builds) < maxBuilds {
		log = s.joined(s.order, maxBuildBytes)
	}
	if log == "" {
		return s.loose.Text()
	}
	return log
}

// joined is the output of builds, one behind the other, until it has so many bytes.
func (s *reading) joined(importPaths []string, enough int) string {
	var log strings.Builder
	for _, path := range importPaths {
		if log.Len() >= enough {
			break
		}
		log.WriteString(s.builds[path].Text())
	}
	return log.String()
}

// end makes cases of what the stream left open: a crash of the go command or a cut stream has no last event.
func (s *reading) end() {
	for _, path := range slices.Sorted(maps.Keys(s.packages)) {
		p := s.packages[path]
		open := len(p.tests)
		crashed, left := s.failCrashed(p)
		if crashed && left || !p.failed && notBuilt(p.log.Text()) {
			s.failPackage(p, "")
		}
		s.giveSilent(p, "")
		if open > 0 && !crashed && s.packages[path] != nil {
			s.problem(0, abi.CodeTruncated, "ends while the tests of "+path+" run")
		}
	}
	for _, path := range s.failed {
		if s.named[path] {
			continue
		}
		name, _, _ := strings.Cut(path, " ")
		s.give(failure{pack: name, log: s.build(path).Text(), build: true})
	}
	s.release(0)
	if s.unread.Count > 0 && s.events > 0 && s.reader.Unread != nil && !s.stopped {
		s.reader.Unread(s.name, s.unread)
	}
	if s.events == 0 && !s.stopped {
		s.problem(0, docket.CodeEmptyDocket, "has no event of go test -json")
	}
}

// DefaultHeldBytes is how much of the documents of cases waits for further runs of their tests.
const DefaultHeldBytes = 64 << 20

// maxRunTests is of how many tests the runs are counted; of those beyond it nothing is told.
const maxRunTests = 1 << 18

// testKey is a test of a package.
type testKey struct{ pack, test string }

// history counts the runs of tests, and holds the cases until all runs are known: with -count a test runs several times, and
// those who run failed tests again append the events of a second go to those of the first.
type history struct {
	runs  map[testKey]*report.Runs
	held  []heldCase
	bytes int
}

// heldCase is a case that waits for what further runs of its test bring.
type heldCase struct {
	docket.Entry
	test testKey
}

func (h *heldCase) size() int { return len(h.Case.Documents[0].Text) }

// ended notes that a test passed or failed.
func (h *history) ended(test testKey, passed bool) {
	r := h.runs[test]
	if r == nil {
		if len(h.runs) >= maxRunTests {
			return
		}
		r = &report.Runs{}
		h.runs[test] = r
	}
	r.Add(passed)
}

// hold keeps a case for later.
func (s *reading) hold(c heldCase) {
	s.history.held = append(s.history.held, c)
	s.history.bytes += c.size()
	s.release(cmp.Or(max(0, s.reader.HeldBytes), DefaultHeldBytes))
}

// releasePackage gives the cases of a package on.
func (s *reading) releasePackage(path string) {
	h := &s.history
	var others []heldCase
	for _, c := range h.held {
		if c.test.pack == path {
			s.handOn(c)
		} else {
			others = append(others, c)
		}
	}
	h.held = others
}

// release gives the oldest cases on until no more than most bytes wait.
func (s *reading) release(most int) {
	h := &s.history
	for len(h.held) > 0 && (h.bytes > most || most == 0) && !s.stopped {
		c := h.held[0]
		h.held[0] = heldCase{}
		h.held = h.held[1:]
		s.handOn(c)
	}
}

// handOn gives on a case that waited, with what is known of the runs of its test.
func (s *reading) handOn(c heldCase) {
	h := &s.history
	h.bytes -= c.size()
	if s.stopped {
		return
	}
	if r := h.runs[c.test]; r != nil && c.test.test != "" {
		r.Tell(&c.Case)
	}
	s.stopped = !s.yield(c.Entry, nil)
}

// maxUnreadLines is of how many lines that are no events the numbers are kept.
const maxUnreadLines = 5

// Unread tells of the lines of a stream that are neither events nor what the go command prints itself. They are kept as
// output, and may have come from any program that wrote into the stream.
type Unread struct {
	Count int
	// Lines are the numbers of the first of them.
	Lines []int
}

func (u *Unread) add(line int) {
	if u.Count++; len(u.Lines) < maxUnreadLines {
		u.Lines = append(u.Lines, line)
	}
}

// plain takes a line that is no event: the build output of Go before 1.24, or what something printed past the go command.
func (s *reading) plain(line string) {
	if path, ok := buildHeader(line); ok {
		s.section = s.build(path)
	}
	if path, ok := strings.CutPrefix(line, "FAIL\t"); ok && notBuilt(line) {
		s.section = nil
		path, _, _ = strings.Cut(path, " ")
		s.pack(path).log.Write(line + "\n")
		s.failPackage(s.pack(path), "")
		return
	}
	if isSummary(line) {
		s.section = nil
		return
	}
	if s.section == nil && strings.TrimSpace(line) != "" {
		s.unread.add(s.line)
	}
	s.around().Write(line + "\n")
}

// isSummary says whether a line is one that the go command ends a package with, or one of its progress and warnings, which
// explain no failure.
func isSummary(line string) bool {
	for _, begin := range []string{
		"FAIL\t", "ok  \t", "?   \t",
		"go: downloading ", "go: finding ", "go: found ", "go: extracting ", "go: added ", "go: removed ", "go: upgraded ", "go: downgraded ",
		"go: warning: ", "warning: no packages being tested depend on matches for pattern ", "warning: GOPATH set to GOROOT ",
	} {
		if strings.HasPrefix(line, begin) {
			return true
		}
	}
	return line == "FAIL"
}

// around is the log that a line which is no event stands in: that of a package that is built, of the only test that runs, of the only
// package that runs, or of no package. Any program may have printed the line, so that with two to choose from there is no telling.
func (s *reading) around() *stream.Clip {
	if s.section != nil {
		return s.section
	}
	if len(s.packages) != 1 {
		return &s.loose
	}
	for _, p := range s.packages {
		if t := p.only(); t != nil {
			return &t.log
		}
		return &p.log
	}
	return &s.loose
}

// maxLooked is among how many open tests the one that runs is looked for.
const maxLooked = 256

// only is the test that runs in a package, if it is the only one: it began, does not wait and has not ended. A test that
// prints after its end is open again, and does not run.
func (p *pack) only() *test {
	if len(p.tests) > maxLooked {
		return nil
	}
	var found *test
	for _, name := range p.running() {
		switch t := p.tests[name]; {
		case !t.began || t.verdict != noVerdict:
		case found != nil:
			return nil
		default:
			found = t
		}
	}
	return found
}

// buildHeader reads the line that stands before a package's build errors, as "# example.com/a [example.com/a.test]".
func buildHeader(line string) (importPath string, ok bool) {
	rest, ok := strings.CutPrefix(line, "# ")
	if !ok {
		return "", false
	}
	path, variant, found := strings.Cut(rest, " ")
	return rest, path != "" && (!found || strings.HasPrefix(variant, "[") && strings.HasSuffix(variant, "]"))
}
