package mine

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/experiment"
	"github.com/shadowcourt/shadowcourt/host/lab/internal/history"
)

func TestWithoutSource(t *testing.T) {
	t.Parallel()
	c := xmlCase{Class: "tests.test_a.TestB", Name: "test_c[1<2]", Time: "0.1", Failures: []xmlFailure{{
		Message: "assert 1 == 2\n  of code",
		Text:    "self = <B>\n\n    def test_c(self):\n>       assert one() == 2\nE       assert 1 == 2\nE         + where 1 = one()\n\ntests/test_a.py:4: AssertionError",
	}, {
		Message: "SyntaxError",
		Text:    "tests/test_a.py:1: in <module>\n    import b\nE     File \"/tree/b.py\", line 3\nE       secret = (\nE                ^\nE   SyntaxError: '(' was never closed",
	}}}
	text := c.withoutSource("pytest", outcomes)
	for _, kept := range []string{"test_c[1&lt;2]", "E       assert 1 == 2", "tests/test_a.py:4: AssertionError", "SyntaxError: "} {
		if !strings.Contains(text, kept) {
			t.Errorf("%q is missing in\n%s", kept, text)
		}
	}
	for _, code := range []string{"def test_c", "one() == 2", "import b", "secret", "of code"} {
		if strings.Contains(text, code) {
			t.Errorf("%q is code, in\n%s", code, text)
		}
	}
}

// A project whose base and head are two commits: its test passes in the first, and fails in the second.
func TestPySuite(t *testing.T) {
	if testing.Short() {
		t.Skip("runs pytest many times")
	}
	if out, err := exec.Command("python3", "-m", "pytest", "--version").CombinedOutput(); err != nil {
		t.Skipf("python3 has no pytest: %s", out)
	}
	ctx := t.Context()
	folder := t.TempDir()
	snapshot := filepath.Join(folder, "snapshot", ".git")
	write := func(top, name, text string) {
		name = filepath.Join(top, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	git := func(args ...string) string {
		cmd := exec.Command("git", append([]string{"-C", filepath.Dir(snapshot), "-c", "user.name=a", "-c", "user.email=a@localhost"}, args...)...)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	source := filepath.Dir(snapshot)
	write(source, "pyproject.toml", "[project]\nname = \"shop\"\n")
	write(source, "src/shop/__init__.py", "def total(a):\n    return sum(a)\n")
	write(source, "tests/test_shop.py", "import pytest, shop\n\nclass TestTotal:\n    @pytest.mark.parametrize('n', [1, 2])\n    def test_sum(self, n):\n        assert shop.total([n, n]) == 2 * n\n\ndef test_empty():\n    assert shop.total([]) == 0\n")
	git("init", "-q")
	git("add", "-A")
	git("commit", "-qm", "base")
	base := git("rev-parse", "HEAD")
	write(source, "src/shop/__init__.py", "def total(a):\n    return max(a, default=0) + 1 if a else 0\n")
	git("commit", "-qam", "head")
	head := git("rev-parse", "HEAD")

	repository, err := history.OpenRepository(ctx, snapshot, filepath.Join(folder, "tree"), nil)
	if err != nil {
		t.Fatal(err)
	}
	tree := repository.Folder()
	p, err := newPySuite(repository, folder)
	if err != nil {
		t.Fatal(err)
	}
	m := &Miner{repository: repository, suite: p}
	fakeEnvironment(ctx, t, tree)
	trees := map[history.Role]history.Tree{history.Base: {Start: base}, history.Head: {Start: head}}
	for role, one := range trees {
		one.Commit = one.Start
		trees[role] = one
	}
	p.environments.spoiled = true // the one that is there is right for all trees
	one := trees[history.Head]
	all, err := m.runTree(ctx, &one, []string{"tests/test_shop.py"}, surroundings{})
	if err != nil {
		t.Fatal(err)
	}
	o := all["tests/test_shop.py"]
	if !o.passed["test_empty"] || o.passed["test_sum[1]"] != true || o.problem != "" {
		t.Errorf("head: %+v", o)
	}
	report, ok := o.failed["test_sum[2]"]
	if !ok || report.Group != "tests.test_shop.TestTotal" {
		t.Fatalf("head: %+v", o)
	}
	if id := p.ids["tests/test_shop.py test_sum[2]"]; id != "./tests/test_shop.py::TestTotal::test_sum[2]" {
		t.Errorf("the test is called %s", id)
	}
	c := &history.Case{Kind: history.Regression, Trees: trees, Failure: report}
	entry, err := report.Entry()
	if err != nil {
		t.Fatal(err)
	}
	sub := sampler{miner: m, subject: &entry.Case, labs: map[bool]*experiment.Lab{}, c: c}
	defer func() {
		if err := sub.close(); err != nil {
			t.Error(err)
		}
	}()
	for _, k := range []cell{{history.Head, history.Head, abi.OriginalEnvironment, abi.Alone, 2}, {history.Base, history.Base, abi.OriginalEnvironment, abi.Alone, 1}} {
		if err := sub.run(ctx, k); err != nil {
			t.Fatal(err)
		}
	}
	if c.Cells[0].Runs != "SS" || c.Cells[1].Runs != "P" {
		t.Errorf("the cells are %+v", c.Cells)
	}
	if c.Loaded[history.Base] != history.Certified || c.Loaded[history.Head] != history.Certified {
		t.Errorf("loaded: %v", c.Loaded)
	}
}

// fakeEnvironment has the pytest of the system in place of one that would have to be fetched.
func fakeEnvironment(ctx context.Context, t *testing.T, tree string) {
	t.Helper()
	env := filepath.Join(tree, ".venv")
	if err := command(ctx, "python3", "-m", "venv", "--without-pip", "--system-site-packages", env); err != nil {
		t.Fatal(err)
	}
	sites, err := filepath.Glob(filepath.Join(env, "lib", "python3*", "site-packages"))
	if err != nil || len(sites) != 1 {
		t.Fatal(sites, err)
	}
	p := pyEnvironments{}
	if err := p.project(ctx, env, sites[0], "", tree); err != nil {
		t.Fatal(err)
	}
	script := "#!" + filepath.Join(env, "bin", "python") + "\nimport sys, pytest\nsys.exit(pytest.main())\n"
	if err := os.WriteFile(filepath.Join(env, "bin", "pytest"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
}
