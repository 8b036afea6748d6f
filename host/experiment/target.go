package experiment

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/casebook"
	"github.com/shadowcourt/shadowcourt/host/docket/junit"
	"github.com/shadowcourt/shadowcourt/host/experiment/isolate"
	"github.com/shadowcourt/shadowcourt/host/experiment/plan"
	"github.com/shadowcourt/shadowcourt/repo"
)

// toolchain runs the tests of one kind of project: Go's, or those of a runner that is defined.
type toolchain interface {
	about() *facts
	// serves says why a tree can't be run.
	serves(t *repo.Tree) error
	// sees says whether tests see a path outside of their tree where files are hidden.
	sees(path string) bool
	// find gives the failing test of a case. Its error says why there is none that can be run, errNoTest that the case is not about
	// one of this toolchain.
	find(c *abi.Case) (*failure, error)
	// named gives the tests of the tree under test that a name may mean, as cases without documents. certain: the tree has them; otherwise the
	// runner takes any name. Its error is that of reading the tree.
	named(ctx context.Context, head *repo.Tree, name string) (cases []abi.Case, certain bool, err error)
	// compare compares the test in the tree under test and in that of the base; the comparison is empty where it can't. Its error is that
	// of reading the trees.
	compare(ctx context.Context, head, base *repo.Tree, f *failure) (*comparison, error)
	// build builds what a tree needs to run the test, with some of its files replaced, into the tree or into the folder out.
	// Errors of the code are *buildError and errNoTests.
	build(ctx context.Context, w *workspace, f *failure, only replaced, out string) (program, error)
}

// facts are what holds for all tests of a toolchain.
type facts struct {
	name string
	// version is of all that results depend on. variables of the user that tests see are no part of it: a run that is resumed may come
	// from another terminal.
	version   string
	variables []string
	problem   error // why nothing can be run
	cached    bool  // results are kept for later
	// pace is what a run takes beside its tests, and what a build takes in the tree under test and in another one.
	pace plan.Pace
}

func (f *facts) about() *facts { return f }

// String is the name.
func (f *facts) String() string { return f.name }

// program runs the test of a failure once.
type program func(ctx context.Context, f *failure, env environment) (*testRun, error)

var errNoTest = errors.New("no failing test is named")

// failure is the failing test of a case, and how it failed.
type failure struct {
	toolchain toolchain
	goTest    goTarget     // of Go's toolchain
	project   *projectTest // of another one
	name      string       // of the test
	group     string       // of the test: a package, a class or a suite
	certain   bool         // no other toolchain is meant
	elapsed   time.Duration
	// unit names what is built in a tree to run the test.
	unit string
	// fingerprint names test and failure. Cases that have it in common share results.
	fingerprint string
	looks       looks
	// hidden is a path that the failure names and that experiments hide; empty for none.
	hidden string
}

// failureOf finds the failing test of a case. Its error says why there is none that can be run.
func (l *Lab) failureOf(c *abi.Case) (*failure, error) {
	var found []*failure
	var reasons []string
	for _, t := range l.toolchains {
		f, err := t.find(c)
		switch {
		case err == nil:
			f.toolchain = t
			found = append(found, f)
		case !errors.Is(err, errNoTest):
			reasons = append(reasons, err.Error())
		}
	}
	if certain := slices.DeleteFunc(slices.Clone(found), func(f *failure) bool { return !f.certain }); len(certain) > 0 {
		found = certain
	}
	switch {
	case len(found) == 0 && len(reasons) > 0:
		return nil, errors.New(strings.Join(reasons, "; "))
	case len(found) == 0:
		return nil, l.noRunner(c)
	case len(found) > 1:
		return nil, fmt.Errorf("both %s and %s could run the test: choose one with --experiments all,runner=NAME", found[0].toolchain.about(), found[1].toolchain.about())
	}
	f := found[0]
	f.fingerprint = casebook.Take(casebook.Failure{Subject: c.Subject, Test: f.group + "." + f.name, Texts: texts(c.Documents)}).Exact
	f.looks = looksOf(f.group, c.Documents)
	if l.hidesHome() {
		f.hidden = l.hiddenName(f.toolchain, texts(c.Documents))
	}
	return f, nil
}

// noRunner says why no toolchain has the test of a case: the case names none, or one of another language. The test itself is left out,
// so that all cases of a report have the same reason.
func (l *Lab) noRunner(c *abi.Case) error {
	if _, ok := junit.Named(c); !ok {
		return errNoTest
	}
	var names []string
	for _, t := range l.toolchains {
		names = append(names, t.about().name)
	}
	return fmt.Errorf("no test of %s, and the source has tests of no other runner; is the report of another language or project?", strings.Join(names, " or "))
}

// hidesHome says whether tests see nothing of the user's home.
func (l *Lab) hidesHome() bool { return !l.config.Home && isolate.HidesFiles() }

// hiddenName finds a path of the user's home in the texts of a failure that the tests of a toolchain do not see.
func (l *Lab) hiddenName(t toolchain, texts []string) string {
	home, err := os.UserHomeDir()
	if err != nil || home == "/" {
		return ""
	}
	for _, text := range texts {
		for rest := text; ; {
			_, after, found := strings.Cut(rest, home+"/")
			if !found {
				break
			}
			name := after
			if end := strings.IndexAny(after, " \t\r\n\"'`:;,()[]<>|"); end >= 0 {
				name = after[:end]
			}
			rest = after
			if path := filepath.Join(home, name); name != "" && !within(l.top, path) && !within(l.dir.Path, path) && !t.sees(path) {
				return path
			}
		}
	}
	return ""
}

func within(folder, path string) bool {
	rel, err := filepath.Rel(folder, path)
	return folder != "" && err == nil && filepath.IsLocal(rel)
}
