package experiment

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/docket/junit"
	"github.com/shadowcourt/shadowcourt/host/experiment/isolate"
	"github.com/shadowcourt/shadowcourt/internal/testkit/check"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
	"github.com/shadowcourt/shadowcourt/repo"
)

// sourceOf is a git repository with these files.
func sourceOf(t *testing.T, dir string, files map[string]string) *origin {
	t.Helper()
	top := t.TempDir()
	for name, text := range files {
		file := filepath.Join(top, filepath.FromSlash(name))
		must.Do(t, errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(text), 0o755)))
	}
	must.Git(t, top, "init", "-q", ".")
	repository := must.Get(repo.Open(t.Context(), filepath.Join(top, filepath.FromSlash(dir))))(t)
	head := must.Get(repository.Head(t.Context()))(t)
	return &origin{Top: repository.Top(), Dir: repository.Dir(), Head: head, Scratch: t.TempDir()}
}

// fakeTools are programs in PATH that do nothing.
func fakeTools(t *testing.T, names ...string) {
	t.Helper()
	dir := t.TempDir()
	for _, name := range names {
		must.Do(t, os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\necho 1.2.3\n"), 0o755))
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
}

// argsOf are the arguments of a run.
func argsOf(t *testing.T, target *projectTest, order bool) string {
	t.Helper()
	args := must.Get(target.args(order, "/scratch/report.xml", "/scratch"))(t)
	return strings.Join(args, " ")
}

// caseOf is a case as the reader of JUnit reports makes it.
func caseOf(class, name, file string) *abi.Case {
	c := &abi.Case{Group: class, Subject: name + " fails in " + class}
	if class == "" {
		c.Subject = name + " fails"
	}
	if file != "" {
		c.Documents = []abi.Document{{Name: "testcase", Text: "file=" + file + "\n"}}
	}
	return c
}

// TestSelect: the arguments that run a test. Names are data of others: they are no options, no patterns and no paths out of the project.
func TestSelect(t *testing.T) {
	fakeTools(t, "pytest", "ctest", "mvn", "gradle", "cargo-nextest")
	files := map[string]string{
		"py/pytest.ini": "", "py/tests/test_cart.py": "", "py/-x.py": "", "py/@args.py": "", "py/tests/unit/tax/test_fee.py": "", "few/pytest.ini": "", "few/tests/unit/test_fee.py": "", "py/specs/unit/tax/test_fee.py": "",
		"js/package.json": `{"devDependencies": {"jest": "1"}}`, "js/node_modules/.bin/jest": "#!/bin/sh\n", "js/src/cart.test.js": "", "js/packages/a/package.json": `{"jest": {}}`,
		"vite/vitest.config.ts": "", "vite/node_modules/.bin/vitest": "#!/bin/sh\n", "vite/src/cart.test.ts": "",
		"mvn/pom.xml": "", "mvn/shop/pom.xml": "", "mvn/shop/src/test/java/com/example/CartTest.java": "",
		"gradle/settings.gradle": "", "gradle/shop/build.gradle.kts": "", "gradle/shop/src/test/kotlin/com/example/CartTest.kt": "",
		"rs/Cargo.toml": "", "cpp/CMakeLists.txt": "project(shop CXX)", "cpp/src/CMakeLists.txt": "add_library(x)",
		"secret.py": "", "two/a/CMakeLists.txt": "project(a)", "two/b/CMakeLists.txt": "project(b)",
	}
	for i := range 30 {
		files[fmt.Sprintf("py/specs/slow/test_%d.py", i)] = ""
	}
	gradle := "--offline --no-daemon -Dorg.gradle.daemon.registry.base=/scratch/daemon --no-build-cache --console=plain --project-dir=shop test "
	vitest := "run --reporter=default --reporter=junit --outputFile.junit=/scratch/report.xml --coverage.enabled=false "
	surefire := "--batch-mode --offline --projects=shop --also-make -Dsurefire.failIfNoSpecifiedTests=false -DfailIfNoTests=false "
	for _, c := range []struct {
		name, runner, dir string
		subject           *abi.Case
		alone, order      string // arguments, or the error
	}{
		{"pytest", "pytest", "py", caseOf("tests.test_cart", "test_a", ""), "--junitxml=/scratch/report.xml ./tests/test_cart.py::test_a", "--junitxml=/scratch/report.xml ./tests"},
		{"folders", "pytest", "py", caseOf("tests.unit.tax.test_fee", "test_a", ""), "--junitxml=/scratch/report.xml ./tests/unit/tax/test_fee.py::test_a", "--junitxml=/scratch/report.xml ./tests"},
		{"few files", "pytest", "few", caseOf("tests.unit.test_fee", "test_a", ""), "--junitxml=/scratch/report.xml ./tests/unit/test_fee.py::test_a", "--junitxml=/scratch/report.xml"},
		{"many files", "pytest", "py", caseOf("specs.unit.tax.test_fee", "test_a", ""), "--junitxml=/scratch/report.xml ./specs/unit/tax/test_fee.py::test_a", "--junitxml=/scratch/report.xml ./specs/unit"},
		{"class", "pytest", ".", caseOf("tests.test_cart.TestA.TestB", "test_a[x y-::]", ""), "--junitxml=/scratch/report.xml ./tests/test_cart.py::TestA::TestB::test_a[x y-::]", "--junitxml=/scratch/report.xml ./tests"},
		{"import error", "pytest", "py", caseOf("pytest", "tests.test_cart", ""), "--junitxml=/scratch/report.xml ./tests/test_cart.py", "--junitxml=/scratch/report.xml ./tests"},
		{"file like an option", "pytest", "py", caseOf("-x", "test_a", ""), "pytest finds no file of the test", ""},
		{"file like a file of arguments", "pytest", "py", caseOf("@args", "test_a", ""), "--junitxml=/scratch/report.xml ./@args.py::test_a", "--junitxml=/scratch/report.xml ./."},
		{"out of the project", "pytest", "py", caseOf("...secret", "test_a", ""), "pytest finds no file of the test", ""},
		{"with slashes", "pytest", "py", caseOf("../secret", "test_a", ""), "pytest finds no file of the test", ""},
		{"zero byte", "pytest", "py", caseOf("tests.test_cart", "test_a\x00-x", ""), "can't be an argument", ""},
		{"name that was cut", "pytest", "py", caseOf("tests.test_cart", strings.Repeat("x", 512)+"…", ""), "the name of the test is too long", ""},
		{"no test", "pytest", "py", &abi.Case{Subject: "nightly"}, errNoTest.Error(), ""},
		{
			"jest", "jest", "js", caseOf("cart", "adds (2) | more$", "/home/ci/shop/src/cart.test.js"),
			`--watchman=false --coverage=false --reporters=default --reporters=jest-junit --testNamePattern=^(adds \(2\) \| more\$|cart adds \(2\) \| more\$)$ --runTestsByPath ./src/cart.test.js`,
			"--watchman=false --coverage=false --reporters=default --reporters=jest-junit --runTestsByPath ./src/cart.test.js",
		},
		{
			"without a file", "jest", "js", caseOf("", "--globalSetup=x", "../../etc/passwd"),
			`--watchman=false --coverage=false --reporters=default --reporters=jest-junit --testNamePattern=^--globalSetup=x$`,
			"--watchman=false --coverage=false --reporters=default --reporters=jest-junit",
		},
		{"vitest", "vitest", "vite", caseOf("src/cart.test.ts", "cart (a) > adds > 2", ""), vitest + `--testNamePattern=^\s*cart \(a\)(?: > | )adds(?: > | )2$ ./src/cart.test.ts`, vitest + "./src/cart.test.ts"},
		{"a file that does not load", "vitest", "vite", caseOf("src/cart.test.ts", "src/cart.test.ts", ""), vitest + "./src/cart.test.ts", vitest + "./src/cart.test.ts"},
		{"surefire", "surefire", "mvn", caseOf("com.example.CartTest$Inner", "total(int)[1]", ""), surefire + "-Dtest=com.example.CartTest$Inner#total test", surefire + "-Dtest=com.example.CartTest test"},
		{"pattern of tests", "surefire", "mvn", caseOf("com.example.CartTest", "a+b*", ""), errNoTest.Error(), ""},
		{"expression of tests", "surefire", "mvn", caseOf("%regex[.*]", "a", ""), errNoTest.Error(), ""},
		{"gradle", "gradle", "gradle", caseOf("com.example.CartTest", "total()", ""), gradle + "--tests=com.example.CartTest.total", gradle + "--tests=com.example.CartTest"},
		{
			"nextest", "nextest", "rs", caseOf("shop::api", "cart::total", ""),
			"nextest run --workspace --test=api --offline --no-fail-fast --retries=0 --profile=default --tool-config-file=shadowcourt:/scratch/nextest.toml --filter-expr=binary_id(=shop::api) & test(=cart::total)",
			"nextest run --workspace --test=api --offline --no-fail-fast --retries=0 --profile=default --tool-config-file=shadowcourt:/scratch/nextest.toml --filter-expr=binary_id(=shop::api)",
		},
		{
			"a program's unit tests", "nextest", "rs", caseOf("shop::bin/tool", "total", ""),
			"nextest run --workspace --bin=tool --offline --no-fail-fast --retries=0 --profile=default --tool-config-file=shadowcourt:/scratch/nextest.toml --filter-expr=binary_id(=shop::bin/tool) & test(=total)",
			"nextest run --workspace --bin=tool --offline --no-fail-fast --retries=0 --profile=default --tool-config-file=shadowcourt:/scratch/nextest.toml --filter-expr=binary_id(=shop::bin/tool)",
		},
		{"expression of filters", "nextest", "rs", caseOf("shop", "a) | all(", ""), errNoTest.Error(), ""},
		{"ctest", "ctest", "cpp", caseOf("(empty)", "cart.total*", ""), `--test-dir build.shadowcourt --output-junit /scratch/report.xml --output-on-failure --tests-regex ^cart\.total\*$`, "--test-dir build.shadowcourt --output-junit /scratch/report.xml --output-on-failure"},
		{"two projects", "ctest", "two", caseOf("(empty)", "a", ""), "the test may be of the projects two/a and two/b: name the folder of one with --source", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := must.Get(LoadDefinition(c.runner))(t)
			r, err := openProjects(t.Context(), d, sourceOf(t, c.dir, files), &Config{})
			if err != nil || r.problem != nil {
				t.Fatal(err, r.problem)
			}
			target, err := r.testOf(c.subject)
			if err != nil {
				if c.order != "" || !strings.Contains(err.Error(), c.alone) {
					t.Error(err)
				}
				return
			}
			got := []string{argsOf(t, target, false), argsOf(t, target, true)}
			if diff := cmp.Diff([]string{c.alone, c.order}, got); diff != "" {
				t.Errorf("arguments (-want +got):\n%s", diff)
			}
		})
	}
}

// TestWhole: the tests around another one are those of the command, in its folder, without files that a tree lacks; another file's test of the same name
// is another one.
func TestWhole(t *testing.T) {
	fakeTools(t, "pytest")
	files := map[string]string{"js/package.json": `{"devDependencies": {"jest": "1"}}`, "js/node_modules/.bin/jest": "#!/bin/sh\n", "js/a/cart.test.js": "test_old test_new", "js/b/cart.test.js": "", "js/c.json": ""}
	source := sourceOf(t, "js", files)
	delete(files, "js/b/cart.test.js")
	delete(files, "js/c.json")
	files["js/a/cart.test.js"] = "test_old"
	base := sourceOf(t, "js", files).Head
	linked := filepath.Join(t.TempDir(), "linked")
	must.Do(t, os.Symlink(source.Top, linked))
	whole := Whole{Runner: "jest", Args: []string{"-i", "b/cart.test.js", "a", "-ra", "b/cart.test.js", "--config", "c.json", "a/cart.test.js::T::test_old[::1]", "a/cart.test.js::test_new", "-t", "b"}, Dir: filepath.Join(linked, "js", "a", ".."), Took: time.Minute}
	r := must.Get(openProjects(t.Context(), must.Get(LoadDefinition("jest"))(t), source, &Config{Whole: whole}))(t)
	target := must.Get(r.testOf(caseOf("cart", "totals", "a/cart.test.js")))(t)
	check.Equal(t, argsOf(t, target, true), "--watchman=false --coverage=false --reporters=default --reporters=jest-junit")
	check.Equal(t, strings.Join(r.present(t.Context(), target.whole, source.Head), " "), "-i b/cart.test.js a -ra b/cart.test.js --config c.json a/cart.test.js::T::test_old[::1] a/cart.test.js::test_new -t b")
	check.Equal(t, strings.Join(r.present(t.Context(), target.whole, base), " "), "-i a -ra --config c.json a/cart.test.js::T::test_old[::1] -t b")
	check.Equal(t, target.whole.Dir+" "+r.pace.Around.String(), "js 1m0s")
	for file, want := range map[string]bool{"a/cart.test.js": true, "../js/a/cart.test.js": true, "cart.test.js": true, "": true, "b/cart.test.js": false} {
		check.Equal(t, target.is(junit.Test{Class: "cart", Name: "totals", File: file}), want, file)
	}
	here := t.TempDir() // the report of the user's own
	t.Chdir(here)
	must.Write(t, here, map[string]string{reportName: ""})
	crashed := &recording{result: &isolate.Result{Ending: isolate.Exited, ExitCode: 1}}
	run := must.Get(r.test(t.Context(), target.withRows("totals", regexp.MustCompile("^totals$")), source.Top, environment{Order: true, Rows: true, Again: crashed}))(t)
	if _, err := os.Stat(reportName); err != nil || run.Kind != kindSilent {
		t.Errorf("got %+v, %v for a run that is read again", run, err)
	}
	for file, want := range map[string]bool{".a/b.js": true, "../a/b.js": false} {
		check.Equal(t, ends("js/.a/b.js", file), want, file)
	}
	whole.Took = time.Hour
	r = must.Get(openProjects(t.Context(), must.Get(LoadDefinition("jest"))(t), source, &Config{Whole: whole}))(t)
	if r.whole != nil {
		t.Error("a command of an hour is run again")
	}
}

// TestNothingIsAnOption: an argument that is a name alone is no option.
func TestNothingIsAnOption(t *testing.T) {
	fakeTools(t, "mine")
	d := must.Get(ParseDefinition("my.yaml", []byte(sound)))(t)
	r := must.Get(openProjects(t.Context(), d, sourceOf(t, ".", map[string]string{"mine.ini": ""}), &Config{}))(t)
	if _, err := r.testOf(caseOf("", "--delete=/", "")); err == nil || !strings.Contains(err.Error(), "an argument that begins with - would be an option") {
		t.Error(err)
	}
	if target, err := r.testOf(caseOf("", "; rm -rf /", "")); err != nil || argsOf(t, target, false) != "--one ; rm -rf /" {
		t.Error(target, err)
	}
}

// TestAProjectWithinAnotherMayBeMeant, which has such a file, too.
func TestAProjectWithinAnotherMayBeMeant(t *testing.T) {
	fakeTools(t, "pytest")
	d := must.Get(LoadDefinition("pytest"))(t)
	r := must.Get(openProjects(t.Context(), d, sourceOf(t, ".", map[string]string{"tests/test_a.py": "", "svc/pytest.ini": "", "svc/tests/test_a.py": "", "tests/test_b.py": ""}), &Config{}))(t)
	for class, want := range map[string]string{"tests.test_a": "svc", "tests.test_b": "", "svc.tests.test_a": ""} {
		if target, err := r.testOf(caseOf(class, "test_x", "")); err != nil || target.also != want {
			t.Errorf("%s: %+v, %v", class, target, err)
		}
	}
}

// TestWhyARunnerCannotStart says what is missing.
func TestWhyARunnerCannotStart(t *testing.T) {
	const definition = "name: mine\nmarkers: [{file: mine.ini}]\nprograms: [bin/mine, mine-is-not-here]\ninstall: get it\nversion: [--version]\ntests: [{alone: [x], order: [x]}]\n"
	d := must.Get(ParseDefinition("my.yaml", []byte(definition)))(t)
	for want, program := range map[string]string{
		"mine is not installed: there is no bin/mine, no mine-is-not-here; get it": "",
		"does not start: no such library":                                          "#!/bin/sh\necho no such library\nexit 1\n",
		"does not start: Error: Cannot find module '/tmp/setup.js'":                "#!/bin/sh\nprintf 'node:internal/modules/cjs/loader:1210\\n  throw err;\\n\\nError: Cannot find module %s/tmp/setup.js%s\\n' \"'\" \"'\"\nexit 1\n",
		"": "#!/bin/sh\necho 1.0\n",
	} {
		files := map[string]string{"shop/mine.ini": ""}
		if program != "" {
			files["bin/mine"] = program
		}
		r := must.Get(openProjects(t.Context(), d, sourceOf(t, "shop", files), &Config{}))(t)
		if err := r.problem; (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if r, err := openProjects(t.Context(), d, sourceOf(t, ".", map[string]string{"other.ini": ""}), &Config{}); r != nil || err != nil {
		t.Errorf("another project: %v, %v", r, err)
	}
}

// TestRuns of a runner that a shell script is, seen in the place of the checkout and not.
func TestRuns(t *testing.T) {
	const definition = `name: mine
markers: [{file: mine.sh}]
programs: [./mine.sh]
build: [["{program}", build]]
keep: [installed]
tests: [{alone: ["{name}", "{report}"], order: [all, "{report}"]}]
outcomes: {not_built: ['^does not load'], no_test: ['^no such test'], unable: ['^no engine']}
`
	const script = `#!/bin/sh
report() { echo "<testsuite name='s'><testcase classname='c' name='$1'>$2</testcase></testsuite>" >"$3"; }
case $1 in
build) echo built >product ;;
pass) [ "$(cat product)" = built ] && [ "$(cat installed/library)" = there ] && [ "$(cat source)" = tree ] && report pass "" "$2" ;;
fail) report fail "<failure>E   got 1</failure>" "$2"; exit 1 ;;
skip) report skip "<skipped/>" "$2" ;;
broken) echo "does not load: x"; exit 2 ;;
gone) echo "no such test"; exit 4 ;;
none) exit 0 ;;
silent) echo "Segmentation fault"; exit 139 ;;
engine) echo "no engine"; exit 1 ;;
link) ln -s /etc/passwd "$2" ;;
esac
`
	d := must.Get(ParseDefinition("my.yaml", []byte(definition)))(t)
	s := sourceOf(t, ".", map[string]string{"mine.sh": script, "source": "tree"})
	must.Do(t, os.Mkdir(filepath.Join(s.Top, "installed"), 0o755))
	must.Do(t, os.WriteFile(filepath.Join(s.Top, "installed", "library"), []byte("there"), 0o600))
	for _, viewed := range []bool{true, false} {
		if viewed && !isolate.CanView() {
			continue
		}
		scratch := t.TempDir()
		written := filepath.Join(scratch, "tree")
		must.Do(t, os.Mkdir(written, 0o755))
		must.Get(s.Head.Write(t.Context(), written))(t)
		must.Do(t, os.WriteFile(filepath.Join(s.Top, "source"), []byte("checkout"), 0o600))
		r := must.Get(openProjects(t.Context(), d, s, &Config{}))(t)
		if !viewed {
			r.viewed = false
		}
		for name, want := range map[string]kind{
			"pass": kindPassed, "fail": kindFailed, "skip": kindSkipped, "gone": kindAbsent, "none": kindAbsent, "silent": kindSilent,
			"broken": "the project does not build: does not load: x", "engine": "mine can't run here: no engine", "link": kindAbsent,
		} {
			target := must.Get(r.testOf(caseOf("c", name, "")))(t)
			if name == "fail" { // the first or not, a build changes nothing
				must.Do(t, r.prepare(t.Context(), target, written, environment{Scratch: scratch}))
			}
			must.Do(t, r.prepare(t.Context(), target, written, environment{Scratch: scratch}))
			run, err := r.test(t.Context(), target, written, environment{Scratch: scratch})
			switch {
			case err != nil && !strings.HasPrefix(err.Error(), string(want)):
				t.Errorf("viewed %v: %s: %v, want %s", viewed, name, err, want)
			case err == nil && (run.Kind != want || (run.Kind == kindFailed) != strings.Contains(run.Log(), "got 1")):
				t.Errorf("viewed %v: %s: %s, want %s\n%s%s", viewed, name, run.Kind, want, run.Log(), run.Result.Output)
			}
		}
		must.Do(t, os.WriteFile(filepath.Join(s.Top, "source"), []byte("tree"), 0o600))
	}
	if left, err := os.ReadDir(s.Top); err != nil || len(left) != 4 { // .git, mine.sh, source, installed
		t.Errorf("the checkout has %v, %v", left, err)
	}
}

// TestRead tells what came of a test by its report alone.
func TestRead(t *testing.T) {
	t.Parallel()
	d := must.Get(ParseDefinition("my.yaml", []byte(sound)))(t)
	for report, want := range map[string]kind{
		"":       kindAbsent,
		"no XML": kindAbsent,
		`<testsuite><testcase classname="c" name="b"/></testsuite>`:                                                                                   kindAbsent,
		`<testsuite><testcase classname="c" name="a"/></testsuite>`:                                                                                   kindPassed,
		`<testsuite><testcase classname="c" name="a"/><testcase classname="c" name="a"><failure>x</failure></testcase></testsuite>`:                   kindFailed,
		`<testsuite><testcase classname="c" name="a"><skipped/></testcase><testcase classname="c" name="a"/></testsuite>`:                             kindPassed,
		`<testsuite><testcase classname="c" name="a"><skipped/></testcase></testsuite>`:                                                               kindSkipped,
		`<testsuite><testcase classname="c" name="a"><error/></testcase><testcase`:                                                                    kindFailed,
		`<testsuites><testsuite><testcase classname="c" name="a"/></testsuite></testsuites><testsuite><testcase classname="c" name="b"/></testsuite>`: kindPassed,
		`<!DOCTYPE x [<!ENTITY a "b">]><testsuite><testcase classname="c" name="a"/></testsuite>`:                                                     kindAbsent,
	} {
		if got, _ := (&projectTest{selection: &d.Tests[0], names: []string{"c a"}}).read([]byte(report)); got != want {
			t.Errorf("%s: %s, want %s", report, got, want)
		}
	}
	file := &selection{Report: "{class} {name}", Alone: []string{"--to={report}", "./{file}"}}
	for report, want := range map[string]kind{
		"<testsuite/>": kindAbsent,
		`<testsuite><testcase classname="c" name="b"><failure>x</failure></testcase></testsuite>`:                                                                        kindPassed, // it loads
		`<testsuite><testcase classname="c" name="a"><error>x</error></testcase><testcase classname="c" name="a"><failure>{"code":"x"}</failure></testcase></testsuite>`: kindFailed,
	} {
		if got, documents := (&projectTest{selection: file, names: []string{"c a"}}).read([]byte(report)); got != want || len(documents) > 2 {
			t.Errorf("a file, %s: %s, want %s, %v", report, got, want, documents)
		}
	}
	twice := `<testsuite><testcase classname="c" name="a"><error>x</error></testcase><testcase classname="c" name="a"><failure>{"code":"x"}</failure></testcase></testsuite>`
	if _, documents := (&projectTest{selection: &selection{Report: "{class}"}, names: []string{"c"}}).read([]byte(twice)); len(documents) != 1 {
		t.Errorf("a file that jest-junit tells twice of: %v", documents)
	}
}
