package experiment_test

import (
	"strings"
	"testing"
	"time"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/experiment"
	"github.com/shadowcourt/shadowcourt/host/experiment/plan"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

// TestAccept_AK5_TheTestOfTheBaseIsTheOneOfHead: a test that was moved, or whose file is not committed, is named; the base runs one in a module of its own,
// and of two that have one name none counts.
func TestAccept_AK5_TheTestOfTheBaseIsTheOneOfHead(t *testing.T) {
	t.Parallel()
	pack := func(name, test string) string {
		return "package " + name + "\n\nimport \"testing\"\n\nfunc Test" + test + "(t *testing.T) { t.Fail() }\n"
	}
	const mod = "module example.com/shop\n\ngo 1.26\n"
	for _, c := range []struct {
		name, test string
		base, head map[string]string
		remove     string
		want       abi.ExperimentOutcome
		detail     string
	}{
		{"moved", "TestShop", map[string]string{"a/a_test.go": pack("a", "Shop")}, map[string]string{"b/a_test.go": pack("a", "Shop")}, "a", abi.OutcomeNoTest, plan.Moved + "a/a_test.go"},
		{
			"moved and rewritten", "TestShop",
			map[string]string{"a/a_test.go": pack("a", "Shop")},
			map[string]string{"b/a_test.go": strings.Repeat("// More.\n", 9) + pack("b", "Shop")},
			"a",
			abi.OutcomeNoTest, plan.Moved + "a/a_test.go",
		},
		{
			"new in a moved file", "TestNew",
			map[string]string{"a/a_test.go": pack("a", "Shop")},
			map[string]string{"b/a_test.go": pack("a", "Shop") + "\nfunc TestNew(t *testing.T) { t.Fail() }\n"},
			"a",
			abi.OutcomeNoTest, plan.Untracked + "b/a_test.go",
		},
		{"not committed", "TestNew", map[string]string{"a/a_test.go": pack("a", "Shop")}, map[string]string{"a/b_test.go": pack("a", "New")}, "", abi.OutcomeNoTest, plan.Untracked + "a/b_test.go"},
		{"a module of its own", "TestShop", map[string]string{"a/x/a_test.go": pack("x", "Shop"), "a/go.mod": "module example.com/shop/a\n\ngo 1.26\n"}, nil, "a/go.mod", abi.OutcomeSame, ""},
		{
			"two of one name", "TestShop",
			map[string]string{"a/a_test.go": pack("a", "Shop"), "a/b_test.go": pack("a_test", "Shop")},
			map[string]string{"a/c_test.go": pack("a", "New")},
			"",
			abi.OutcomeNotRun, plan.SeveralTests,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			must.Git(t, dir, "init", "-q", "-b", "main")
			must.Write(t, dir, map[string]string{"go.mod": mod})
			must.Write(t, dir, c.base)
			must.Git(t, dir, "add", ".")
			must.Git(t, dir, "commit", "-qm", "base")
			if c.remove != "" {
				must.Git(t, dir, "rm", "-qr", c.remove)
			}
			must.Write(t, dir, c.head)
			l := open(t, experiment.Config{Source: dir, Base: "HEAD", Mode: experiment.All, Budget: time.Hour})
			r, err := l.Run(t.Context(), docket(t, dir)[c.test], parse(t, onlyGreen))
			if err != nil || r.Outcome != c.want || !strings.HasPrefix(r.Detail, c.detail) {
				t.Errorf("%+v, %v", r, err)
			}
		})
	}
}
