package alibi

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/cli"
	"github.com/shadowcourt/shadowcourt/host/alibi"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/internal/quarantine"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
	"github.com/shadowcourt/shadowcourt/internal/testcmd"
)

// mostRests is how often the rest of a command is run, each time without what failed before.
const mostRests = 3

// account is what is known of a command that was run: whether its failures explain how it ended.
type account struct {
	command *testcmd.Command
	ran     *testcmd.Ran
	took    time.Duration
	found   *failing
	skip    string // why its rest is not run; empty for no reason
	rests   int
	began   time.Time // of the experiments
}

// errBudget ends a run for which no time is left.
var errBudget = errors.New("--budget is used up")

// rest runs the command again without the failing tests, which all have an alibi: one of them is enough for the exit code, and what fails beside
// them would be hidden behind it (an exit of TestMain, a hook, an error outside of tests, a test that was not run). It gives what fails then: tests
// that did not fail before, and failures beside tests. Where the command can't leave out a test these are not found, which a warning says.
func (a *account) rest(ctx context.Context, stderr io.Writer, p *cli.Progress, budget time.Duration, failures []docket.Entry) []docket.Entry {
	if a == nil || a.ran.ExitCode == 0 {
		return nil
	}
	text, packages, left := leaveOut(a.command.Form(), failures)
	if a.skip != "" {
		text, left = "", a.skip
	}
	switch {
	case text == "":
		fmt.Fprintf(stderr, "warning: the command is not run again without what has an alibi (%s): failures outside of tests are not detected\n", sanitize.Line(left))
		return nil
	case a.command.Runner == "go test" && len(packages) == 0:
		return nil // of each package that failed it is known why
	}
	known := len(a.found.list)
	unknown := func(why, next string) []docket.Entry {
		a.found.beside([]docket.Beside{{What: "whether anything else fails is not known: " + why, Next: next}}, "")
		return slices.Clone(a.found.list[known:])
	}
	const larger = "use a larger --budget"
	remains := budget - time.Since(a.began)
	if a.rests++; a.rests > mostRests {
		return unknown("each of "+strconv.Itoa(mostRests)+" runs without the tests that failed before had further failures", "mend or quarantine what is flaky")
	}
	if remains <= 0 || len(packages) == 0 && a.took > remains {
		return unknown(fmt.Sprintf("the command took %s, and --budget leaves %s", a.took.Round(time.Second), max(remains, 0).Round(time.Second)), larger)
	}
	where := ""
	if len(packages) > 0 {
		where = " in " + cli.Count(len(packages), "package", "packages")
	}
	p.Clear()
	fmt.Fprintf(stderr, "Running the command again%s without %s that %s an alibi, to see whether anything else fails.\n",
		where, cli.Count(len(failures), "failing test", "failing tests"), map[bool]string{true: "has", false: "have"}[len(failures) == 1])
	limited, stop := context.WithTimeoutCause(ctx, remains, errBudget)
	defer stop()
	again, faults := a.found.repeated.Count, len(a.found.faults)
	ran, err := a.command.Rest(text, packages).Run(limited, strings.NewReader(""), io.Discard, io.Discard, func(e docket.Entry, err error) {
		if slices.ContainsFunc(a.found.list[:known], func(o docket.Entry) bool { return o.Case.ID == e.Case.ID }) && err == nil {
			a.found.repeated.Count++
		} else {
			a.found.take(e, err)
		}
	})
	_, silent := errors.AsType[*testcmd.NoReportError](err)
	switch {
	case ctx.Err() != nil:
		return nil
	case errors.Is(err, errBudget):
		return unknown(errBudget.Error(), larger)
	case silent && ran.ExitCode == 0: // nothing is left to run
	case err != nil || len(a.found.faults) > faults:
		return unknown(errors.Join(append(a.found.faults[faults:], err)...).Error(), "")
	}
	if len(a.found.list) == known && a.found.repeated.Count > again {
		return unknown(a.command.Runner+" did not leave them all out", "run the command without them yourself")
	}
	for i := range ran.Beside {
		ran.Beside[i].What = "without the tests that have an alibi " + ran.Beside[i].What
	}
	a.found.beside(ran.Beside, ran.Output)
	if len(a.found.list) > known {
		return slices.Clone(a.found.list[known:])
	}
	if !a.ran.Captured {
		fmt.Fprintf(stderr, "warning: what %s printed outside of its tests was not checked: look there for failures\n", a.command.Runner)
	}
	if said, lines, ok := a.ran.Unexplained(ran, packages); ok {
		a.found.beside([]docket.Beside{said}, strings.Join(lines[:min(len(lines), mostLines)], "\n"))
	}
	return slices.Clone(a.found.list[known:])
}

// leaveOut writes failing tests in a form, and gives the packages of Go that have some. The text is empty where a test can't be left out; then left says
// what.
func leaveOut(form string, failures []docket.Entry) (text string, packages []string, left string) {
	file := quarantine.New("")
	var whole []string // packages that failed as a whole
	for i := range failures {
		c := &failures[i].Case
		if _, beside := docket.BesideOf(c); beside {
			continue
		}
		if file.Add(quarantine.Entry{Test: c.ID, Group: c.Group}); alibi.NameOf(c.ID, c.Group) == c.Group {
			whole = append(whole, c.Group)
		}
		packages = append(packages, c.Group)
	}
	forms := quarantine.Forms()
	at := slices.IndexFunc(forms, func(f quarantine.Form) bool { return f.Name == form })
	if at < 0 {
		return "", nil, "its runner or its options leave no tests out"
	}
	written := forms[at].Write(file, "")
	if form != "gotest" {
		packages = nil
		if len(written.Left) > 0 {
			return "", nil, written.Left[0].Error()
		}
	}
	slices.Sort(packages)
	return written.Text, slices.DeleteFunc(slices.Compact(packages), func(p string) bool { return slices.Contains(whole, p) }), ""
}
