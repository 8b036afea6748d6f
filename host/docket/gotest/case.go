package gotest

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/docket/internal/report"
)

// The labels that a case may get, in ReportPortal's terms.
const (
	ProductBug    = report.ProductBug
	AutomationBug = report.AutomationBug
	SystemIssue   = report.SystemIssue
	NoDefect      = report.NoDefect
)

// Labels are all labels, in the order in which every case has them.
func Labels() []string { return report.Labels() }

// logName is the name of a case's one document.
const logName = "log"

// failure is a test, or a package without a failing test, that failed.
type failure struct {
	pack    string
	test    string
	running []string // without a test: those that ran when the package ended early
	log     string
	build   bool
}

// maxNamed is how many tests a subject names.
const maxNamed = 5

func (f failure) subject() string {
	switch {
	case f.test != "":
		return f.test + " fails in " + f.pack
	case f.running != nil:
		return f.pack + " exits while " + strings.Join(f.running[:min(len(f.running), maxNamed)], ", ") + " run"
	case f.build:
		return f.pack + notBuiltSubject
	default:
		return f.pack + " fails outside its tests"
	}
}

// give makes a case of a failure, which goes on when the runs of its test are known.
func (s *reading) give(f failure) {
	if s.stopped {
		return
	}
	id := f.pack
	if f.test != "" {
		id += "." + f.test
	}
	id = s.reader.ids.Unique(id)
	documents := []abi.Document{{Name: logName, Text: f.log}}
	c := abi.Case{
		ID: id, Group: f.pack, Subject: f.subject(), Labels: Labels(),
		Evidence: report.Cut(f.pack, documents), Documents: documents,
	}
	light := Light(c)
	c.Light = &light
	s.hold(heldCase{docket.Entry{Case: c, Source: s.name, Line: s.line}, testKey{f.pack, f.test}})
}

// Test is a failing test that a case names.
type Test struct {
	Package string        // import path; empty if the case does not name it
	Name    string        // as `go test -run` has it: TestA, or TestA/sub
	Elapsed time.Duration // as the log states it, else 0
}

// leastElapsed is what the testing package rounds to 0.00s.
const leastElapsed = 5 * time.Millisecond

// goName is what functions are called that `go test -run` runs.
const goName = `(?:Test|Fuzz|Example)[^\s/]*(?:/\S+)?`

var (
	// subjectLine is a subject as the readers of go test -json and of JUnit write it.
	subjectLine = regexp.MustCompile(`^(` + goName + `) fails(?: in ([^\s,]+))?(?:, and passes when run again)?$`)
	// failLine ends the log of a test, and packageLine that of a package.
	failLine    = regexp.MustCompile(`^\s*--- FAIL: (` + goName + `) \((\d+(?:\.\d+)?)s\)$`)
	packageLine = regexp.MustCompile(`^FAIL\t(\S+)\t`)
)

// TestsOf are the failing tests that a case names: that of its subject, or without one those of its documents. A test that failed
// because of its subtests is none of them.
func TestsOf(c *abi.Case) []Test {
	logged := loggedTests(c.Documents)
	m := subjectLine.FindStringSubmatch(c.Subject)
	if m == nil {
		return logged
	}
	t := Test{Name: m[1], Package: m[2]}
	for _, l := range logged {
		if l.Name == t.Name {
			t.Elapsed = l.Elapsed
			t.Package = cmp.Or(t.Package, l.Package)
		}
	}
	return []Test{t}
}

// notBuiltSubject ends the subject of a package whose tests do not build.
const notBuiltSubject = " does not build"

// UnbuiltOf is the package of a case that says that its tests do not build; empty for other cases.
func UnbuiltOf(c *abi.Case) string {
	pack, ok := strings.CutSuffix(c.Subject, notBuiltSubject)
	if !ok || pack != c.Group || strings.ContainsAny(pack, " \t\n") {
		return ""
	}
	return pack
}

// loggedTests are the tests that failed by the lines with which the testing package ends them.
func loggedTests(documents []abi.Document) []Test {
	var found []Test
	for i := range documents {
		first := len(found) // of those whose package follows
		for line := range strings.Lines(documents[i].Text) {
			line = strings.TrimRight(line, "\r\n")
			if m := failLine.FindStringSubmatch(line); m != nil {
				seconds, _ := strconv.ParseFloat(m[2], 64)
				found = append(found, Test{Name: m[1], Elapsed: max(time.Duration(seconds*float64(time.Second)), leastElapsed)})
			} else if m := packageLine.FindStringSubmatch(line); m != nil {
				for ; first < len(found); first++ {
					found[first].Package = m[1]
				}
			}
		}
	}
	return slices.DeleteFunc(found, func(t Test) bool {
		return slices.ContainsFunc(found, func(sub Test) bool { return strings.HasPrefix(sub.Name, t.Name+"/") })
	})
}

// Symptoms are the excerpts that say what failed, and where, without the summary of the go command: those that a reader cuts as evidence from the
// documents, but all of them, in full. pack is the package of the test.
func Symptoms(pack string, documents []abi.Document) []string {
	return report.Symptoms(pack, documents)
}

// Light is a first simple classification of a failure, by the first of a few rules on its log that applies. Its
// confidences are stated by hand, and not fitted to any docket. It looks at the symptom alone, and so it takes a test
// that expects the wrong thing for a product that does the wrong thing.
//
// It is frozen: the court is measured against it. That is why it has its own patterns, though the rules that cut evidence
// have similar ones, and reads nothing but the log and the group of the case. A better classifier is another function.
//
//	the environment speaks (permission, disk, network, ...)   si001  0.78
//	a data race or a concurrent map access                     nd001  0.80
//	a timeout or a deadlock                                    nd001  0.62
//	a test file doesn't compile                                ab001  0.86
//	a product file doesn't compile                             pb001  0.88
//	a crash, first frame of the module in a test file          ab001  0.58
//	a crash, first frame of the module in the product          pb001  0.72
//	an assertion compares                                      pb001  0.60
//	any other message of a test                                pb001  0.52
//	nothing of these                                           si001  0.40
func Light(c abi.Case) abi.LightAnswer {
	var log string
	for _, d := range c.Documents {
		if d.Name == logName {
			log = d.Text
		}
	}
	return report.Answer(lightRules(), c.Group, strings.Split(log, "\n"))
}

// The patterns of Light.
var (
	lightSystem = regexp.MustCompile(`connection (refused|reset)|(network|host) is unreachable|no route to host|` +
		`no such host|cannot assign requested address|address already in use|failed to listen on a port|` +
		`permission denied|operation not permitted|read-only file system|no space left on device|disk quota exceeded|` +
		`file too large|input/output error|too many open files|cannot allocate memory|resource temporarily unavailable|` +
		`failed to create new OS thread|^signal: killed|out of memory|executable file not found in|unknown time zone|` +
		`\$HOME is not defined`)
	lightRace    = regexp.MustCompile(`^WARNING: DATA RACE|^fatal error: concurrent map|race detected during execution of test`)
	lightTimeout = regexp.MustCompile(`(?i)deadline exceeded|\btimed? ?out\b|^fatal error: all goroutines are asleep`)
	lightTest    = regexp.MustCompile(`^\S*_test\.go:\d+:(\d+:)? `)
	lightProduct = regexp.MustCompile(`^\S+\.go:\d+:\d+: `)
	lightCrash   = regexp.MustCompile(`^(panic: |fatal error: )`)
	lightFrame   = regexp.MustCompile(`^\t(\S.*\.go):\d+`)
	lightMessage = regexp.MustCompile(`^ +\S+\.go:\d+: `)
	lightCompare = regexp.MustCompile(`(?i)\b(got|want|expect(ed|ing)?|actual|should|mismatch|not equal)\b|!=|==`)
)

func lightRules() []report.LightRule {
	rule := func(applies func(string, []string) bool, label string, confidence float64, reason string) report.LightRule {
		return report.LightRule{Applies: applies, Label: label, Confidence: confidence, Reason: reason}
	}
	return []report.LightRule{
		rule(aLine(lightSystem), SystemIssue, 0.78, "An error of the environment stands in the log."),
		rule(aLine(lightRace), NoDefect, 0.80, "The race detector or the runtime found concurrent access."),
		rule(aLine(lightTimeout), NoDefect, 0.62, "Something took too long or never came."),
		rule(aLine(lightTest), AutomationBug, 0.86, "A test file does not compile."),
		rule(aLine(lightProduct), ProductBug, 0.88, "A file of the product does not compile."),
		rule(crashIn(true), AutomationBug, 0.58, "It crashed, and the first frame of the module is in a test file."),
		rule(crashIn(false), ProductBug, 0.72, "It crashed, and the first frame of the module is in the product."),
		rule(aLine(lightMessage, lightCompare), ProductBug, 0.60, "The result is not the one that the test compares it with."),
		rule(aLine(lightMessage), ProductBug, 0.52, "The test reports a failure."),
	}
}

// aLine applies when all the patterns match one line.
func aLine(all ...*regexp.Regexp) func(string, []string) bool {
	return func(_ string, lines []string) bool {
		return slices.ContainsFunc(lines, func(line string) bool {
			return !slices.ContainsFunc(all, func(p *regexp.Regexp) bool { return !p.MatchString(line) })
		})
	}
}

// crashIn applies when the log tells of a crash whose first frame in the module of the case is in a test file, or not.
func crashIn(test bool) func(string, []string) bool {
	return func(group string, lines []string) bool {
		crash := slices.IndexFunc(lines, lightCrash.MatchString)
		if crash < 0 {
			return false
		}
		for i := crash; i+1 < len(lines); i++ {
			file := lightFrame.FindStringSubmatch(lines[i+1])
			if file != nil && report.InGoModule(lines[i], group) {
				return strings.HasSuffix(file[1], "_test.go") == test
			}
		}
		return false
	}
}
