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
// Flags of the user's own are kept, and the report that they name is read. The command is the user's: it is not isolated, and has
// the user's environment. What it writes is from elsewhere: reports are bounded, and so is the memory for its output.
package testcmd

import (
	"errors"
	"fmt"
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
	// ReportBytes is the most that the reports may have. Default: DefaultReportBytes.
	ReportBytes int64
	// Without are variables of this program that the command does not get, beside those of this program's own secrets.
	Without []string

	dir  string
	env  []string // assignments before the command
	line *invocation
	plan *plan
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
