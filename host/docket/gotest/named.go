package gotest

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/docket/internal/report"
)

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
			if t.Package == "" {
				t.Package = l.Package
			}
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

// Symptoms are the lines of a failure that say what failed, without the summary of the go command: what a reader cuts as evidence
// from the documents. pack is the package of the test.
func Symptoms(pack string, documents []abi.Document) []string {
	var symptoms []string
	for _, e := range report.Cut(pack, documents) {
		if e.Element != abi.Air {
			symptoms = append(symptoms, e.Content)
		}
	}
	return symptoms
}
