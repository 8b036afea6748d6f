// Package testcmd runs a test command of the user's, such as `go test ./...`, so that it leaves a report.
//
// [Parse] recognizes the test runner, also behind `npx`, `poetry run`, `npm test` and the like, and says what has to be added to
// the command. [Command.Run] runs it, shows the output of the runner, and reads its reports:
//
//	go test        -json; what a person would see is printed from the events
//	pytest         --junitxml=REPORT
//	jest           --json --outputFile=REPORT, which is converted to JUnit XML: no reporter has to be installed
//	vitest         --run --reporter=default --reporter=junit --outputFile.junit=REPORT
//	cargo nextest  --tool-config-file, with a path of a JUnit report for all profiles that have none
//	ctest          --output-junit REPORT
//	mvn, gradle    nothing: the reports that this run wrote are taken
//
// Flags of the user's own are kept, but for those with which a run ends at its first failure, and the report that they name is read. The command is the user's: it is not isolated, and has
// the user's environment. What it writes is from elsewhere: reports are bounded, and so is the memory for its output.
package testcmd

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/shadowcourt/shadowcourt/internal/run"
)

// DefaultReportBytes is the most that the reports of one run may have.
const DefaultReportBytes = 512 << 20

// Command is a command that runs tests. Not safe for concurrent use.
type Command struct {
	// Runner is the test runner's name, one of Runners.
	Runner string
	// Added are the arguments that make the runner write a report; REPORT stands for its path. Empty if the command does so as it is.
	Added []string
	// Completed is a sentence that says how the run is kept from ending at its first failure, and Stops why it can't be kept from that. Each is
	// empty where there is nothing to say.
	Completed, Stops string
	// ReportBytes is the most that the reports may have. Default: DefaultReportBytes.
	ReportBytes int64
	// Without are variables of this program that the command does not get, beside those of this program's own secrets.
	Without []string

	dir  string
	env  []string // assignments before the command
	line *invocation
	plan *plan
	rest bool // it is run to see what fails beside tests, and leaves no report
}

// invocation is a command line with a test runner in it.
type invocation struct {
	runner *runner
	words  []string
	start  int // of the runner's program in words
	// at is where flags of the runner are inserted: an index of words.
	at int
	// args are the runner's own arguments, those that a script has included.
	args []string
	// dashes are the words -- before arguments behind a script's name, which pass them on.
	dashes []string
	script bool
	// env are assignments of scripts, and left options of an interpreter that runs the runner.
	env, left []string
	dir       string // in which a script runs it; empty for that of the command
}

// assigned are the assignments before the runner.
func (v *invocation) assigned() []string {
	return append(slices.DeleteFunc(slices.Clone(v.words[:v.start]), func(word string) bool { return !isAssignment(word) }), v.env...)
}

// with gives the words with flags of the runner inserted.
func (v *invocation) with(flags []string) []string {
	if len(flags) == 0 {
		return v.words
	}
	return slices.Insert(slices.Clone(v.words), v.at, append(slices.Clone(v.dashes), flags...)...)
}

// plan is how a runner gets to write a report, and where.
type plan struct {
	flags []string // to add; see the placeholders below
	files map[string]string
	env   []string // assignments that have precedence over the command's
	// Of the following one is given.
	stdout   bool     // it comes with the standard output
	file     string   // relative to the folder in which the command is run, or with a placeholder
	patterns []string // of the names of reports that the runner writes below root by itself
	root     string

	// format is what the readers call the report.
	format string
	// show gives the text for a person of what comes with the standard output; nil: as it is.
	show func(streams) textWriter
	hint string // what to do if there is no report
}

// The placeholders in the arguments and the path of a plan.
const (
	reportPlace = "{report}"
	folderPlace = "{folder}"
)

// Parse recognizes a command that runs tests, given as it would be typed: environment assignments first, then the words. It starts
// nothing. The error is one sentence that says what to do.
func Parse(dir string, args []string) (*Command, error) {
	env, words := assignments(args)
	if len(words) == 0 {
		return nil, errors.New("a test command is missing: write it behind --, as in `shadowcourt alibi -- pytest`")
	}
	v, err := find(dir, words, 0)
	if err != nil {
		return nil, err
	}
	if word := unrun(v); word != "" {
		return nil, fmt.Errorf("%s with %s runs no tests: remove it", v.runner.name, word)
	}
	p, err := v.runner.plan(dir, v.args)
	if err != nil {
		return nil, err
	}
	c := &Command{Runner: v.runner.name, dir: dir, env: env, line: v, plan: p}
	c.complete()
	c.places()
	for _, flag := range p.flags {
		flag = strings.ReplaceAll(flag, reportPlace, "REPORT")
		c.Added = append(c.Added, strings.ReplaceAll(flag, folderPlace+"/", ""))
	}
	return c, nil
}

// unrun is the first argument with which the runner does something else than running tests and ending; empty for none.
func unrun(v *invocation) string {
	for _, arg := range v.args {
		if arg == "--" || arg == "-args" || arg == "--args" {
			break
		}
		name, value, assigned := strings.Cut(arg, "=")
		if (!assigned || value != "false") && slices.Contains(strings.Fields(v.runner.never), name) {
			return arg
		}
	}
	return ""
}

// assignments are the words NAME=VALUE that a command begins with, and the rest.
func assignments(words []string) (env, rest []string) {
	n := 0
	for n < len(words) && isAssignment(words[n]) {
		n++
	}
	return words[:n], words[n:]
}

func isAssignment(word string) bool {
	name, _, ok := strings.Cut(word, "=")
	return ok && name != "" && strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_") == "" && (name[0] < '0' || name[0] > '9')
}

// shorten cuts what an error quotes.
func shorten(s string) string {
	const most = 120
	if len(s) > most {
		return strings.ToValidUTF8(s[:most], "") + "…"
	}
	return s
}

// junitFile is a plan for a report in a file.
func junitFile(own string, flags ...string) *plan {
	if own != "" {
		return &plan{file: own, format: run.JUnit}
	}
	return &plan{flags: flags, file: reportPlace, format: run.JUnit}
}

// Passed is what of a command others need that run its tests again.
type Passed struct {
	// Build are flags of builds of Go, Test arguments of its test binaries.
	Build, Test []string
	// Env are the assignments that the command begins with, or has before its runner, those of scripts, too.
	Env []string
	// Left are other options that may change what comes of tests.
	Left []string
	// Whole are the arguments with which the runner runs all tests of the command again, but for those of reports, and Dir the folder for that. Nil
	// where another run would choose other tests, and for runners with a process for each package, class or test.
	Whole []string
	Dir   string
}

// Passed tells them. Options that a script of the project adds are left.
func (c *Command) Passed() Passed {
	v := c.line
	p := Passed{Env: slices.Concat(c.env, v.assigned()), Left: slices.Clone(v.left)}
	if v.runner.name == runnerGo {
		if p.ofGo(v.args); v.script {
			p.Build, p.Test, p.Left = nil, nil, slices.Concat(p.Build, p.Test, p.Left)
		}
		return p
	}
	if options := c.rerunOptions(); options != "" {
		p.Env = append(p.Env, pytestOptions+"="+strings.TrimSpace(c.variable(pytestOptions)+" "+options))
	}
	p.Whole, p.Dir = c.whole(), cmp.Or(v.dir, c.dir)
	plain := strings.Fields(v.runner.plain)
	for i, arg := range v.args {
		if arg == "--" {
			break
		}
		if v.runner.name == runnerPytest && valued.MatchString(arg) {
			value := arg[2:]
			if value == "" && i+1 < len(v.args) {
				value = v.args[i+1]
			}
			if arg[1] != 'p' || !slices.Contains(strings.Fields(harmless), value) {
				p.Left = append(p.Left, arg[:2]+" "+value)
			}
			continue
		}
		name, _, _ := strings.Cut(arg, "=")
		known := slices.Contains(plain, name) || len(name) > 2 && name[1] != '-' && slices.Contains(plain, name[:2]) // such as -n4
		if strings.HasPrefix(arg, "-") && !known && strings.Trim(arg, "-vqxs") != "" {
			p.Left = append(p.Left, arg)
		}
	}
	return p
}

const (
	runnerPytest  = "pytest"
	pytestOptions = "PYTEST_ADDOPTS"
	// harmless are plugins of pytest that keep or show results, with the option to leave them out.
	harmless = "no:cacheprovider no:cov no:faulthandler no:html no:instafail no:metadata no:pastebin no:sugar"
)

var (
	// letters are short options of pytest in one word, without values, and valued is one with a value that reruns don't get.
	letters, valued = regexp.MustCompile(`^-[vqslx]+$`), regexp.MustCompile(`^-[pocW]`)
	// rerunOption is one with a value that reruns of pytest get: which tests there are beside the failing one, and how failures are shown.
	rerunOption = regexp.MustCompile(`^(?:-[km]|--(?:ignore|ignore-glob|deselect|tb|verbosity)(?:=|$))`)
	bareWord    = regexp.MustCompile(`^[\w./:=+-]+$`)
)

// decided are options of which a run of the whole command on another tree has its own, those with a value first: reports, coverage, and what
// [Command.rerunOptions] give. again choose tests by earlier runs, or by what has changed.
var (
	decided = map[string][2]string{
		runnerPytest: {"--junitxml --junit-xml --verbosity", "--verbose --quiet"},
		"jest":       {"--outputFile --reporters --coverageReporters --coverageDirectory --collectCoverageFrom", "--json --coverage --watchman"},
		"vitest":     {"--outputFile --outputFile.junit --reporter --reporters", "run --run --coverage --coverage.enabled"},
	}
	again = regexp.MustCompile(`^(?:--(?:lf|last-failed|ff|failed-first|nf|new-first|sw|stepwise|onlyFailures|onlyChanged|lastCommit|changedSince|changed)(?:=.*)?|related)$`)
)

// whole are the runner's own arguments; nil where they can't be used again.
func (c *Command) whole() []string {
	v, options := c.line, decided[c.Runner]
	if _, ok := decided[c.Runner]; !ok || slices.ContainsFunc(v.args, again.MatchString) || c.Runner == "jest" && isSet(v.args, "-f", "-o") {
		return nil
	}
	at := len(v.args)
	if !v.script {
		at -= len(v.words) - v.at
	}
	whole := []string{}
	for args := slices.Insert(slices.Clone(v.args), at, c.plan.flags...); len(args) > 0; args = args[1:] {
		name, _, assigned := strings.Cut(args[0], "=")
		switch {
		case slices.Contains(strings.Fields(options[0]), name):
			if !assigned && len(args) > 1 {
				args = args[1:]
			}
		case slices.Contains(strings.Fields(options[1]), name):
		case c.Runner == runnerPytest && letters.MatchString(args[0]):
			if rest := strings.NewReplacer("v", "", "q", "").Replace(args[0]); rest != "-" {
				whole = append(whole, rest)
			}
		default:
			whole = append(whole, args[0])
		}
	}
	return whole
}

// rerunOptions are the options of pytest that reruns get, as words of a shell.
func (c *Command) rerunOptions() string {
	if c.Runner != runnerPytest {
		return ""
	}
	var words []string
	verbose, args := 0, slices.Concat(c.line.args, c.plan.flags)
	for i, arg := range args {
		switch {
		case letters.MatchString(arg):
			verbose += strings.Count(arg, "v") - strings.Count(arg, "q")
		case arg == "--verbose":
			verbose++
		case arg == "--quiet":
			verbose--
		case arg == "--full-trace":
			words = append(words, arg)
		case rerunOption.MatchString(arg):
			switch long, more := strings.HasPrefix(arg, "--"), i+1 < len(args); {
			case long && more && !strings.Contains(arg, "="):
				arg += "=" + args[i+1]
			case len(arg) == len("-k") && more:
				arg += args[i+1]
			}
			if !bareWord.MatchString(arg) {
				arg = "'" + strings.ReplaceAll(arg, "'", `'"'"'`) + "'"
			}
			words = append(words, arg)
		}
	}
	return strings.Join(append(words, slices.Repeat([]string{"-v"}, max(verbose, 0))...), " ")
}

// What is done with a flag of go test.
type goFlag int

const (
	goIgnored goFlag = iota // it says how often tests run, or how results are shown
	goBuild
	goTest
	goLeft
	goUnknown // a flag of the tests
)

// goFlags are those of go test, by what is done with them: first those without a value, then the others.
var goFlags = map[goFlag][2]string{
	goIgnored: {
		"a n x v i work json failfast benchmem cover buildvcs modcacherw fullpath artifacts",
		"C p o count shuffle vet list bench benchtime fuzz fuzztime fuzzminimizetime coverprofile covermode coverpkg outputdir trace " +
			"blockprofile blockprofilerate cpuprofile memprofile memprofilerate mutexprofile mutexprofilefraction pkgdir",
	},
	goBuild: {"race msan asan trimpath", "tags mod ldflags gcflags asmflags gccgoflags"},
	goTest:  {"short", "cpu parallel run skip timeout"}, // of which run holds where no test is chosen
	goLeft:  {"linkshared", "modfile overlay exec toolexec compiler installsuffix pgo buildmode"},
}

// goFlagOf looks a flag up. takes: the next word is its value.
func goFlagOf(word string) (kind goFlag, takes bool) {
	name, _, assigned := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(word, "-"), "-"), "=")
	name = strings.TrimPrefix(name, "test.")
	for kind, named := range goFlags {
		for i, list := range named {
			if slices.Contains(strings.Fields(list), name) {
				return kind, i == 1 && !assigned
			}
		}
	}
	return goUnknown, false
}

// ofGo reads arguments as go test does: a flag that it does not know is the tests' own, and so is all from the next word on that is no flag.
func (p *Passed) ofGo(args []string) {
	listed, own := false, false // packages were listed; a flag of the tests was given
	packages := false           // the last word was one
	for i := 0; i < len(args); i++ {
		word := args[i]
		switch {
		case word == "-args" || word == "--args":
			p.literal(args[i+1:])
			return
		case !strings.HasPrefix(word, "-") || word == "-":
			if own || listed && !packages {
				p.literal(args[i:])
				return
			}
			listed, packages = true, true
			continue
		}
		packages = false
		kind, takes := goFlagOf(word)
		if kind == goUnknown {
			own = true
		}
		if p.add(kind, word); takes && i+1 < len(args) {
			i++
			p.value(kind, args[i])
		}
	}
}

// add adds a flag, in its form with one dash.
func (p *Passed) add(kind goFlag, word string) {
	switch kind {
	case goBuild:
		p.Build = append(p.Build, word)
	case goTest:
		p.Test = append(p.Test, "-test."+strings.TrimPrefix(strings.TrimLeft(word, "-"), "test."))
	case goUnknown:
		p.Test = append(p.Test, word)
	case goLeft:
		p.Left = append(p.Left, word)
	case goIgnored:
	}
}

// value joins a value to the flag before it.
func (p *Passed) value(kind goFlag, value string) {
	switch kind {
	case goBuild:
		p.Build[len(p.Build)-1] += "=" + value
	case goTest:
		p.Test[len(p.Test)-1] += "=" + value
	case goLeft:
		p.Left[len(p.Left)-1] += "=" + value
	case goIgnored, goUnknown:
	}
}

// literal adds what goes to the tests as it is, without what reruns decide.
func (p *Passed) literal(args []string) {
	for i := 0; i < len(args); i++ {
		kind, takes := goUnknown, false
		if strings.HasPrefix(args[i], "-test.") || strings.HasPrefix(args[i], "--test.") {
			kind, takes = goFlagOf(args[i])
		}
		if p.add(kind, args[i]); takes && i+1 < len(args) {
			i++
			p.value(kind, args[i])
		}
	}
}
