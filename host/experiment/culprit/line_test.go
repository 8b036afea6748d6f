package culprit_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/docket/gotest"
	"github.com/shadowcourt/shadowcourt/host/experiment"
	"github.com/shadowcourt/shadowcourt/host/experiment/culprit"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
	"github.com/shadowcourt/shadowcourt/internal/testkit/tier"
	"github.com/shadowcourt/shadowcourt/repo"
)

// repository is a git repository that a test makes.
type repository struct {
	t    *testing.T
	dir  string
	time int
}

func newRepository(t *testing.T) *repository {
	t.Helper()
	r := &repository{t: t, dir: t.TempDir()}
	r.git("init", "-q", "-b", "main")
	return r
}

func (r *repository) git(args ...string) string {
	r.t.Helper()
	r.time++
	cmd := exec.CommandContext(r.t.Context(), "git", args...)
	cmd.Dir = r.dir
	at := fmt.Sprintf("@%d +0000", 1_700_000_000+r.time)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_AUTHOR_DATE="+at,
		"GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com", "GIT_COMMITTER_DATE="+at)
	out, err := cmd.CombinedOutput()
	if err != nil {
		r.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func (r *repository) write(name, text string) { must.Write(r.t, r.dir, map[string]string{name: text}) }

// commit commits one more file, or another text of it.
func (r *repository) commit(title, name, text string) {
	r.t.Helper()
	r.write(name, text)
	r.git("add", ".")
	r.git("commit", "-qm", title)
}

// failing is the one case of `go test -json`.
func (r *repository) failing(test string) *abi.Case {
	r.t.Helper()
	cmd := exec.CommandContext(r.t.Context(), "go", "test", "-vet=off", "-json", "-run", "^"+test+"$", "./...")
	cmd.Dir = r.dir
	out, _ := cmd.Output() // the test fails
	for entry, err := range (&gotest.Reader{}).Read("run", bytes.NewReader(out)) {
		if err != nil {
			r.t.Fatal(err)
		}
		return &entry.Case
	}
	r.t.Fatalf("%s does not fail:\n%s", test, out)
	return nil
}

func (r *repository) line(base, head string) *culprit.Line {
	r.t.Helper()
	l, err := culprit.OpenLine(r.t.Context(), culprit.LineConfig{
		Source: r.dir, Base: base, Head: head, Lab: experiment.Config{Flags: []string{"-ldflags=-s"}, Apart: -1}, Open: 2,
	})
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() {
		if err := l.Close(); err != nil {
			r.t.Error(err)
		}
	})
	return l
}

const (
	sum     = "package sum\n\nfunc Sum(a, b int) int { return a + b }\n"
	broken  = "package sum\n\nfunc Sum(a, b int) int { return a - b }\n"
	sumTest = "package sum\n\nimport \"testing\"\n\nfunc TestSum(t *testing.T) { if got := Sum(2, 1); got != 3 { t.Errorf(\"got %d, want 3\", got) } }\n"
)

// history has a merge as commit 2, one that doesn't build as commit 4, the culprit as commit 5, and the test from commit 3 on.
func history(t *testing.T) *repository {
	t.Helper()
	t.Setenv("TMPDIR", t.TempDir())
	r := newRepository(t)
	r.write("go.mod", "module example.com/shop\n\ngo 1.26\n")
	r.commit("begin", "sum/sum.go", sum)
	r.commit("text", "README.md", "a shop\n")
	r.git("checkout", "-qb", "side")
	r.commit("side", "side/side.go", "package side\n")
	r.commit("side again", "side/more.go", "package side\n")
	r.git("checkout", "-q", "main")
	r.git("merge", "-q", "--no-ff", "-m", "merge side", "side")
	r.commit("test", "sum/sum_test.go", sumTest)
	r.commit("typo", "sum/extra.go", "package sum\n\nfunc extra( {}\n")
	r.write("sum/extra.go", "package sum\n\nfunc extra() {}\n")
	r.commit("subtract", "sum/sum.go", broken)
	r.commit("more text", "README.md", "a shop that adds\n")
	return r
}

// TestAccept_AL7_UnbuildableCommitsAndMerges: a merge is one commit, nothing is told of one that does not build, and commits without the
// test have that of head.
func TestAccept_AL7_UnbuildableCommitsAndMerges(t *testing.T) {
	r := history(t)
	subject, l := r.failing("TestSum"), r.line("main~6", "main")
	var titles []string
	for _, c := range l.Commits() {
		titles = append(titles, c.Title)
	}
	if got := strings.Join(titles, ", "); got != "text, merge side, test, typo, subtract, more text" {
		t.Fatalf("the commits are %s", got)
	}
	if m := l.Commits()[1]; !m.Merge || strings.Join(m.Paths, " ") != "side/more.go side/side.go" {
		t.Errorf("the merge is %+v", m)
	}
	if weights := fmt.Sprint(l.Prior(subject)); weights != "[0.1 1 8 6 6 0.1]" {
		t.Errorf("the prior is %s", weights)
	}
	var told []string
	result := must.Get(l.Find(t.Context(), subject, culprit.Options{Progress: func(p culprit.Progress) {
		if p.Done && p.Result.Why != "" {
			told = append(told, fmt.Sprint(p.Commit, " ", p.Result.Why))
		}
	}}))(t)
	if result.Ending != culprit.Found || result.Suspects.First != 4 || result.Suspects.Last != 5 || !result.Verified {
		t.Errorf("got %+v", result)
	}
	if len(told) != 1 || !strings.HasPrefix(told[0], "4 it does not build: ") || len(result.Skipped) != 1 || result.Skipped[0].Commit != 4 {
		t.Errorf("told %q, skipped %+v", told, result.Skipped)
	}
	if c := result.Pair; c.Culprit.Passed+c.Parent.Failed > 0 || min(c.Culprit.Failed, c.Parent.Passed) == 0 {
		t.Errorf("the pair is %+v", c)
	}
	if base := result.Counts[0]; base.Failed > 0 || base.Passed == 0 { // with the test of head
		t.Errorf("the base has %+v", base)
	}
}

// TestAccept_AL7_TheCommitThatBringsAFailingTest: no product passes it, so what began it is the commit that added it.
func TestAccept_AL7_TheCommitThatBringsAFailingTest(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	r := newRepository(t)
	r.write("go.mod", "module example.com/shop\n\ngo 1.26\n")
	r.commit("begin", "sum/sum.go", broken)
	r.commit("text", "README.md", "a shop\n")
	r.commit("test", "sum/sum_test.go", sumTest)
	r.commit("more text", "README.md", "a shop that adds\n")
	result, err := r.line("main~3", "main").Find(t.Context(), r.failing("TestSum"), culprit.Options{})
	if err != nil || result.Ending != culprit.Found || result.Suspects.First != 2 || result.Suspects.Last != 2 || !result.Verified {
		t.Errorf("got %+v, %v", result, err)
	}
	if c := result.Counts; !result.Pair.Known || c[0].Passed+c[0].Failed+c[1].Passed+c[1].Failed > 0 || c[2].Failed == 0 { // nothing was run before it
		t.Errorf("runs: %+v, pair %+v", c, result.Pair)
	}
}

// TestAccept_AL7_ChangesThatAreNotCommitted: they are the last commit, also where there is no other one.
func TestAccept_AL7_ChangesThatAreNotCommitted(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	r := newRepository(t)
	r.write("go.mod", "module example.com/shop\n\ngo 1.26\n")
	r.write("sum/sum.go", sum)
	r.commit("begin", "sum/sum_test.go", sumTest)
	r.write("sum/sum.go", broken)
	l := r.line("HEAD", "")
	if list := l.Commits(); len(list) != 1 || list[0].ID != "" || strings.Join(list[0].Paths, " ") != "sum/sum.go" {
		t.Fatalf("the commits are %+v", list)
	}
	result, err := l.Find(t.Context(), r.failing("TestSum"), culprit.Options{Ends: 2, Verify: 3, Time: time.Hour})
	if err != nil || result.Ending != culprit.Found || result.Suspects.First != 1 || !result.Verified {
		t.Errorf("got %+v, %v", result, err)
	}
}

// TestHeadTestsAtEveryCommit: a test that was changed shows with HeadTests which commit of the product it fails since, and otherwise that it
// fails since its own change.
func TestHeadTestsAtEveryCommit(t *testing.T) {
	tier.Long(t, "host/experiment/culprit")
	t.Setenv("TMPDIR", t.TempDir())
	r := newRepository(t)
	r.write("go.mod", "module example.com/shop\n\ngo 1.26\n")
	r.write("sum/sum.go", sum)
	r.commit("begin", "sum/sum_test.go", strings.Replace(sumTest, "Sum(2, 1); got != 3", "Sum(2, 0); got != 2", 1))
	r.commit("subtract", "sum/sum.go", broken)
	r.commit("text", "README.md", "a shop\n")
	r.commit("a better test", "sum/sum_test.go", sumTest)
	subject := r.failing("TestSum")
	for _, c := range []struct {
		headTests bool
		culprit   int
	}{{true, 1}, {false, 3}} {
		l := must.Get(culprit.OpenLine(t.Context(), culprit.LineConfig{
			Source: filepath.Join(r.dir, "sum"), Base: "main~3", Head: "main", HeadTests: c.headTests, Lab: experiment.Config{Flags: []string{"-ldflags=-s"}, Apart: -1},
		}))(t)
		result, err := l.Find(t.Context(), subject, culprit.Options{Ends: 2, Verify: 3})
		if err != nil || result.Ending != culprit.Found || result.Suspects.First != c.culprit || result.Suspects.Last != c.culprit {
			t.Errorf("tests of head %v: got %+v, %v", c.headTests, result, err)
		}
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestOpenSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	r := newRepository(t)
	r.commit("one", "a", "1")
	r.commit("two", "a", "2")
	r.git("checkout", "-q", "--orphan", "other")
	r.commit("three", "a", "3")
	for _, c := range []struct {
		base, head string
		most       int
		want       string
	}{
		{"nowhere", "main", 0, `no such revision "nowhere"`},
		{"main", "main~1", 0, "main~1 has no commit that main has not"},
		{"main", "other", 0, "the history of other does not reach main"},
		{"main~1", "main", -1, "expected positive numbers"},
		{"other", "", 0, "HEAD has no commit that other has not"},
	} {
		_, err := culprit.OpenLine(t.Context(), culprit.LineConfig{Source: r.dir, Base: c.base, Head: c.head, Most: c.most})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s..%s: got %v, want %s", c.base, c.head, err, c.want)
		}
	}
}

func TestAccept_AL7_HunkOfACommitIsOfTheCodeUnderTest(t *testing.T) {
	t.Parallel()
	r := newRepository(t)
	r.commit("begin", "cart/cart.go", "package cart\n\n// Total adds.\nfunc Total(a, b int) int {\n\treturn a + b\n}\n")
	r.write("README.md", "text\n")
	r.write("cart/cart_test.go", "package cart\n\nvar x = 1\n")
	r.commit("subtract", "cart/cart.go", "package cart\n\n// Total subtracts.\nfunc Total(a, b int) int {\n\treturn a - b\n}\n")
	r.commit("say so", "README.md", "more\n")
	line := must.Get(culprit.OpenLine(t.Context(), culprit.LineConfig{Source: r.dir, Base: "HEAD~2"}))(t)
	defer func() { _ = line.Close() }()
	c := &abi.Case{ID: "m/cart.TestTotal", Group: "m/cart"}
	for commit, want := range []struct {
		path string
		hunk repo.Edit
	}{
		{"cart/cart.go", repo.Edit{Hunk: repo.Hunk{OldFirst: 5, NewFirst: 5, OldLines: 1, NewLines: 1}, Removed: []string{"\treturn a + b"}, Added: []string{"\treturn a - b"}}},
		{"README.md", repo.Edit{Hunk: repo.Hunk{OldFirst: 1, NewFirst: 1, OldLines: 1, NewLines: 1}, Removed: []string{"text"}, Added: []string{"more"}}},
	} {
		path, hunk, err := line.Hunk(t.Context(), c, commit)
		if err != nil || path != want.path {
			t.Errorf("commit %d: %q, %v", commit, path, err)
		}
		if diff := cmp.Diff(want.hunk, hunk); diff != "" {
			t.Errorf("commit %d: %s", commit, diff)
		}
	}
}

// TestPriorKnowsWhatAFailureNames: by frames, the test's file, packages of Go, and modules and classes whose names have dots.
func TestPriorKnowsWhatAFailureNames(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		class, log, files string
		weights           map[string]float64
	}{
		{
			"example.com/shop/cart", "    cart_test.go:12: got 1\n\t/home/a/shop/price/price.go:7 +0x1\n",
			"cart/cart.go cart/cart_test.go price/price.go price/other.go price/cart_test.go cart/testdata/x.json go.mod README.md",
			map[string]float64{"cart/cart.go": 6, "cart/cart_test.go": 8, "price/price.go": 8, "price/other.go": 1, "price/cart_test.go": 0.25, "cart/testdata/x.json": 6, "go.mod": 1, "README.md": 0.1},
		},
		{"example.com/shop", "    shop_test.go:12: got 1\n", "shop.go shop_test.go cart/cart.go", map[string]float64{"shop.go": 6, "shop_test.go": 8, "cart/cart.go": 1}},
		{
			"tests.unit.test_cart.TestCart", "tests/unit/test_cart.py:3: AssertionError\nsrc/shop/cart.py:9: in total\n/usr/lib/python3/site-packages/cart.py:1: in x\n",
			"tests/unit/test_cart.py tests/unit/conftest.py src/shop/cart.py src/shop/price.py src/other/cart.py",
			map[string]float64{"tests/unit/test_cart.py": 8, "tests/unit/conftest.py": 6, "src/shop/cart.py": 8, "src/shop/price.py": 1, "src/other/cart.py": 6},
		},
		{
			"org.shop.CartTest", "\tat org.shop.CartTest.total(CartTest.java:9)\n", "src/main/java/org/shop/Cart.java src/test/java/org/shop/CartTest.java src/main/java/org/price/Price.java",
			map[string]float64{"src/main/java/org/shop/Cart.java": 6, "src/test/java/org/shop/CartTest.java": 8, "src/main/java/org/price/Price.java": 1},
		},
		{"cart adds", "at Object.<anonymous> (/a/test/cart.spec.ts:3:1)\n", "test/cart.spec.ts src/cart.ts src/price.ts", map[string]float64{"src/cart.ts": 6, "src/price.ts": 1, "test/cart.spec.ts": 8}},
		{"", "nothing", "a/a.go", map[string]float64{"a/a.go": 1, "b.go": 6}},
		{"/../..//.", strings.Repeat("/../x.go:1\n", 5000), "x.go", map[string]float64{"x.go": 8}},
	} {
		subject := &abi.Case{Group: c.class, Subject: "TestX fails in " + c.class, Documents: []abi.Document{{Name: "log", Text: c.log}}}
		for path, want := range c.weights {
			got := culprit.Prior(subject, strings.Fields(c.files), [][]string{{path}, {"CHANGES.md", path}, nil})
			if fmt.Sprint(got) != fmt.Sprint([]float64{want, max(want, 0.1), 0.1}) {
				t.Errorf("%s: %s has the weights %v, want %v", c.class, path, got, want)
			}
		}
	}
}
