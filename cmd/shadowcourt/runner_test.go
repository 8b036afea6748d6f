package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/testkit/tier"
)

// allRunners says that tests of runners take their time and install what they need: `make runner-tests`.
func allRunners() bool { return os.Getenv("SHADOWCOURT_RUNNERS") != "" }

// project is a project in a git repository: its green revision has the tag green, the head is not committed.
type project struct {
	dir         string
	green, head map[string]string
}

func (p *project) write(t *testing.T) {
	t.Helper()
	p.dir = filepath.Join(t.TempDir(), "project")
	p.add(t, p.green)
	shell(t, p.dir, "git init -q -b main . && git add . && git -c user.name=n -c user.email=e@example.com commit -qm green && git tag green && echo done")
	p.add(t, p.head)
}

func (p *project) add(t *testing.T, files map[string]string) {
	t.Helper()
	for name, text := range files {
		file := filepath.Join(p.dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
}

// tool runs a command that may fail, such as a test runner, and gives what it wrote.
func (p *project) tool(t *testing.T, env []string, name string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir = p.dir
	cmd.Env = append(os.Environ(), env...)
	out, _ := cmd.CombinedOutput()
	return string(out)
}

// install runs a command that needs a registry of packages. Without the network the test is skipped.
func (p *project) install(t *testing.T, name string, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir = p.dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Skipf("can't be installed here: %s %v: %v\n%.2000s", name, args, err, out)
	}
}

// try tries a report with all experiments, and gives results by the ids of the cases, with what went to the standard error.
func (p *project) try(t *testing.T, env []string, report string, args ...string) (map[string]*tried, string) {
	t.Helper()
	args = append([]string{"try", report, "--source", ".", "--since", "green", "--experiments", "all", "--from", "no-groups", "--format", "json", "--workers", "2"}, args...)
	cmd := exec.CommandContext(t.Context(), "shadowcourt", args...)
	cmd.Dir = p.dir
	cmd.Env = append(append(os.Environ(), userEnv(t)...), env...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, stderr.String())
	}
	var written struct {
		Results []*tried `json:"results"`
	}
	if err := json.Unmarshal(out, &written); err != nil {
		t.Fatalf("%v\n%.1000s", err, out)
	}
	byID := map[string]*tried{}
	for _, r := range written.Results {
		byID[r.ID] = r
	}
	t.Logf("%s", stderr.String())
	return byID, stderr.String()
}

// tried is what is read of a result.
type tried struct {
	ID    string `json:"id"`
	Final struct {
		Classification string `json:"classification"`
	} `json:"final"`
	Experiments []trial.Experiment `json:"experiments"`
}

// outcomes are what the experiments of a trial showed, as "head/base: passed"; of the tree under test all of them.
func outcomes(r *tried) []string {
	var all []string
	for _, e := range r.Experiments {
		all = append(all, string(e.Product)+"/"+string(e.Tests)+": "+string(e.Outcome))
	}
	return all
}

// expectation is what a case has to come to, with outcomes of which its trial has to have one and others that it may not have. No run
// tells an environment that is broken everywhere from an older fault: there the text decides, and a test may leave the label open.
type expectation struct {
	id, label    string
	some, noneOf []string
}

func (d *expectation) check(t *testing.T, results map[string]*tried) {
	t.Helper()
	r := results[d.id]
	if r == nil {
		t.Errorf("%s: there is no such case", d.id)
		return
	}
	got := outcomes(r)
	if len(d.some) > 0 && !slices.ContainsFunc(got, func(o string) bool { return slices.Contains(d.some, o) }) {
		t.Errorf("%s: none of %q is among %q", d.id, d.some, got)
	}
	for _, not := range d.noneOf {
		if slices.ContainsFunc(got, func(o string) bool { return strings.Contains(o, not) }) {
			t.Errorf("%s: %q is among %q", d.id, not, got)
		}
	}
	if d.label != "" && r.Final.Classification != d.label {
		t.Errorf("%s: %+v, want %s\n%q", d.id, r.Final, d.label, got)
	}
	if t.Failed() {
		for _, e := range r.Experiments {
			t.Logf("%s/%s/%s: %s %s", e.Product, e.Tests, e.Environment, e.Outcome, e.Detail)
		}
	}
}

// oneIsFlaky checks that one of several flaky tests is found out: each passes one run in two, and by chance all runs of one may agree.
func oneIsFlaky(t *testing.T, results map[string]*tried, prefix string) {
	t.Helper()
	n := 0
	for id, r := range results {
		if strings.HasPrefix(id, prefix) {
			if n++; r.Final.Classification == "nd001" {
				return
			}
			t.Logf("%s: %+v %q", id, r.Final, outcomes(r))
		}
	}
	t.Errorf("none of %d flaky tests is found out", n)
}

// pythonProject has a package below src, which only an installation makes importable, as many projects have.
func pythonProject() *project {
	tests := `import os
import random
import socket

import pytest

import shop


class TestTotal:
    @pytest.mark.parametrize("prices,want", [((1, 2), 3), ((), 0)])
    def test_sum(self, prices, want):
        assert shop.total(prices) == want


def test_greeting():
    assert shop.greet() == "Hello"


def test_region():
    assert os.environ["SHOP_REGION"]


def test_database():
    socket.create_connection(("127.0.0.1", int(os.environ.get("SHOP_PORT", 1))))
    assert shop.total([1]) == 2


random.seed(os.environ.get("WEATHER"))


@pytest.mark.parametrize("day", [1, 2, 3])
def test_weather(day):
    assert random.random() > 0.5
`
	empty := "import shop\n\n\ndef test_empty():\n    assert shop.total([]) == WANT\n"
	return &project{
		green: map[string]string{
			".gitignore":           ".venv\nvenv\n__pycache__\n.pytest_cache\n*.egg-info\nreport*.xml\n",
			"pyproject.toml":       "[project]\nname = \"shop\"\nversion = \"1\"\n\n[tool.pytest.ini_options]\ntestpaths = [\"tests\"]\npythonpath = [\"src\"]\n",
			"src/shop/__init__.py": "def total(prices):\n    return sum(prices)\n\n\ndef greet():\n    return \"Hello\"\n",
			"tests/test_cart.py":   tests,
			"tests/test_empty.py":  strings.ReplaceAll(empty, "WANT", "0"),
		},
		head: map[string]string{
			"src/shop/__init__.py": "from shop import vat\n\n\ndef total(prices):\n    return sum(prices[1:])\n\n\ndef greet():\n    return \"Good day\"\n\n\ndef count():\n    return vat.RATE\n",
			"src/shop/vat.py":      "RATE = 19\n",
			"tests/test_empty.py":  strings.ReplaceAll(empty, "WANT", "1"),
			"tests/test_vat.py":    "import shop.vat\n\n\ndef test_rate():\n    assert shop.vat.RATE == 20\n",
		},
	}
}

// needPytest skips the test without pytest.
func needPytest(t *testing.T) {
	t.Helper()
	for _, tool := range []string{"git", "pytest"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("%s is not installed; make runner-tests installs pytest", tool)
		}
	}
}

// TestAccept_EX9_Pytest: a regression and a broken environment through the whole command, and what can't be run.
func TestAccept_EX9_Pytest(t *testing.T) {
	t.Parallel()
	tier.Long(t, "host/experiment")
	needPytest(t)
	p := pythonProject()
	p.write(t)
	only := []string{"tests/test_cart.py::TestTotal", "tests/test_cart.py::test_region", "--junitxml=report.xml"}
	out := p.tool(t, nil, "pytest", only...)
	results, stderr := p.try(t, nil, "report.xml")
	if len(results) != 2 {
		t.Fatalf("%d cases of\n%s\n%s", len(results), out, stderr)
	}
	for _, want := range []expectation{
		{"tests.test_cart.TestTotal.test_sum[prices0-3]", "pb001", []string{"base/head: passed", "base/base: passed"}, []string{"other", "not_"}},
		{"tests.test_cart.test_region", "si001", []string{"base/base: same_failure"}, []string{"other", "not_", "passed"}},
	} {
		want.check(t, results)
	}
	p.unable(t)
}

// unable tries what can't be run: each says why, and is decided by reading.
func (p *project) unable(t *testing.T) {
	t.Helper()
	tools := t.TempDir()
	for _, name := range []string{"git", "shadowcourt"} {
		command, err := exec.LookPath(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(command, filepath.Join(tools, name)); err != nil {
			t.Fatal(err)
		}
	}
	p.add(t, map[string]string{"report-other.xml": `<testsuites><testsuite name="pytest" tests="3">
<testcase classname="tests.test_cart" name="test_gone"><failure>tests/test_cart.py:3: AssertionError
E       assert 1 == 2</failure></testcase>
<testcase classname="tests.test_none" name="test_x"><failure>E       assert 1 == 2</failure></testcase>
<testcase classname="tests.test_cart" name="test_database"><failure>tests/test_cart.py:31: AssertionError
E       assert 0 == 2</failure></testcase>
</testsuite></testsuites>`})
	results, stderr := p.try(t, []string{"PATH=" + tools}, "report-other.xml")
	if !strings.Contains(stderr, "no experiments: pytest is not installed") || len(results) != 3 {
		t.Errorf("%d cases without pytest, and\n%s", len(results), stderr)
	}
	results, stderr = p.try(t, nil, "report-other.xml")
	if !strings.Contains(stderr, `no experiments for tests.test_none.test_x: pytest finds no file of the test`) {
		t.Errorf("of a test without a file it says\n%s", stderr)
	}
	for id, why := range map[string]string{
		"tests.test_cart.test_gone":     "the test is not found in the tree under test",
		"tests.test_cart.test_database": "the test needs a network or a service, such as a database",
	} {
		notRun := func(e trial.Experiment) bool {
			return e.Outcome == abi.OutcomeNotRun && strings.Contains(e.Detail, why)
		}
		if r := results[id]; r == nil || !slices.ContainsFunc(r.Experiments, notRun) {
			t.Errorf("%s: %+v", id, r)
		}
	}
}

// TestAccept_EX9_PytestFindsEveryFault has pytest and the package under test installed into an environment of the project, in
// development mode, so that without care every tree would run the product of the checkout.
func TestAccept_EX9_PytestFindsEveryFault(t *testing.T) {
	t.Parallel()
	tier.Long(t, "host/experiment")
	if !allRunners() {
		t.Skip("it installs pytest and takes minutes: make runner-tests")
	}
	p := pythonProject()
	p.green["pyproject.toml"] = "[build-system]\nrequires = [\"setuptools\"]\nbuild-backend = \"setuptools.build_meta\"\n\n" +
		strings.ReplaceAll(p.green["pyproject.toml"], "pythonpath = [\"src\"]\n", "")
	p.write(t)
	p.install(t, "python3", "-m", "venv", ".venv")
	p.install(t, ".venv/bin/pip", "install", "-q", "pytest", "setuptools", "wheel")
	p.install(t, ".venv/bin/pip", "install", "-q", "--no-build-isolation", "-e", ".")
	p.tool(t, nil, ".venv/bin/pip", "uninstall", "-q", "-y", "wheel")
	out := p.tool(t, []string{"WEATHER=" + p.rain(t)}, ".venv/bin/pytest", "--junitxml=report.xml")
	results, stderr := p.try(t, nil, "report.xml")
	if len(results) < 8 {
		t.Fatalf("%d cases of\n%s\n%s", len(results), out, stderr)
	}
	for _, want := range []expectation{
		{"tests.test_cart.TestTotal.test_sum[prices0-3]", "pb001", []string{"base/head: passed", "base/base: passed"}, []string{"other", "not_"}},
		{"tests.test_cart.test_greeting", "", []string{"base/head: passed", "base/base: passed"}, []string{"other", "not_"}},
		{"tests.test_empty.test_empty", "ab001", []string{"base/head: same_failure", "base/base: passed"}, []string{"other", "not_"}},
		{"tests.test_cart.test_region", "si001", []string{"base/base: same_failure"}, []string{"other", "not_", "passed"}},
		{"tests.test_cart.test_database", "", nil, []string{"passed"}},
		{"tests.test_vat.test_rate", "", []string{"base/head: not_built", "base/base: no_test"}, []string{"passed"}},
	} {
		want.check(t, results)
	}
	oneIsFlaky(t, results, "tests.test_cart.test_weather")
}

// rain is a seed with which all flaky tests fail.
func (p *project) rain(t *testing.T) string {
	t.Helper()
	return strings.TrimSpace(p.tool(t, nil, "python3", "-c", `
import random
seed = 0
while True:
    random.seed(str(seed))
    if all(random.random() <= 0.5 for _ in range(3)):
        break
    seed += 1
print(seed)`))
}
