package testcmd

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// forms are the forms of package quarantine with which runners leave tests out.
var forms = map[string]string{
	runnerGo: "gotest", "pytest": "pytest", "jest": "jest", "vitest": "vitest", "mvn": "surefire", "cargo nextest": "nextest", "ctest": "ctest",
}

// chosen are options that choose tests in a way that nothing can be left out beside it.
const chosen = "--lf --last-failed --ff --failed-first --nf --onlyFailures --rerun-failed -Dtest -Dit.test -Dsurefire.excludesFile -Dfailsafe.excludesFile"

// profiles are options of go test that write files, which are those of the whole run.
func profiles() (names []string) {
	for name := range strings.FieldsSeq("coverprofile cpuprofile memprofile blockprofile mutexprofile trace") {
		names = append(names, "-"+name, "--"+name)
	}
	return names
}

// goSkip is -skip in GOFLAGS.
var goSkip = regexp.MustCompile(`--?skip=(\S+)`)

// measured is an option of pytest that measures coverage.
var measured = regexp.MustCompile(`--cov\b`)

// Form is the form of package quarantine with which the runner leaves tests out; empty where this command can't.
func (c *Command) Form() string {
	fixed := func(arg string) bool {
		name, _, _ := strings.Cut(arg, "=")
		return slices.Contains(strings.Fields(chosen), name) || name == "-f" && c.Runner == "jest"
	}
	set := func(word string) bool { return strings.HasPrefix(word, "PYTHONPATH=") } // behind the variables that the command gets
	if slices.ContainsFunc(c.line.args, fixed) || c.Runner == "pytest" && slices.ContainsFunc(c.line.words[:c.line.start], set) {
		return ""
	}
	if c.line.script { // a second option of its kind would be an error, or be the only one that counts
		names := []string{"-t", "--testNamePattern", "-E", "--filterset", "--exclude-regex"}
		if c.Runner == runnerGo {
			names = profiles()
		}
		if isSet(c.line.args, names...) {
			return ""
		}
	}
	return forms[c.Runner]
}

// Rest is the command with tests left out: text is what [Command.Form] writes of them. Of Go only these packages are run, if some are given. What the
// first run has written, reports and measured coverage, stays.
func (c *Command) Rest(text string, packages []string) *Command {
	rest, plan, v := *c, *c.plan, *c.line
	rest.plan, rest.line, rest.rest = &plan, &v, true
	plan.files, text = map[string]string{}, strings.TrimSpace(text)
	maps.Copy(plan.files, c.plan.files)
	var flags []string
	switch c.Runner {
	case runnerGo:
		v.take(profiles()...)
		skips := v.take("-skip", "--skip", "-test.skip")
		if m := goSkip.FindStringSubmatch(c.variable("GOFLAGS")); len(skips) == 0 && m != nil {
			skips = m[1:]
		}
		if len(skips) > 0 {
			text = skips[len(skips)-1] + "|" + text
		}
		flags = []string{"-skip=" + text}
		if at := goPackages(v.args); len(at) > 0 && len(packages) > 0 && !v.script {
			v.drop(at)
			n := len(v.words) - len(v.args) + at[0]
			v.words = slices.Insert(v.words, n, packages...)
			v.args = slices.Insert(v.args, at[0], packages...)
		}
	case "pytest":
		plan.files["shadowcourt_rest.py"] = text + "\n"
		flags = []string{"-p", "shadowcourt_rest", "-o", "cache_dir=" + folderPlace + "/cache"}
		if measured.MatchString(strings.Join(v.args, " ")) || c.asked("PYTEST_ADDOPTS", stoppings["pytest"].files, measured) != "" {
			flags = append(flags, "--no-cov")
		}
		path := "PYTHONPATH=" + folderPlace
		if own := c.variable("PYTHONPATH"); own != "" {
			path += string(filepath.ListSeparator) + own
		}
		plan.env = []string{path, "COVERAGE_FILE=" + folderPlace + "/coverage"}
	case "jest", "vitest":
		if patterns := v.take("-t", "--testNamePattern"); len(patterns) > 0 {
			text = "^(?=[^]*(?:" + patterns[len(patterns)-1] + "))" + strings.TrimPrefix(text, "^")
		}
		if flags = []string{"--testNamePattern=" + text, "--coverage=false"}; c.Runner == "vitest" {
			covers := func(arg string) bool { return strings.HasPrefix(arg, "--coverage") }
			if flags[1] = "--coverage.enabled=false"; !v.script {
				var at []int
				for i := range v.args {
					if covers(v.args[i]) {
						at = append(at, i)
					}
				}
				v.drop(at)
			} else if slices.ContainsFunc(v.args, covers) {
				flags = flags[:1]
			}
		}
	case "mvn":
		plan.files["rest.txt"] = text + "\n"
		flags = []string{"-Dsurefire.excludesFile=" + folderPlace + "/rest.txt", "-Dfailsafe.excludesFile=" + folderPlace + "/rest.txt", "-Djacoco.skip=true"}
	case "cargo nextest":
		if sets := v.take("-E", "--filterset", "--filter-expr"); len(sets) > 0 {
			text = "((" + strings.Join(sets, ") | (") + ")) & (" + text + ")"
		}
		flags = []string{"-E", text, "--no-tests=pass"}
	case "ctest":
		if out := v.take("-E", "--exclude-regex"); len(out) > 0 {
			text += "|" + out[len(out)-1]
		}
		flags = []string{"--exclude-regex", text}
	}
	plan.flags = append(slices.Clone(plan.flags), flags...)
	return &rest
}

// take takes options with values out, unless a script has them, and gives the values.
func (v *invocation) take(names ...string) (values []string) {
	var at []int
	for i := 0; i < len(v.args) && !slices.Contains([]string{"--", "-args", "--args"}, v.args[i]); i++ {
		name, value, assigned := strings.Cut(v.args[i], "=")
		if !slices.Contains(names, name) {
			continue
		}
		if at = append(at, i); !assigned && i+1 < len(v.args) {
			i++
			at, value = append(at, i), v.args[i]
		}
		values = append(values, value)
	}
	if !v.script {
		v.drop(at)
	}
	return values
}

// goPackages are the indices of the packages in arguments of go test; none where files are named.
func goPackages(args []string) (at []int) {
	for i := 0; i < len(args); i++ {
		word := args[i]
		switch kind, takes := goFlagOf(word); {
		case !strings.HasPrefix(word, "-") && strings.HasSuffix(word, ".go"):
			return nil
		case !strings.HasPrefix(word, "-"):
			if len(at) > 0 && at[len(at)-1] != i-1 {
				return at // an argument of the tests
			}
			at = append(at, i)
		case strings.TrimLeft(word, "-") == "args" || kind == goUnknown && len(at) > 0:
			return at
		case takes:
			i++
		}
	}
	return at
}

// keep copies reports, and gives what restores them, and removes those that came meanwhile.
func (f *finder) keep(reports map[string]state, folder string) (restore func() error, err error) {
	copies := map[string]string{}
	for file := range reports {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		kept := filepath.Join(folder, "kept-"+strconv.Itoa(len(copies)))
		if err := os.WriteFile(kept, text, 0o600); err != nil {
			return nil, err
		}
		copies[file] = kept
	}
	return func() error {
		now, err := f.look()
		faults := []error{err}
		for file := range now {
			if copies[file] == "" {
				faults = append(faults, os.Remove(file))
			}
		}
		for file, kept := range copies {
			if now[file] == reports[file] {
				continue
			}
			text, err := os.ReadFile(kept)
			if err == nil {
				err = errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, text, 0o644))
			}
			faults = append(faults, err)
		}
		if err := errors.Join(faults...); err != nil {
			return fmt.Errorf("reports of the first run: %w", err)
		}
		return nil
	}, nil
}
