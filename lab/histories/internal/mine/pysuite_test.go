package mine

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/lab/internal/history"
)

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
	p := newPySuite(repository, folder)
	m := &Miner{repository: repository, suite: p}
	fakeEnvironment(ctx, t, tree)
	trees := map[history.Role]history.Tree{history.Base: {Start: base}, history.Head: {Start: head}}
	for role, one := range trees {
		one.Commit = one.Start
		trees[role] = one
	}
	p.environments.spoiled = true // the one that is there is right for all trees
	file := filepath.Join(folder, "report.xml")
	run := exec.CommandContext(ctx, "python3", "-m", "pytest", "-p", "no:cacheprovider", "--junitxml="+file, "tests/test_shop.py::TestTotal::test_sum[2]")
	run.Dir, run.Env = source, append(os.Environ(), "PYTHONPATH=src")
	_ = run.Run() // it fails
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	report := history.Report{Runner: "pytest", Group: "tests.test_shop.TestTotal", Test: "test_sum[2]", Text: string(text)}
	c := &history.Case{Kind: history.Regression, Trees: trees, Failure: report}
	entry, err := report.Entry()
	if err != nil {
		t.Fatal(err)
	}
	sub := m.sampler(c, &entry.Case)
	defer func() {
		if err := sub.close(); err != nil {
			t.Error(err)
		}
	}()
	lab, err := sub.lab(ctx, false)
	if err != nil {
		t.Fatal(err)
	}
	for of, want := range map[abi.TreeRevision]abi.ExperimentOutcome{abi.Head: abi.OutcomeSame, abi.Base: abi.OutcomePassed} {
		sample, err := sub.draw(ctx, lab, abi.Experiment{Product: of, Tests: of, Environment: abi.OriginalEnvironment, Order: abi.Alone, Runs: 2})
		if err != nil || len(sample.Runs) != 2 {
			t.Fatalf("%s: %+v, %v", of, sample, err)
		}
		for _, run := range sample.Runs {
			if run.Outcome != want {
				t.Errorf("%s: %+v", of, run)
			}
		}
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
