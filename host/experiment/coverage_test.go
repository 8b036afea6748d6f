package experiment_test

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/experiment"
	"github.com/shadowcourt/shadowcourt/host/experiment/isolate"
)

const covered = "head/head/coverage/alone/1"

// goProject is a module whose product has functions that the failing test calls and one that it does not call.
var goProject = map[string]string{
	"go.mod":            "module example.com/shop\n\ngo 1.26\n",
	"cart/cart.go":      "package cart\n\nimport \"example.com/shop/rate\"\n\n// Total is a sum.\nfunc Total(n int) int {\n\tif n > 9 {\n\t\treturn Large(n)\n\t}\n\treturn rate.Of(n)\n}\n\nfunc Large(n int) int {\n\treturn n\n}\n\nvar Unit = 1\n",
	"cart/cart_test.go": "package cart\n\nimport \"testing\"\n\nfunc TestTotal(t *testing.T) { if got := Total(1); got != 3 { t.Errorf(\"got %d\", got) } }\n",
	"rate/rate.go":      "package rate\n\nfunc Of(n int) int {\n\treturn n\n}\n",
	"other/other.go":    "package other\n\nfunc F() int {\n\treturn 1\n}\n",
	"data.txt":          "data\n",
}

// changedBy is a checkout of a project with changes that are not committed. Pairs of texts are replaced in their files.
func changedBy(t *testing.T, project map[string]string, change map[string][2]string) string {
	t.Helper()
	dir := t.TempDir()
	git(t, dir, "init", "-q", "-b", "main")
	write(t, dir, project)
	git(t, dir, "add", ".")
	git(t, dir, "commit", "-qm", "green")
	git(t, dir, "tag", "green")
	for name, c := range change {
		text := strings.Replace(project[name], c[0], c[1], 1)
		if text == project[name] {
			t.Fatalf("%s: no %q", name, c[0])
		}
		write(t, dir, map[string]string{name: text})
	}
	return dir
}

type replaced = map[string][2]string

// TestCoverageOfGo: whether the failing test executes what the change touched.
func TestCoverageOfGo(t *testing.T) {
	failed := &abi.Case{Subject: "TestTotal fails in example.com/shop/cart", Documents: []abi.Document{{Name: "log", Text: "    cart_test.go:5: got 1\n"}}}
	for _, c := range []struct {
		name   string
		change replaced
		want   abi.ChangedCode
		off    bool // it is not offered
	}{
		{"a line that is executed", replaced{"rate/rate.go": {"return n", "return n + 0"}}, abi.CodeExecuted, false},
		{"a line beside it", replaced{"cart/cart.go": {"return Large(n)", "return Large(n + 1)"}}, abi.CodeNotExecuted, false},
		{"a condition", replaced{"cart/cart.go": {"n > 9", "n > 8"}}, abi.CodeExecuted, false},
		{"a signature", replaced{"cart/cart.go": {"func Large(n int)", "func Large(n, _ int)"}, "rate/rate.go": {"\n", "\n\n"}}, "", false},
		{"a function that was removed", replaced{"cart/cart.go": {"func Large(n int) int {\n\treturn n\n}\n", "func Large(n int) int { return n }\n"}}, abi.CodeNotExecuted, false},
		{"a line that was removed", replaced{"cart/cart.go": {"\tif n > 9 {\n\t\treturn Large(n)\n\t}\n", ""}}, abi.CodeExecuted, false},
		{"another package", replaced{"other/other.go": {"return 1", "return 2"}}, abi.CodeNotExecuted, false},
		{"one of two", replaced{"other/other.go": {"return 1", "return 2"}, "rate/rate.go": {"return n", "return n + 0"}}, abi.CodeExecuted, false},
		{"a comment", replaced{"rate/rate.go": {"func", "// Of says it.\nfunc"}}, "", false},
		{"a variable beside functions that are executed", replaced{"cart/cart.go": {"Unit = 1", "Unit = 2"}}, abi.CodeExecuted, false},
		{"a variable elsewhere", replaced{"other/other.go": {"func F", "var V = 1\n\nfunc F"}}, abi.CodeNotExecuted, false},
		{"a crash in it", replaced{"rate/rate.go": {"return n", "panic(n)"}}, abi.CodeExecuted, false},
		{"a crash elsewhere", replaced{"cart/cart_test.go": {"t.Errorf(\"got %d\", got)", "panic(got)"}, "rate/rate.go": {"return n", "return n + 0"}}, "", false},
		{"data", replaced{"data.txt": {"data", "other data"}}, "", true},
		{"tests", replaced{"cart/cart_test.go": {"got != 3", "got != 4"}}, "", true},
		{"nothing", nil, "", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			l := open(t, experiment.Config{Source: changedBy(t, goProject, c.change), Base: "green", Mode: experiment.All, Budget: time.Hour})
			checkCoverage(t, l, failed, c.want, c.off)
		})
	}
}

// TestAccept_EX6_WhatATestWritesInPlaceOfAProfile tells nothing, and ends nothing.
func TestAccept_EX6_WhatATestWritesInPlaceOfAProfile(t *testing.T) {
	const main = "\n\nfunc TestMain(m *testing.M) {\n\tcode := m.Run()\n\tprofile := flag.Lookup(\"test.coverprofile\").Value.String()\n\tif profile != \"\" {\n\t\tos.Remove(profile)\n\t\tWRITE\n\t}\n\tos.Exit(code)\n}\n"
	failed := &abi.Case{Subject: "TestTotal fails in example.com/shop/cart", Documents: []abi.Document{{Name: "log", Text: "    cart_test.go:7: got 1\n"}}}
	for name, write := range map[string]string{
		"a link":            `os.Symlink("/etc/passwd", profile)`,
		"a pipe":            `syscall.Mkfifo(profile, 0o666)`,
		"a folder":          `os.Mkdir(profile, 0o777)`,
		"nothing":           ``,
		"the folder, moved": `os.RemoveAll(filepath.Dir(profile)); os.Symlink("/etc", filepath.Dir(profile))`,
		"a huge file":       `f, _ := os.Create(profile); f.WriteString("mode: set\n"); f.Truncate(1<<29)`,
		"no profile":        `os.WriteFile(profile, []byte("mode: set\nexample.com/shop/rate/rate.go:3.1,4.1 1\n"), 0o666)`,
		"endless numbers":   `os.WriteFile(profile, []byte("mode: set\nexample.com/shop/rate/rate.go:3.1,"+strings.Repeat("9", 99)+".1 1 1\n"), 0o666)`,
		"another form":      `os.WriteFile(profile, []byte("mode: set\nexample.com/shop/../../../rate/rate.go:9.1,3.1 1 1\n"), 0o666)`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			project := maps.Clone(goProject)
			project["cart/cart_test.go"] = "package cart\n\nimport (\"flag\"; \"os\"; \"path/filepath\"; \"strings\"; \"syscall\"; \"testing\")\n\nvar _, _, _ = filepath.Dir, strings.Repeat, syscall.Mkfifo\n" +
				"\nfunc TestTotal(t *testing.T) { if got := Total(1); got != 3 { t.Errorf(\"got %d\", got) } }" + strings.Replace(main, "WRITE", write, 1)
			dir := changedBy(t, project, replaced{"rate/rate.go": {"return n", "return n + 0"}})
			l := open(t, experiment.Config{Source: dir, Base: "green", Mode: experiment.All, Budget: time.Hour})
			r, err := l.Run(t.Context(), failed, parse(t, covered))
			if err != nil || r.Outcome != abi.OutcomeSame || r.Changed != "" {
				t.Errorf("got %+v, %v", r, err)
			}
		})
	}
}

// checkCoverage runs a test with coverage, where that is offered.
func checkCoverage(t *testing.T, l *experiment.Lab, failed *abi.Case, want abi.ChangedCode, off bool) {
	t.Helper()
	offers, err := l.Offers(t.Context(), failed)
	if err != nil {
		t.Fatal(err)
	}
	offered := false
	for _, o := range offers {
		offered = offered || o.Experiment.Environment == abi.CoverageEnvironment
	}
	r, err := l.Run(t.Context(), failed, parse(t, covered))
	if err != nil || offered == off || off != (r.Outcome == abi.OutcomeNotRun) && want != "" || r.Changed != want {
		t.Errorf("offered %v: got %+v, %v", offered, r, err)
	}
}

// needPytest skips the test without pytest, and where trees can't be seen in the place of the checkout.
func needPytest(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("pytest"); err != nil || !isolate.CanView() {
		t.Skipf("pytest: %v; views: %v", err, isolate.CanView())
	}
}

var pyProject = map[string]string{
	".gitignore":         ".venv\n__pycache__\n",
	"pytest.ini":         "[pytest]\npythonpath = src\n",
	"src/shop/cart.py":   "\"\"\"A cart.\"\"\"\nimport os\n\nUNIT = 1\n\n\ndef total(n):\n    if n > 9:\n        return large(\n            n,\n        )\n    return rate(n)\n\n\ndef rate(n):\n    return n\n\n\ndef large(n):\n    \"\"\"Of many.\"\"\"\n    return n\n",
	"src/shop/other.py":  "def f():\n    return 1\n",
	"tests/test_cart.py": "from shop.cart import total\n\n\ndef test_total():\n    assert total(1) == 3\n",
}

func pyCase() *abi.Case {
	return &abi.Case{
		Group: "tests.test_cart", Subject: "test_total fails in tests.test_cart",
		Documents: []abi.Document{{Name: "failure", Text: "    def test_total():\n>       assert total(1) == 3\nE       assert 1 == 3\nE        +  where 1 = total(1)\n\ntests/test_cart.py:5: AssertionError\n"}},
	}
}

func TestCoverageOfPytest(t *testing.T) {
	needPytest(t)
	for _, c := range []struct {
		name   string
		change replaced
		want   abi.ChangedCode
		off    bool
	}{
		{"a line that is executed", replaced{"src/shop/cart.py": {"def rate(n):\n    return n", "def rate(n):\n    return n + 0"}}, abi.CodeExecuted, false},
		{"a line beside it", replaced{"src/shop/cart.py": {"            n,\n", "            n + 1,\n"}}, abi.CodeNotExecuted, false},
		{"a signature", replaced{"src/shop/cart.py": {"def rate(n):", "def rate(n, more=1):"}}, abi.CodeExecuted, false},
		{"a function that is only defined", replaced{"src/shop/cart.py": {"def large(n):", "def large(n, more=1):"}}, abi.CodeNotExecuted, false},
		{"a line that was removed", replaced{"src/shop/cart.py": {"    if n > 9:\n        return large(\n            n,\n        )\n", ""}}, abi.CodeExecuted, false},
		{"a file that is not loaded", replaced{"src/shop/other.py": {"return 1", "return 2"}}, abi.CodeNotExecuted, false},
		{"what runs when the module is loaded", replaced{"src/shop/cart.py": {"UNIT = 1", "UNIT = 2"}}, abi.CodeExecuted, false},
		{"a comment", replaced{"src/shop/cart.py": {"UNIT = 1", "UNIT = 1  \n# one"}}, abi.CodeExecuted, false},
		{"a docstring", replaced{"src/shop/cart.py": {"Of many.", "Of more."}}, "", false},
		{"a process", replaced{"src/shop/other.py": {"return 1", "return 2"}, "tests/test_cart.py": {"    assert", "    import subprocess; subprocess.run(['true'])\n    assert"}}, "", false},
		{"settings", replaced{"pytest.ini": {"src", "src ."}}, "", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := changedBy(t, pyProject, c.change)
			l := open(t, experiment.Config{Source: dir, Base: "green", Mode: experiment.All, Budget: time.Hour})
			checkCoverage(t, l, pyCase(), c.want, c.off)
		})
	}
}

// TestPytestThatGetsNoPlugin: runs of a pytest that ignores variables count, and are not certified.
func TestPytestThatGetsNoPlugin(t *testing.T) {
	needPytest(t)
	command, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no Python")
	}
	dir := changedBy(t, pyProject, replaced{"src/shop/other.py": {"return 1", "return 2"}})
	write(t, dir, map[string]string{".venv/bin/pytest": "#!/bin/sh\nexec '" + command + "' -E -m pytest \"$@\"\n"})
	if err := os.Chmod(filepath.Join(dir, ".venv", "bin", "pytest"), 0o755); err != nil {
		t.Fatal(err)
	}
	l := open(t, experiment.Config{Source: dir, Base: "green", Mode: experiment.All, Budget: time.Hour})
	for _, name := range []string{again, covered} {
		r, err := l.Run(t.Context(), pyCase(), parse(t, name))
		if err != nil || r.Outcome != abi.OutcomeSame || r.Loaded != abi.NotCertified || r.Changed != "" {
			t.Errorf("%s: got %+v, %v", name, r, err)
		}
	}
}

// TestAccept_AL3_PytestLoadsAnInstalledPackage: a copy of the project's package comes before that of the tree, so that each tree runs it.
func TestAccept_AL3_PytestLoadsAnInstalledPackage(t *testing.T) {
	needPytest(t)
	for _, c := range []struct {
		name, pythonPath string // CHECKOUT and COPY stand for folders
		base             abi.ExperimentOutcome
		want             abi.LoadedCode
	}{
		{"a copy", "COPY", abi.OutcomeSame, abi.Contradicted},
		{"the folder of the checkout", "CHECKOUT/src", abi.OutcomePassed, abi.Certified},
	} {
		t.Run(c.name, func(t *testing.T) {
			project := maps.Clone(pyProject)
			project["pytest.ini"] = "[pytest]\n"
			project["tests/test_cart.py"] = "from shop.cart import total\n\n\ndef test_total():\n    assert total(1) == 1\n"
			dir, copied := changedBy(t, project, replaced{"src/shop/cart.py": {"def rate(n):\n    return n", "def rate(n):\n    return n + 1"}}), t.TempDir()
			if err := os.CopyFS(filepath.Join(copied, "shop"), os.DirFS(filepath.Join(dir, "src", "shop"))); err != nil {
				t.Fatal(err)
			}
			t.Setenv("PYTHONPATH", strings.NewReplacer("COPY", copied, "CHECKOUT", dir).Replace(c.pythonPath))
			failed := pyCase()
			failed.Documents[0].Text = strings.NewReplacer("== 3", "== 1", "1 ==", "2 ==", "where 1", "where 2").Replace(failed.Documents[0].Text)
			l := open(t, experiment.Config{Source: dir, Base: "green", Mode: experiment.All, Budget: time.Hour})
			for name, want := range map[string]abi.ExperimentOutcome{again: abi.OutcomeSame, onlyGreen: c.base} {
				r, err := l.Run(t.Context(), failed, parse(t, name))
				if err != nil || r.Outcome != want || r.Loaded != c.want || (c.want == abi.Contradicted) != strings.Contains(r.Detail, "module shop.cart comes from ") {
					t.Errorf("%s: got %+v, %v", name, r, err)
				}
			}
		})
	}
}
