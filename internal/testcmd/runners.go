package testcmd

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/shadowcourt/shadowcourt/internal/run"
)

// runner is a test runner that is known.
type runner struct {
	name     string
	programs []string
	// before are words behind the program that make it a test runner, as in "go test".
	before []string
	// first has flags right behind these words, and not at the end.
	first bool
	// never are options with which no test runs, or the run does not end.
	never string
	// plain are options that choose tests, or say how they are shown: they change no outcome.
	plain string
	plan  func(dir string, args []string) (*plan, error)
}

const runnerGo = "go test"

var runners = []runner{
	{name: runnerGo, programs: []string{"go"}, before: []string{"test"}, first: true, never: "-c --c -list --list -n -h -help --help", plan: planGo},
	{
		name: "pytest", programs: []string{"pytest", "py.test"}, never: "--collect-only --co --version -V -h --help --fixtures --markers --setup-plan",
		plain: "-k -m --junitxml --junit-xml --tb --color --maxfail --lf --last-failed --ff --failed-first --sw --nf --durations --no-header --verbose --quiet --exitfirst --cov --cov-report", plan: planPytest,
	},
	{
		name: "jest", programs: []string{"jest"}, never: "--listTests --showConfig --version --help -h --init --clearCache --watch --watchAll",
		plain: "-t --testNamePattern --ci --coverage --verbose --silent --json --outputFile --bail --color --colors --no-color --passWithNoTests --reporters --onlyChanged --watchAll", plan: planJest,
	},
	{
		name: "vitest", programs: []string{"vitest"}, never: "--version -v --help -h --watch -w --ui --standalone",
		plain: "-t --testNamePattern --run --reporter --reporters --outputFile --outputFile.junit --coverage --bail --passWithNoTests", plan: planVitest,
	},
	{
		name: "mvn", programs: []string{"mvn", "mvnw", "mvnd"}, never: "--version -v --help -h",
		plain: "--quiet -B --batch-mode -o --offline -T -e -X -pl --projects -am -fae --fail-at-end -fn -ff -U -ntp --no-transfer-progress -f --file -Dtest -Dit.test", plan: planMaven,
	},
	{
		name: "gradle", programs: []string{"gradle", "gradlew"}, never: "--version -v --help -h --dry-run -m --continuous -t",
		plain: "--tests --continue --offline --rerun-tasks --info --debug --quiet --console --no-daemon --daemon --stacktrace -p --project-dir", plan: planGradle,
	},
	{
		name: "cargo nextest", programs: []string{"cargo", "cargo-nextest"}, before: []string{"nextest", "run|r"}, never: "--no-run --version --help -h",
		plain: "-E --filterset --filter-expr -j --jobs --test-threads --retries --no-fail-fast --fail-fast --offline --locked --frozen --color --status-level -p --package --workspace --manifest-path --target-dir", plan: planNextest,
	},
	{
		name: "ctest", programs: []string{"ctest"}, never: "-N --show-only --version --help -h --print-labels",
		plain: "-R --tests-regex -E --exclude-regex -L -j --parallel -V -VV --verbose --output-on-failure --test-dir --output-junit --rerun-failed --no-tests --timeout --schedule-random --repeat --stop-on-failure", plan: planCTest,
	},
}

// Runners are the names of the test runners that are known.
func Runners() []string {
	names := make([]string, len(runners))
	for i := range runners {
		names[i] = runners[i].name
	}
	return names
}

// invocation finds the runner's arguments in words that begin with its program.
func (r *runner) invocation(words []string) (*invocation, error) {
	at := 1
	for _, before := range r.before {
		switch {
		case at+1 < len(words) && words[at] == "-C":
			at += 2
		case at < len(words) && (strings.HasPrefix(words[at], "-C=") || strings.HasPrefix(words[at], "+")):
			at++ // a toolchain of cargo
		}
		if at == len(words) || !slices.Contains(strings.Split(before, "|"), words[at]) {
			return nil, fmt.Errorf("%q runs no tests with a report: use %s", shorten(strings.Join(words, " ")), strings.Join(append([]string{words[0]}, firsts(r.before)...), " "))
		}
		at++
	}
	v := &invocation{runner: r, words: words, args: words[at:], at: len(words)}
	switch {
	case r.first && at+1 < len(words) && words[at] == "-C": // the go command takes it as the first flag only
		v.at = at + 2
	case r.first && at < len(words) && strings.HasPrefix(words[at], "-C="):
		v.at = at + 1
	case r.first:
		v.at = at
	default:
		if i := slices.Index(v.args, "--"); i >= 0 {
			v.at = at + i
		}
	}
	return v, nil
}

func firsts(alternatives []string) []string {
	var all []string
	for _, words := range alternatives {
		first, _, _ := strings.Cut(words, "|")
		all = append(all, first)
	}
	return all
}

// option gives the last value of an option: --name=value, or --name value.
func option(args []string, names ...string) string {
	found := ""
	for i, arg := range args {
		if arg == "--" {
			break
		}
		name, value, assigned := strings.Cut(arg, "=")
		switch {
		case !slices.Contains(names, name):
		case assigned:
			found = value
		case i+1 < len(args):
			found = args[i+1]
		}
	}
	return found
}

// isSet says whether a flag without a value is given.
func isSet(args []string, names ...string) bool {
	for _, arg := range args {
		if arg == "--" || arg == "-args" || arg == "--args" {
			break
		}
		if name, value, _ := strings.Cut(arg, "="); slices.Contains(names, name) && value != "false" {
			return true
		}
	}
	return false
}

func planGo(_ string, args []string) (*plan, error) {
	p := &plan{stdout: true, format: run.GoTest}
	if isSet(args, "-json", "--json") {
		return p, nil
	}
	p.flags = []string{"-json"}
	verbose := isSet(args, "-v", "--v", "-test.v", "-bench", "--bench", "-fuzz", "--fuzz")
	p.show = func(to streams) textWriter { return newGoText(to, verbose) }
	return p, nil
}

func planPytest(_ string, args []string) (*plan, error) {
	return junitFile(option(args, "--junitxml", "--junit-xml"), "--junitxml="+reportPlace), nil
}

func planCTest(_ string, args []string) (*plan, error) {
	own := option(args, "--output-junit")
	if in := option(args, "--test-dir"); own != "" && in != "" && !filepath.IsAbs(own) {
		own = filepath.Join(in, own)
	}
	return junitFile(own, "--output-junit", reportPlace), nil
}

// planJest has jest write its own JSON, since a reporter of JUnit XML is a package that projects may not have.
func planJest(_ string, args []string) (*plan, error) {
	own, asked := option(args, "--outputFile"), isSet(args, "--json")
	switch {
	case asked && own == "":
		return &plan{stdout: true, format: formatJest}, nil
	case asked:
		return &plan{file: own, format: formatJest}, nil
	case own != "":
		return &plan{flags: []string{"--json"}, file: own, format: formatJest}, nil
	}
	return &plan{flags: []string{"--json", "--outputFile=" + reportPlace}, file: reportPlace, format: formatJest}, nil
}

func planVitest(_ string, args []string) (*plan, error) {
	var flags []string
	for _, arg := range args {
		switch arg {
		case "watch", "dev", "list", "bench", "init":
			return nil, fmt.Errorf("vitest %s runs no tests, or does not end: use vitest run", arg)
		}
		if !strings.HasPrefix(arg, "-") {
			break // the command, or a filter
		}
	}
	if !slices.Contains(args, "run") && !isSet(args, "--run") {
		flags = append(flags, "--run")
	}
	reporters := option(args, "--reporter", "--reporters")
	isJUnit := slices.ContainsFunc(args, func(arg string) bool { return arg == "junit" || strings.HasSuffix(arg, "=junit") })
	own := option(args, "--outputFile.junit")
	if plain := option(args, "--outputFile"); own == "" && plain != "" {
		if !isJUnit {
			return nil, errors.New("--outputFile names the file of another reporter of vitest: write it as --outputFile.json=FILE, with the reporter's name")
		}
		own = plain
	}
	if reporters == "" {
		flags = append(flags, "--reporter=default")
	}
	if !isJUnit {
		flags = append(flags, "--reporter=junit")
	}
	if own == "" {
		own = reportPlace
		flags = append(flags, "--outputFile.junit="+reportPlace)
	}
	return &plan{flags: flags, file: own, format: run.JUnit}, nil
}

// planMaven takes what surefire and failsafe write.
func planMaven(dir string, args []string) (*plan, error) {
	if !slices.ContainsFunc(args, func(arg string) bool {
		return slices.Contains([]string{"test", "prepare-package", "package", "integration-test", "post-integration-test", "verify", "install", "deploy"}, arg) ||
			strings.Contains(arg, "surefire") || strings.Contains(arg, "failsafe")
	}) {
		return nil, errors.New("the mvn command has no phase that runs tests: add test or verify")
	}
	return &plan{
		root: rootOf(dir, option(args, "-f", "--file")), format: run.JUnit, hint: "surefire writes it to target/surefire-reports",
		patterns: []string{"target/surefire-reports/TEST-*.xml", "target/failsafe-reports/TEST-*.xml"},
	}, nil
}

// planGradle takes what tasks of tests write; a task that is up to date writes nothing.
func planGradle(dir string, args []string) (*plan, error) {
	if !slices.ContainsFunc(args, func(arg string) bool { return !strings.HasPrefix(arg, "-") }) {
		return nil, errors.New("the gradle command has no task: add test")
	}
	return &plan{
		root: rootOf(dir, option(args, "-p", "--project-dir")), format: run.JUnit, patterns: []string{"build/test-results/*/TEST-*.xml"},
		hint: "tasks that are up to date write none: pass --rerun-tasks",
	}, nil
}

// planNextest sets the path of a report for all profiles. A path that the project sets has precedence over it.
func planNextest(dir string, args []string) (*plan, error) {
	root := dir
	for up, err := filepath.Abs(rootOf(dir, option(args, "--manifest-path"))); err == nil; up = filepath.Dir(up) {
		if _, err := os.Stat(filepath.Join(up, "Cargo.lock")); err == nil {
			root = up
			break
		}
		if filepath.Dir(up) == up {
			break
		}
	}
	target := cmp.Or(option(args, "--target-dir"), os.Getenv("CARGO_TARGET_DIR"))
	if target == "" {
		target = filepath.Join(root, "target")
	}
	return &plan{
		flags:  []string{"--tool-config-file", "shadowcourt:" + folderPlace + "/nextest.toml"},
		files:  map[string]string{"nextest.toml": "[profile.default.junit]\npath = \"shadowcourt.xml\"\n"},
		format: run.JUnit, root: filepath.Join(rootOf(dir, target), "nextest"), patterns: []string{"*/*.xml"},
	}, nil
}

// rootOf is the folder that an argument names, or a file in it.
func rootOf(dir, argument string) string {
	if argument == "" {
		return dir
	}
	if !filepath.IsAbs(argument) {
		argument = filepath.Join(dir, argument)
	}
	if info, err := os.Stat(argument); err == nil && !info.IsDir() {
		return filepath.Dir(argument)
	}
	return argument
}
