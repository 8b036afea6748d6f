// Package runner runs single tests of projects for experiments, with the test runners of their languages. What a runner is called,
// which projects it is for, how it is told to run one test and where it writes its report is data: a [Definition], as in
// definitions/*.yaml. Package gorun does the same for Go, whose test binaries are built once for all runs.
package runner

import (
	"errors"
	"os"
	"slices"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/experiment/isolate"
)

// Kind is what came of a test.
type Kind string

// What may come of a test.
const (
	Passed  Kind = "passed"
	Failed  Kind = "failed"
	Skipped Kind = "skipped"
	Absent  Kind = "absent" // the tree has no such test
	Silent  Kind = "silent" // the run failed and says nothing of the test
	Ended   Kind = "ended"  // by a limit of the isolation, which Result names
)

// Run is one run of a test.
type Run struct {
	Kind Kind
	// Documents are what the test wrote, as the reader of its reports gives them to cases; empty unless it failed.
	Documents []abi.Document
	Result    *isolate.Result
	// Rows: the tree has the test's function without the row of the case, and this is what came of all its rows.
	Rows bool
}

// Log is all that a failed test wrote.
func (r *Run) Log() string {
	var b strings.Builder
	for i := range r.Documents {
		b.WriteString(r.Documents[i].Text)
	}
	return b.String()
}

// Environment says what surrounds a test.
type Environment struct {
	Scratch string // folder that the test may write to
	// Overlay is a folder that the test seems to write to, such as that of its tree; see [isolate.Command].
	Overlay string
	Clean   bool // no variables of the user's but PATH, in UTC and the C locale
	Starve  bool
	Network bool
	// Home leaves the test what the user can read; see [isolate.Command].
	Home bool
	// Rows has all rows of the test's function run where the tree has it without the row of the case: it was edited.
	Rows   bool
	Order  bool // run the test with those around it, in their order, instead of alone
	Limits isolate.Limits
}

// ErrNoTests: the tree has nothing that could be built for the test.
var ErrNoTests = errors.New("no test files")

// BuildError says that tests do not build in a tree, which is an outcome of an experiment.
type BuildError struct {
	What   string // a package, or a project
	Output string // of the build
}

// Error names what does not build, and the first line that is no heading.
func (e *BuildError) Error() string {
	for line := range strings.Lines(e.Output) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			return e.What + " does not build: " + line
		}
	}
	return e.What + " does not build"
}

// Variables are what a test sees of the user's environment: an allow-list, so that no secret reaches a test by accident. A clean
// environment has PATH alone, in UTC and the C locale. HOME is among them where the test sees the user's home.
func Variables(of Environment, more ...string) []string {
	env := []string{"PATH=" + os.Getenv("PATH")}
	if of.Clean {
		return append(env, "LC_ALL=C", "TZ=UTC")
	}
	if home, err := os.UserHomeDir(); of.Home && err == nil {
		env = append(env, "HOME="+home)
	}
	allowed := append([]string{"LANG", "LANGUAGE", "TZ", "USER", "LOGNAME", "SHELL", "TERM"}, more...)
	for _, v := range os.Environ() {
		if name, _, _ := strings.Cut(v, "="); slices.Contains(allowed, name) || strings.HasPrefix(name, "LC_") {
			env = append(env, v)
		}
	}
	return env
}
