package experiment

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/shadowcourt/shadowcourt/abi"
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
	also        string // a project that may have the test, too
	// hidden is a path that the failure names and that experiments hide; empty for none.
	hidden string
	// named are the user's variables that the failure names, as assignments.
	named []string
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
	f.looks = looksOf(f.group, c.Documents, nil, l.top)
	f.fingerprint = strings.Join([]string{f.group, f.name, f.looks.digest()}, " ")
	if l.config.Told {
		f.named = namedVariables(strings.Join(f.looks.parts, "\n"), l.config.Without)
	}
	if l.hidesHome() {
		f.hidden = l.hiddenName(f.toolchain, c.Documents)
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
func (l *Lab) hidesHome() bool { return !l.config.Home && !l.config.Native && isolate.HidesFiles() }

// hiddenName finds a path of the user's home in the documents of a failure that the tests of a toolchain do not see.
func (l *Lab) hiddenName(t toolchain, documents []abi.Document) string {
	home, err := os.UserHomeDir()
	if err != nil || home == "/" {
		return ""
	}
	for i := range documents {
		for rest := documents[i].Text; documents[i].Name != junit.AboutDocument; {
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

// ErrName says that no test has a name, or that several have it.
var ErrName = errors.New("test")

// Named finds the test of the tree under test that a name means, as a case without documents. The name is that of reports, TestTotal or
// example.com/shop/cart.TestTotal, tests.test_cart.test_total; a test of Go may be named without its package, or with the end of it. The error is
// ErrName, or that of reading the tree.
func (l *Lab) Named(ctx context.Context, name string) (*abi.Case, error) {
	l.open.RLock()
	defer l.open.RUnlock()
	if l.problem != "" || l.closed {
		return nil, fmt.Errorf("%w %.200q: %s", ErrName, name, oneLine(l.problem))
	}
	head := l.trees[revisions{abi.Head, abi.Head}].tree
	var certain, possible []abi.Case
	for _, t := range l.toolchains {
		found, is, err := t.named(ctx, head, name)
		if err != nil {
			return nil, err
		}
		if is {
			certain = append(certain, found...)
		} else {
			possible = append(possible, found...)
		}
	}
	if len(certain) == 0 {
		certain = possible
	}
	switch len(certain) {
	case 0:
		var runners []string
		for _, t := range l.toolchains {
			runners = append(runners, t.about().name)
		}
		return nil, fmt.Errorf("%w %.200q: no test of %s has this name", ErrName, name, strings.Join(runners, " or "))
	case 1:
		return &certain[0], nil
	}
	var ids []string
	for i := range certain[:min(len(certain), mostNamed)] {
		ids = append(ids, certain[i].ID)
	}
	if more := len(certain) - mostNamed; more > 0 {
		ids = append(ids, fmt.Sprintf("and %d more", more))
	}
	return nil, fmt.Errorf("%w %.200q: several tests have this name: %s", ErrName, name, strings.Join(ids, ", "))
}

// mostNamed is how many tests of one name an error lists.
const mostNamed = 8

// goTestName is a test of Go, with its package or the end of it.
var goTestName = regexp.MustCompile(`^(?:(\S+?)\.)?((?:Test|Fuzz|Example)[^\s/.]*)(/\S+)?$`)

func (g *goTests) named(ctx context.Context, head *repo.Tree, name string) (cases []abi.Case, certain bool, err error) {
	m := goTestName.FindStringSubmatch(name)
	if m == nil {
		return nil, true, nil
	}
	declared := regexp.MustCompile(`(?m)^func[ \t]+` + regexp.QuoteMeta(m[2]) + `[ \t]*\(`)
	for _, file := range head.Paths() {
		pack, ok := g.packageOf(path.Dir(file))
		if !ok || !strings.HasSuffix(file, "_test.go") {
			continue
		}
		text, err := head.Read(ctx, file, maxTestFile)
		if err != nil {
			return nil, true, err
		}
		c := junit.Failing(pack, m[2]+m[3], nil)
		if declared.Match(text) && !slices.ContainsFunc(cases, func(other abi.Case) bool { return other.ID == c.ID }) {
			cases = append(cases, c)
		}
	}
	meant := slices.DeleteFunc(slices.Clone(cases), func(c abi.Case) bool { return m[1] != "" && !strings.HasSuffix("/"+c.Group, "/"+m[1]) })
	if len(meant) == 0 && len(cases) > 0 {
		return nil, true, fmt.Errorf("%w %.200q: %s has it", ErrName, name, cases[0].Group)
	}
	return meant, true, nil
}

// packageOf is the import path of a folder.
func (g *goTests) packageOf(folder string) (string, bool) {
	innermost, pack := -1, ""
	for _, m := range g.modules {
		if rel := strings.TrimPrefix(folder, m.folder+"/"); below(m.folder, folder) && depth(m.folder) > innermost {
			if innermost = depth(m.folder); folder == m.folder {
				rel = ""
			}
			pack = path.Join(m.path, rel)
		}
	}
	return pack, innermost >= 0 && !slices.ContainsFunc(strings.Split(folder, "/"), func(f string) bool { return f != "." && ignored(f) })
}

// maxParts is at how many places a name is parted into class and name.
const maxParts = 100

// named parts the name into class and name where the class has a file, as late as possible. Parameters in brackets are no part of that.
func (r *defined) named(_ context.Context, _ *repo.Tree, name string) (cases []abi.Case, certain bool, err error) {
	whole := junit.Failing("", name, nil)
	tries := []abi.Case{}
	if base, _, _ := strings.Cut(name, "["); whole.Group == "" {
		for range maxParts {
			at := max(strings.LastIndexAny(base, ". #"), strings.LastIndex(base, "::"))
			if at <= 0 {
				break
			}
			if after := strings.TrimLeft(name[at:], ". #:"); after != "" {
				tries = append(tries, junit.Failing(strings.TrimRight(base[:at], ":"), after, nil))
			}
			base = base[:at]
		}
	}
	tries = append(tries, whole)
	var possible []abi.Case
	for i := range tries {
		switch f, err := r.find(&tries[i]); {
		case err == nil && f.certain:
			return tries[i : i+1], true, nil
		case err == nil:
			possible = append(possible, tries[i])
		}
	}
	if n := len(possible); n > 0 { // the whole name is the last one
		return possible[n-1:], false, nil
	}
	return nil, false, nil
}
