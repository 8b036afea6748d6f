package testcmd

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// stopping is how a runner comes to end a run at its first failure, and how it is kept from that.
type stopping struct {
	// flags end the run; those of valued have a value, in the same word or in the next one. They are taken out.
	flags, valued string
	// on is appended, unless the command has it or an option of same, which does as much.
	on, same string
	// announce: report the added option even if nothing asked to stop early, because the runner stops early by default.
	announce bool
	// The variables and files may ask for an end, by asks, which on overrides, or by stuck, which nothing does.
	variables, files string
	asks, stuck      *regexp.Regexp
	// rigid: two options that say the same or the opposite are an error.
	rigid bool
}

// stoppings are those of the runners.
var stoppings = map[string]stopping{
	runnerGo: {flags: "-failfast --failfast -test.failfast --test.failfast", on: "-failfast=false", variables: "GOFLAGS", asks: regexp.MustCompile(`-failfast\b`)},
	// What stands last counts, and what is appended stands behind PYTEST_ADDOPTS and addopts. --stepwise has no opposite.
	"pytest": {
		flags: "--sw --stepwise --sw-skip --stepwise-skip", valued: "--maxfail", on: "--maxfail=0 --continue-on-collection-errors",
		variables: "PYTEST_ADDOPTS", files: "pytest.ini .pytest.ini pytest.toml pyproject.toml tox.ini setup.cfg",
		asks: regexp.MustCompile(`(?:^|[\s"'=])(?:-[vqsl]*x[vqsl]*|--exitfirst|--maxfail)(?:$|[\s"'=,])`), stuck: regexp.MustCompile(`--(?:sw|stepwise)\b`),
	},
	"jest": {
		flags: "--bail -b", on: "--bail=0", asks: regexp.MustCompile(`\bbail["']?\s*:\s*(?:true|[1-9])`),
		files: "package.json jest.config.js jest.config.ts jest.config.mjs jest.config.cjs jest.config.json",
	},
	"vitest": {
		valued: "--bail", on: "--bail=0", asks: regexp.MustCompile(`\bbail["']?\s*:\s*[1-9]`), rigid: true,
		files: "vitest.config.js vitest.config.ts vitest.config.mjs vitest.config.mts vite.config.js vite.config.ts vite.config.mjs vite.config.mts",
	},
	"mvn": {flags: "-ff --fail-fast", on: "-fae", same: "--fail-at-end -fn --fail-never", announce: true},
	"gradle": {
		flags: "--fail-fast --no-continue", on: "--continue", announce: true,
		files: "build.gradle build.gradle.kts", stuck: regexp.MustCompile(`\bfailFast\s*(?:=|\()?\s*true\b`),
	},
	"cargo nextest": {flags: "--fail-fast --ff", valued: "--max-fail", on: "--no-fail-fast", same: "--nff", announce: true, rigid: true},
	"ctest":         {flags: "--stop-on-failure", files: "CMakePresets.json CMakeUserPresets.json", stuck: regexp.MustCompile(`"stopOnFailure"\s*:\s*true`), rigid: true},
}

// bundled are short options of pytest in one word, -x among them.
var bundled = regexp.MustCompile(`^-[vqsl]*x[vqsl]*$`)

// modules is in the pom.xml of a project that has some.
var modules = regexp.MustCompile(`<module>`)

// complete has the run of a command continue after a failure: tests after the first would otherwise never run, and be blamed on nobody. It
// takes out what ends the run, adds what makes it go on, and says so in c.Completed, or in c.Stops that it can't be done.
func (c *Command) complete() {
	s, v := stoppings[c.Runner], c.line
	if c.Runner == "mvn" && c.asked("", "pom.xml", modules) != "" {
		s.flags += " -q --quiet" // with them it does not say which modules it skips after a failure
	}
	ended, out := s.ends(c.Runner, v.args)
	stuck, has := c.asked(s.variables, s.files, s.stuck), slices.Clone(v.args)
	if v.script { // its arguments stay as they are
		if steps := strings.Contains(strings.Join(ended, " "), "--s"); len(ended) > 0 && (s.rigid || steps) {
			stuck = strings.Join(ended, " ") + " of the script"
		}
		out = nil
	}
	if v.drop(out); !v.script {
		has = v.args
	}
	if stuck != "" && (c.Runner != "ctest" || v.script || isSet(v.args, "--preset")) {
		c.Stops = stuck + " has the run end at a failure, and no option of " + c.Runner + " overrides it"
		return
	}
	asked := c.asked(s.variables, s.files, s.asks)
	var on []string
	for flag := range strings.FieldsSeq(s.on) {
		name, _, _ := strings.Cut(flag, "=")
		if c.Runner == runnerGo && asked == "" && (!v.script || len(ended) == 0) || // nothing else needs it
			slices.ContainsFunc(has, func(arg string) bool {
				return arg == flag || slices.Contains(strings.Fields(s.same), arg) || s.rigid && (arg == name || strings.HasPrefix(arg, name+"="))
			}) {
			continue
		}
		on = append(on, flag)
	}
	c.plan.flags = append(c.plan.flags, on...)
	told := strings.Join(on, " ")
	if s.announce && told != "" && len(out) > 0 {
		ended = append(ended, "and with "+told)
	}
	switch {
	case len(out) > 0 && len(ended) > 0:
		c.Completed = c.Runner + " is run without " + strings.Join(ended, " ")
	case (len(ended) > 0 || asked != "") && told != "":
		c.Completed = c.Runner + " is run with " + told + ", in spite of " + strings.Join(append(ended, strings.Fields(asked)...), " ")
	case s.announce && told != "":
		c.Completed = c.Runner + " is run with " + told
	default:
		return
	}
	c.Completed += ", so that tests after a failure run too"
}

// bare is a style of pytest that shows neither places nor whole messages.
var bare = regexp.MustCompile(`--tb[= ]["']?(?:no|line)\b`)

// places has pytest show where tests fail, by which one failure is told from another.
func (c *Command) places() {
	if c.Runner != runnerPytest {
		return
	}
	from := ""
	if style := option(c.line.args, "--tb"); style == "" {
		from = c.asked(pytestOptions, stoppings[runnerPytest].files, bare)
	} else if bare.MatchString("--tb=" + style) {
		from = "--tb=" + style
	}
	if from == "" {
		return
	}
	c.plan.flags = append(c.plan.flags, "--tb=short")
	before := c.Runner + " is run"
	if c.Completed != "" {
		before = c.Completed + ", and"
	}
	c.Completed = before + " with --tb=short, in spite of " + from + ", so that failures can be told apart"
}

// ends are the arguments that end a run at a failure, and the indices of those that are taken out.
func (s *stopping) ends(runner string, args []string) (ended []string, out []int) {
	own := false // of go test: the tests' own arguments follow
	for i := 0; i < len(args) && args[i] != "--"; i++ {
		name, value, assigned := strings.Cut(args[i], "=")
		on, err := strconv.ParseBool(value)
		// Updated before the cases, since own stays set from -args on: what follows is the tests' own, but for flags with -test.
		switch own = own || runner == runnerGo && strings.TrimLeft(args[i], "-") == "args"; {
		case own && !strings.Contains(name, "-test."):
		case runner == "pytest" && (bundled.MatchString(args[i]) || name == "--exitfirst"): // --maxfail=0 overrides it
			ended = append(ended, args[i])
		case slices.Contains(strings.Fields(s.flags), name) && (!assigned || err != nil || on):
			ended, out = append(ended, args[i]), append(out, i)
		case slices.Contains(strings.Fields(s.valued), name):
			if out = append(out, i); !assigned && i+1 < len(args) {
				i++
				out, value = append(out, i), args[i]
			}
			if value != "0" {
				ended = append(ended, name+"="+value)
			}
		}
	}
	return ended, out
}

// maxConfig is how much of a configuration file is looked at.
const maxConfig = 1 << 20

// asked names the variable or the file of the folder that matches; empty for none.
func (c *Command) asked(variables, files string, what *regexp.Regexp) string {
	if what == nil {
		return ""
	}
	for name := range strings.FieldsSeq(variables) {
		if what.MatchString(c.variable(name)) {
			return name
		}
	}
	for name := range strings.FieldsSeq(files) {
		file := filepath.Join(c.dir, name)
		if info, err := os.Stat(file); err != nil || !info.Mode().IsRegular() || info.Size() > maxConfig {
			continue
		}
		if text, err := os.ReadFile(file); err == nil && what.Match(text) {
			return name
		}
	}
	return ""
}

// variable is a variable as the runner gets it.
func (c *Command) variable(name string) string {
	value := os.Getenv(name)
	for _, word := range slices.Concat(c.env, c.line.words[:c.line.start]) {
		if v, ok := strings.CutPrefix(word, name+"="); ok {
			value = v
		}
	}
	return value
}

// drop takes arguments out.
func (v *invocation) drop(out []int) {
	before := len(v.words) - len(v.args) // the arguments are the last words
	v.words, v.args = slices.Clone(v.words), slices.Clone(v.args)
	for _, i := range slices.Backward(out) {
		v.words, v.args = slices.Delete(v.words, before+i, before+i+1), slices.Delete(v.args, i, i+1)
		if before+i < v.at {
			v.at--
		}
	}
}
