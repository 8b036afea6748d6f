package experiment

import (
	"context"
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/docket/junit"
	"github.com/shadowcourt/shadowcourt/repo"
)

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
