package report

import (
	"strconv"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
)

// runsName is the document that tells of the runs of one test.
const runsName = "runs"

// How sure it is that a test is flaky which passed and failed in one report.
const (
	// bothWays: nobody changed anything between two runs of one report.
	bothWays = 0.9
	// passedFirst: it passed once or more, and from its first failure on never again, as a test does, too, that leaves
	// something behind which the next run stumbles over.
	passedFirst = 0.7
)

// Runs is how the runs of one test in one report ended, in their order. The zero value is of a test that never ran.
type Runs struct {
	passed, failed int
	again, last    bool // it passed after it had failed, and the last time
}

// Add notes the end of one more run.
func (r *Runs) Add(passed bool) {
	r.last = passed
	if passed {
		r.passed++
		r.again = r.again || r.failed > 0
	} else {
		r.failed++
	}
}

// Mixed says whether some runs passed and some failed.
func (r *Runs) Mixed() bool { return r.passed > 0 && r.failed > 0 }

// Retried says whether the test failed until it passed, and did not run again then, as those who run a test again until it
// passes leave it.
func (r *Runs) Retried() bool { return r.again && r.passed == 1 && r.last }

// Tell adds to a case a document "runs" and an item that quotes it, of runs that ended in both ways; nothing of others. It
// says whether it did. No figure stands there but those that casebooks pass over, so that a flake is known again.
func (r *Runs) Tell(c *abi.Case) bool {
	if !r.Mixed() {
		return false
	}
	said := "In this report the test ran " + strconv.Itoa(r.passed+r.failed) + " times: it failed in " + strconv.Itoa(r.failed) +
		" and passed in " + strconv.Itoa(r.passed) + "."
	confidence := bothWays
	if r.again {
		said += " It passed after it had failed."
	} else {
		said += " It passed first, and never again after it had failed."
		confidence = passedFirst
	}
	c.Documents = append(c.Documents, abi.Document{Name: runsName, Text: said + "\n"})
	c.Evidence = append(c.Evidence, abi.Evidence{
		SourceRef: runsName + ":L1", Content: said, RelevanceConfidence: confidence, Supports: NoDefect, Element: abi.Water,
	})
	return true
}

// pytestFile ends the file in a node id of pytest.
const pytestFile = ".py"

// PytestName gives the class and the name of a test of pytest in one form, that of its own reports: tests.test_cart.TestTotal
// and test_sum[1-2]. Others take over its node ids, as tests/test_cart.py::TestTotal::test_sum[1-2], as the name or cut
// somewhere. What is no node id stays as it is.
func PytestName(class, name string) (string, string) {
	if base, _, _ := strings.Cut(name, "["); strings.Contains(base, pytestFile+"::") {
		path, rest, _ := strings.Cut(base, "::")
		parameters := name[len(base):]
		module := dotted(path)
		if i := strings.LastIndex(rest, "::"); i >= 0 {
			return module + "." + strings.ReplaceAll(rest[:i], "::", "."), rest[i+2:] + parameters
		}
		return module, rest + parameters
	}
	if path, rest, found := strings.Cut(class, "::"); strings.HasSuffix(path, pytestFile) {
		class = dotted(path)
		if found {
			class += "." + strings.ReplaceAll(rest, "::", ".")
		}
	}
	return class, name
}

// dotted is the module of a file.
func dotted(path string) string {
	path = strings.TrimPrefix(strings.ReplaceAll(strings.TrimSuffix(path, pytestFile), `\`, "/"), "./")
	return strings.ReplaceAll(strings.Trim(path, "/"), "/", ".")
}
