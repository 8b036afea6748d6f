package experiment

import (
	"context"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/casebook"
	"github.com/shadowcourt/shadowcourt/host/docket/gotest"
	"github.com/shadowcourt/shadowcourt/host/experiment/tree"
)

// module is a Go module of the tree under test.
type module struct{ folder, path string }

const maxGoMod = 1 << 20

func modulesOf(ctx context.Context, head *tree.Tree) ([]module, error) {
	var found []module
	for _, name := range head.Paths() {
		if path.Base(name) != "go.mod" || slices.ContainsFunc(strings.Split(name, "/"), ignored) {
			continue
		}
		data, err := head.Read(ctx, name, maxGoMod)
		if err != nil {
			return nil, err
		}
		if p := modfile.ModulePath(data); p != "" {
			found = append(found, module{path.Dir(name), p})
		}
	}
	return found, nil
}

// ignored are folders in which the go command looks for no packages.
func ignored(folder string) bool {
	return folder == "testdata" || folder == "vendor" || strings.HasPrefix(folder, "_") || strings.HasPrefix(folder, ".")
}

// failure is the failing test of a case, and how it failed.
type failure struct {
	test   gotest.Test
	module string   // folder of the module in every tree
	folder string   // of the package, in its module
	flags  []string // of the build, which the failure needs
	// fingerprint names test and failure. Cases that have it in common share results.
	fingerprint string
	looks       looks
}

// failureOf finds the failing test of a case. Its error says why there is none that can be run.
func (l *Lab) failureOf(c *abi.Case) (*failure, error) {
	var tests []gotest.Test
	for _, t := range gotest.TestsOf(c) {
		if t.Package == "" {
			t.Package = c.Group
		}
		if !slices.ContainsFunc(tests, func(other gotest.Test) bool { return other.Name == t.Name && other.Package == t.Package }) {
			tests = append(tests, t)
		}
	}
	switch len(tests) {
	case 0:
		return nil, errNoTest
	case 1:
	default:
		return nil, fmt.Errorf("several tests are named, such as %s and %s", tests[0].Name, tests[1].Name)
	}
	f := &failure{test: tests[0], flags: flagsOf(c.Documents), looks: looksOf(tests[0].Package, c.Documents)}
	var at string
	for _, m := range l.modules { // the innermost module that has the package
		folder, ok := strings.CutPrefix(f.test.Package+"/", m.path+"/")
		if ok && len(m.path) > len(at) {
			at, f.module, f.folder = m.path, m.folder, path.Clean("./"+folder)
		}
	}
	if at == "" || !l.trees[revisions{abi.Head, abi.Head}].tested[path.Join(f.module, f.folder)] {
		return nil, fmt.Errorf("no tests of package %q are in the source", f.test.Package)
	}
	f.fingerprint = casebook.Take(casebook.Failure{Subject: c.Subject, Test: f.test.Package + "." + f.test.Name, Texts: texts(c.Documents)}).Exact
	return f, nil
}

// flagsOf are the flags without which the failure could not have happened: without the race detector, tests with races pass.
func flagsOf(documents []abi.Document) []string {
	for i := range documents {
		if text := documents[i].Text; strings.Contains(text, "WARNING: DATA RACE") || strings.Contains(text, "race detected during execution of test") {
			return []string{"-race"}
		}
	}
	return nil
}

func texts(documents []abi.Document) []string {
	list := make([]string, len(documents))
	for i := range documents {
		list[i] = documents[i].Text
	}
	return list
}

// looks is how a failure is recognized.
type looks struct {
	whole    string          // fingerprint of all that was written
	symptoms map[string]bool // fingerprints of what says what failed
	timeout  bool
}

// goFile is a Go file with its folders, which differ from machine to machine.
var goFile = regexp.MustCompile(`[^\s"'()\[\]]*/([^/\s"'()\[\]]+\.go:\d)`)

func looksOf(pack string, documents []abi.Document) looks {
	fingerprint := func(texts ...string) string {
		for i := range texts {
			texts[i] = goFile.ReplaceAllString(texts[i], "$1")
		}
		return casebook.Take(casebook.Failure{Texts: texts}).Exact
	}
	l := looks{whole: fingerprint(texts(documents)...), symptoms: map[string]bool{}}
	for _, symptom := range gotest.Symptoms(pack, documents) {
		l.timeout = l.timeout || strings.Contains(symptom, "panic: test timed out after ")
		if digest := fingerprint(symptom); digest != "" {
			l.symptoms[digest] = true
		}
	}
	return l
}

// same says whether two failures are the same: one has all symptoms of the other, or both are timeouts, whose goroutines differ each
// time. Failures without symptoms are compared by all that was written.
func (l looks) same(other looks) bool {
	if len(l.symptoms) == 0 || len(other.symptoms) == 0 {
		return l.whole == other.whole
	}
	return l.timeout && other.timeout || contains(l.symptoms, other.symptoms) || contains(other.symptoms, l.symptoms)
}

func contains(all, some map[string]bool) bool {
	for s := range some {
		if !all[s] {
			return false
		}
	}
	return true
}
