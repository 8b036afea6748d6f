package testcmd

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/shadowcourt/shadowcourt/internal/run"
)

// maxDepth is how deep wrappers and scripts may nest.
const maxDepth = 16

// wrappers are commands that run the command behind them and their options. With a last option, the command is what follows it.
var wrappers = []struct{ words, last string }{
	{"env", ""},
	{"cross-env", ""},
	{"time", ""},
	{"nice", ""},
	{"timeout", ""},
	{"npx", ""},
	{"bunx", ""},
	{"pnpm exec", ""},
	{"pnpm dlx", ""},
	{"uvx", ""},
	{"pipx run", ""},
	{"uv run", ""},
	{"poetry run", ""},
	{"pipenv run", ""},
	{"pdm run", ""},
	{"hatch run", ""},
	{"rye run", ""},
	{"coverage run", "-m"},
}

// python is what interpreters are called.
var python = regexp.MustCompile(`^(python|pypy)[\d.]*$|^py$`)

// program is the name of a program that a word calls, without its folder, its version, and the suffixes of Windows and of JavaScript.
func program(word string) string {
	name, _, _ := strings.Cut(path.Base(strings.ReplaceAll(word, `\`, "/")), "@")
	for _, suffix := range []string{".exe", ".cmd", ".bat", ".mjs", ".cjs", ".js"} {
		name = strings.TrimSuffix(name, suffix)
	}
	return name
}

// find finds the test runner in the words of a command.
func find(dir string, words []string, depth int) (*invocation, error) {
	if len(words) == 0 || depth > maxDepth {
		return nil, &unknownError{words}
	}
	name := program(words[0])
	for i := range runners {
		if r := &runners[i]; slices.Contains(r.programs, name) {
			return r.invocation(words)
		}
	}
	if python.MatchString(name) {
		return interpreted(behind(dir, words, 1, "-m", depth))
	}
	if name == "node" {
		return interpreted(behind(dir, words, 1, "", depth))
	}
	for _, wrapper := range wrappers {
		w := strings.Fields(wrapper.words)
		if name == w[0] && len(words) >= len(w) && slices.Equal(words[1:len(w)], w[1:]) {
			return behind(dir, words, len(w), wrapper.last, depth)
		}
	}
	switch name {
	case "npm", "yarn", "pnpm":
		return script(dir, name, words, depth)
	}
	return nil, &unknownError{words}
}

// quiet are options of Python and Node.js that don't change what comes of tests.
var quiet = regexp.MustCompile(`^(?:-[uBvq]|--(?:(?:no|trace)-warnings|enable-source-maps|(?:max-old-space|stack)-size.*))$`)

// interpreted notes the options of an interpreter that may change what comes of tests, which reruns don't get.
func interpreted(v *invocation, err error) (*invocation, error) {
	if err != nil {
		return nil, err
	}
	for at := 1; at < v.start; at++ {
		word := v.words[at]
		if word == "-m" {
			break
		}
		if !strings.HasPrefix(word, "-") || quiet.MatchString(word) {
			continue
		}
		if at+1 < v.start && !strings.HasPrefix(v.words[at+1], "-") {
			word += " " + v.words[at+1]
		}
		v.left = append(v.left, word)
	}
	return v, nil
}

// behind finds the test runner behind a wrapper. Which options of a wrapper take a value is not known, so that a word behind one may
// be its value or the command.
func behind(dir string, words []string, from int, last string, depth int) (*invocation, error) {
	for at := from; at < len(words); at++ {
		word, before := words[at], words[at-1]
		if strings.HasPrefix(word, "-") || isAssignment(word) || last != "" && before != last {
			continue
		}
		v, err := find(dir, words[at:], depth+1)
		if err == nil {
			v.words = words
			v.at += at
			v.start += at
			return v, nil
		}
		if _, unknown := errors.AsType[*unknownError](err); !unknown {
			return nil, err
		}
		if value := strings.HasPrefix(before, "-") && before != "--" && before != last; !value && !number.MatchString(word) {
			break
		}
	}
	return nil, &unknownError{words}
}

// number is an argument of timeout or nice.
var number = regexp.MustCompile(`^\d[\d.]*[smhd]?$`)

// unknownError says that a command is not known, and what to do.
type unknownError struct{ words []string }

func (e *unknownError) Error() string {
	return fmt.Sprintf("%q runs no known test runner (%s); run its tests yourself, and pass the report, in JUnit XML or of go test -json: shadowcourt alibi REPORT",
		shorten(strings.Join(e.words, " ")), strings.Join(Runners(), ", "))
}

// script finds the test runner in what npm, yarn or pnpm run: a script of package.json or, of yarn and pnpm, a program.
func script(dir, manager string, words []string, depth int) (*invocation, error) {
	at := 1
	for at < len(words) && slices.Contains([]string{"--silent", "-s", "--if-present"}, words[at]) {
		at++
	}
	if at < len(words) && slices.Contains([]string{"run", "run-script"}, words[at]) {
		at++
	}
	if at == len(words) || strings.HasPrefix(words[at], "-") {
		return nil, fmt.Errorf("what %q runs can't be told: name the script right behind %s, or run the test runner itself", shorten(strings.Join(words, " ")), manager)
	}
	name := words[at]
	if alias := slices.Contains([]string{"t", "tst"}, name); alias && at == 1 {
		name = "test"
	}
	file, text, err := scriptOf(dir, name)
	if err != nil {
		return nil, err
	}
	if text == "" {
		if manager == "npm" || name == "test" {
			return nil, fmt.Errorf("%s has no script %q: run the test runner itself, as in: npx jest", file, name)
		}
		v, err := find(dir, words[at:], depth+1)
		if err == nil {
			v.words = words
			v.at += at
			v.start += at
		}
		return v, err
	}
	passed := words[at+1:]
	var dashes []string
	if manager == "npm" { // it takes options up to the first -- for its own
		if i := slices.Index(passed, "--"); i >= 0 {
			passed = passed[i+1:]
		} else {
			passed = slices.DeleteFunc(slices.Clone(passed), func(word string) bool { return strings.HasPrefix(word, "-") })
			dashes = []string{"--"}
		}
	}
	command, err := lastCommand(text)
	if err != nil {
		return nil, fmt.Errorf("%s: what the script %q runs can't be told: %w: run the test runner itself, as in: npx jest", file, name, err)
	}
	given, command := assignments(command)
	v, err := find(filepath.Dir(file), append(command, passed...), depth+1)
	if unknown, ok := errors.AsType[*unknownError](err); ok {
		return nil, fmt.Errorf("%s: the script %q: %w", file, name, unknown)
	}
	if err != nil {
		return nil, err
	}
	if v.script {
		dashes = append(dashes, v.dashes...)
	}
	v.dir = cmp.Or(v.dir, filepath.Dir(file))
	v.env = append(slices.Clone(given), v.assigned()...)
	v.words, v.start, v.at, v.dashes, v.script = words, 0, len(words), dashes, true
	return v, nil
}

// maxPackage is the longest package.json that is read.
const maxPackage = 4 << 20

// scriptOf gives a script of the package that a folder lies in, and the path of the package.json; an empty one if it is not there.
func scriptOf(dir, name string) (file, text string, err error) {
	dir, err = filepath.Abs(dir)
	if err != nil {
		return "", "", err
	}
	for ; ; dir = filepath.Dir(dir) {
		file = filepath.Join(dir, "package.json")
		f, err := os.Open(file)
		if errors.Is(err, os.ErrNotExist) {
			if filepath.Dir(dir) == dir {
				return "", "", errors.New("there is no package.json here: run the command in the folder of the package")
			}
			continue
		}
		if err != nil {
			return "", "", err
		}
		var manifest struct {
			Scripts map[string]string `json:"scripts"`
		}
		err = json.NewDecoder(io.LimitReader(f, maxPackage)).Decode(&manifest)
		_ = f.Close()
		if err != nil {
			return "", "", fmt.Errorf("%s: %w", file, err)
		}
		return file, manifest.Scripts[name], nil
	}
}

// lastCommand gives the words of the last command of a script. Arguments behind the script's name become those of this command.
func lastCommand(script string) ([]string, error) {
	var words []string
	var word strings.Builder
	quote, open := rune(0), false // open: a word has begun
	end := func() {
		if open {
			words = append(words, word.String())
		}
		word.Reset()
		open = false
	}
	for i, r := range script {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote != '\'' && (r == '$' || r == '`' || r == '\\'), quote == 0 && strings.ContainsRune("<>()", r), r == '|' && quote == 0 && !pair(script, i, '|'):
			return nil, fmt.Errorf("%q has a %q", shorten(script), r)
		case quote != 0:
			word.WriteRune(r)
		case r == '"' || r == '\'':
			quote, open = r, true
		case r == ' ' || r == '\t':
			end()
		case r == ';' || r == '\n' || r == '|' || r == '&':
			if r == '&' && !pair(script, i, '&') {
				return nil, fmt.Errorf("%q has a command in the background", shorten(script))
			}
			end()
			words = nil
		default:
			word.WriteRune(r)
			open = true
		}
	}
	end()
	if quote != 0 || len(words) == 0 {
		return nil, fmt.Errorf("%q does not end with a command", shorten(script))
	}
	return words, nil
}

// pair says whether the byte at i stands beside one like it.
func pair(s string, i int, b byte) bool {
	return i+1 < len(s) && s[i+1] == b || i > 0 && s[i-1] == b
}

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
	// code is what it ends with where tests fail; 0 where that can be set.
	code int
	// skips finds in its output what it left out because something before it failed.
	skips *regexp.Regexp
	// beside finds in its output what it tells beside tests.
	beside *regexp.Regexp
	plan   func(dir string, args []string) (*plan, error)
}

const runnerGo = "go test"

var runners = []runner{
	{name: runnerGo, programs: []string{"go"}, before: []string{"test"}, first: true, code: 1, never: "-c --c -list --list -n -h -help --help", plan: planGo},
	{
		name: "pytest", programs: []string{"pytest", "py.test"}, code: 1, never: "--collect-only --co --version -V -h --help --fixtures --markers --setup-plan",
		plain: "-k -m --junitxml --junit-xml --tb --color --maxfail --lf --last-failed --ff --failed-first --sw --nf --durations --no-header --verbose --quiet --exitfirst --cov --cov-report --cov-fail-under --cov-branch --cov-append --no-cov " +
			"-r -n --numprocesses --dist -l --showlocals --show-capture --capture --cache-clear --log-cli-level --durations-min --reruns --timeout " +
			"--full-trace --verbosity --ignore --ignore-glob --deselect --strict-markers --strict-config --disable-warnings --no-summary --no-showlocals", plan: planPytest,
	},
	{
		name: "jest", programs: []string{"jest"}, beside: regexp.MustCompile(`(?m)^Jest: .*|^Ran all test suites(?s:.*)`), never: "--listTests --showConfig --version --help -h --init --clearCache --watch --watchAll",
		plain: "-t --testNamePattern --ci --coverage --verbose --silent --json --outputFile --bail --color --colors --no-color --passWithNoTests --reporters --onlyChanged --watchAll " +
			"-i --runInBand -w --maxWorkers --detectOpenHandles --forceExit --logHeapUsage --cache --no-cache --coverageReporters", plan: planJest,
	},
	{
		name: "vitest", programs: []string{"vitest"}, code: 1, beside: regexp.MustCompile(`(?m)^⎯+ Unhandled (?s:.*?)^ Test Files |^ERROR: Coverage .*|^ +Duration (?s:.*)`), never: "--version -v --help -h --watch -w --ui --standalone",
		plain: "-t --testNamePattern --run --reporter --reporters --outputFile --outputFile.junit --coverage --bail --passWithNoTests --silent --hideSkippedTests --maxWorkers --minWorkers", plan: planVitest,
	},
	{
		name: "mvn", programs: []string{"mvn", "mvnw", "mvnd"}, code: 1, skips: regexp.MustCompile(`(?m)^\[INFO\] (.+?) \.* ?SKIPPED\s*$`),
		beside: regexp.MustCompile(`(?m)^\[INFO\] BUILD |^\[ERROR\] Failed to execute goal org\.jacoco:.*`), never: "--version -v --help -h",
		plain: "--quiet -B --batch-mode -o --offline -T -e -X -pl --projects -am -fae --fail-at-end -fn -ff -U -ntp --no-transfer-progress -f --file -Dtest -Dit.test -DfailIfNoTests -Dsurefire.failIfNoSpecifiedTests -Dmaven.test.failure.ignore -Dstyle.color", plan: planMaven,
	},
	{
		name: "gradle", programs: []string{"gradle", "gradlew"}, code: 1, never: "--version -v --help -h --dry-run -m --continuous -t",
		plain: "--tests --continue --offline --rerun-tasks --info --debug --quiet --console --no-daemon --daemon --stacktrace -p --project-dir --parallel --no-parallel --max-workers --build-cache --no-build-cache --warning-mode --scan --no-scan", plan: planGradle,
	},
	{
		name: "cargo nextest", programs: []string{"cargo", "cargo-nextest"}, before: []string{"nextest", "run|r"}, code: 100, never: "--no-run --version --help -h",
		plain: "-E --filterset --filter-expr -j --jobs --test-threads --retries --no-fail-fast --fail-fast --offline --locked --frozen --color --status-level -p --package --workspace --manifest-path --target-dir " +
			"--lib --bins --bin --test --tests --exclude --all --no-capture --failure-output --success-output --final-status-level --verbose --build-jobs", plan: planNextest,
	},
	{
		name: "ctest", programs: []string{"ctest"}, code: 8, never: "-N --show-only --version --help -h --print-labels",
		plain: "-R --tests-regex -E --exclude-regex -L -j --parallel -V -VV --verbose --output-on-failure --test-dir --output-junit --rerun-failed --no-tests --timeout --schedule-random --repeat --stop-on-failure --progress --output-log -LE -I", plan: planCTest,
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
