// Package alibi has the command alibi, did this change make the tests fail?, and those that take its answers further: publish and quarantine.
package alibi

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/cli"
	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/open"
	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/alibi"
	"github.com/shadowcourt/shadowcourt/host/alibi/investigate"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/experiment"
	"github.com/shadowcourt/shadowcourt/internal/render"
	"github.com/shadowcourt/shadowcourt/internal/run"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
	"github.com/shadowcourt/shadowcourt/internal/testcmd"
)

// The exit codes beside those of all commands.
const (
	exitYours = cli.ExitMatched
	exitOpen  = 4
)

const explainAll = "all"

// mostFailures are asked of one run.
const mostFailures = 10_000

// options are the flags.
type options struct {
	open.Flags
	laboratory
	base, target  string
	from, explain string
	reports       []string
	perCase       time.Duration
	maxFalse      float64
	culprit       bool
	native        bool
	here          bool // the tests were run by this command
	strict        bool
	failOn        []string
	policy        policy
	held          held
	proof         proofOptions
	server        serverOptions
	program       string // with its version, as a service's log names it
	passed        testcmd.Passed
	account       *account // of the command; nil for reports
}

// New is the command of the program's version.
func New(s cli.Streams, version string) *cobra.Command {
	o := &options{program: "shadowcourt/" + version, Flags: open.Flags{Pipeline: open.ShippedAlibi, Profile: open.ShippedAlibi}}
	cmd := &cobra.Command{
		Use:   "alibi (REPORT... | -- COMMAND...)",
		Short: "Say of each failing test whether this change made it fail, by running it again",
		Long: `Say of each failing test whether this change made it fail. COMMAND runs the tests, as in
"alibi -- go test ./..."; what fails is run again: on this tree, on the base that the change
began at, alone and in other environments, until the answer is sure enough. A REPORT of a run
that is over (go test -json, JUnit XML) serves as well. Nothing but runs decides.

A test is yours where the change caused the failure, or where its merge with --target fails; it
is not yours where it failed before (preexisting), passes and fails by chance (flaky), or fails
for something outside of both trees (environment). What is not sure is open.

The tests run in scratch copies of the sources, isolated from the network and from your files
unless --native is given. The checkout is not changed. Results of Go are kept for a day: a command
that was interrupted continues where it was when it is given again. Other runners begin again.

Exit codes: 0 every failure has an alibi, or nothing failed; 3 one is yours; 4 none is yours and
one is open; 1 something failed while running; 2 the command line or an input is wrong. With
--fail-on: 3 an answer is of the list, 0 none is. A failure in quarantine that is not yours counts
for neither 4 nor --fail-on; an entry that has expired is an error (2).`,
		Example: `  shadowcourt alibi -- go test ./...
  shadowcourt alibi --base origin/main -- pytest
  shadowcourt alibi report.json --culprit
  shadowcourt alibi --proof ../alibi.proof --key ~/signing.key -- go test ./...
  shadowcourt alibi --server https://court.example,repository=shop -- go test ./...`,
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd, s, args) },
	}
	f := cmd.Flags()
	o.flags(f, render.FormJSON, render.FormSARIF, render.FormJUnit, render.FormGitHub, render.FormGitLab)
	f.StringVar(&o.base, "base", investigate.AutoBase, "revision that the change began at; auto finds it by the variables of the CI platform, else the merge base with the upstream or "+
		"default branch, on that branch HEAD for changes that are not committed or else the commit before")
	f.StringVar(&o.target, "target", "", "revision that the change will be merged into: then conflicts with it are found, too, among failures in a report of the merge")
	f.BoolVar(&o.culprit, "culprit", false, "find the commit of the change that each failure of yours began with")
	f.BoolVar(&o.native, "native", false, "run the tests outside of the isolation, in scratch copies, with all that you have: network, files, variables and folders for temporary files; "+
		"runs in a clean environment stay isolated")
	f.StringVar(&o.from, "from", run.Auto, "format of the reports: "+cli.OrList(readable()))
	f.StringVar(&o.explain, "explain", "", "tell the answer of one TEST at length: its runs as a grid of trees by environments, the commits of the change with --culprit, and the message; all for every test")
	f.StringArrayVar(&o.reports, "report", nil, "also write a report to `[FORM=]FILE`; the form is that of the name (.html, .md, .json, .jsonl, .sarif, .xml for JUnit), or one of "+
		cli.OrList(render.AnswerForms())+"; may be repeated")
	f.DurationVar(&o.perCase, "case-budget", experiment.DefaultPerCase, "how long the runs of one test may take; without the flag, longer while --budget has that for all others, too")
	f.Float64Var(&o.maxFalse, "max-false-alibi", alibi.MaxFalse, "largest share of false alibis; a smaller one takes more runs")
	f.StringSliceVar(&o.failOn, "fail-on", nil, "end with exit code 3 for these answers, and with 0 for others: "+cli.OrList(policyWords)+
		", each with a bound of the confidence if wanted, as in yours>=0.99; none for none (default: 3 for yours, else 4 for open)")
	f.BoolVar(&o.strict, "strict", false, "take a shallow clone, a base that is a guess, and a failing test that nothing can run for errors (exit code 2)")
	f.StringVar(&o.Pipeline, "pipeline", open.ShippedAlibi, "pipeline file of the court")
	f.StringVar(&o.Profile, "profile", open.ShippedAlibi, "profile with an outcome model")
	f.StringVar(&o.Modules, "modules", "", "folder with the NAME.wasm files (default: the embedded modules)")
	o.held.flags(f)
	o.proof.flags(cmd)
	o.server.flags(cmd)
	o.GrantFlag(cmd)
	open.CacheFlag(f, &o.Cache, "folder for compiled modules, or none")
	return cmd
}

// readable are the formats of reports of tests that name them as their runners do.
func readable() []string {
	return slices.DeleteFunc(run.Formats(), func(f string) bool { return f == run.ReportPortal || !run.OfTests(f) })
}

func (o *options) check(args []string) error {
	var faults []error
	if len(args) == 0 {
		faults = append(faults, errors.New("name a report of the failing run, or the command that runs the tests, as in: alibi -- go test"))
	}
	if !(o.maxFalse > 0 && o.maxFalse <= 0.5) {
		faults = append(faults, fmt.Errorf("--max-false-alibi %v: use a probability above 0 and at most 0.5", o.maxFalse))
	}
	if o.perCase <= 0 {
		faults = append(faults, errors.New("--case-budget: use a time above 0, such as 5m"))
	}
	if err := run.CheckFormat(o.from); err != nil {
		faults = append(faults, fmt.Errorf("--from %w", err))
	}
	var err error
	o.policy, err = parsePolicy(o.failOn)
	_, variables := o.variables()
	faults = append(faults, o.laboratory.check(), err, variables)
	if err := o.checkOutputs(args); err != nil {
		faults = append(faults, err)
	}
	return errors.Join(append(faults, o.proof.check(), o.server.check())...)
}

// run carries out the command.
func (o *options) run(cmd *cobra.Command, s cli.Streams, args []string) error {
	ctx := cmd.Context()
	if err := errors.Join(o.check(args), notEmpty(cmd, "target")); err != nil {
		return cli.InputError(err)
	}
	change, err := investigate.FindChange(ctx, o.source, o.base, o.target, os.Getenv)
	if err != nil {
		return cli.InputError(fmt.Errorf("--%w", err))
	}
	if err := doubts(ctx, &change); err != nil {
		if o.strict {
			return cli.InputError(fmt.Errorf("--strict: %w", err))
		}
		fmt.Fprintf(s.Err, "warning: %s\n", sanitize.Line(strings.ReplaceAll(err.Error(), "\n", "; ")))
	}
	config, err := o.ConfigOf(false) // what is wrong with the court is said before the tests run
	if err != nil {
		return err
	}
	if err := o.Complete(ctx, config); err != nil {
		return err
	}
	if err := o.held.open(ctx, s.Err, &change, time.Now()); err != nil {
		return err
	}
	if err := o.server.open(ctx, s.Err, o.program, args); err != nil {
		return err
	}
	out, err := o.openReports(&change)
	if err != nil {
		return cli.InputError(err)
	}
	defer out.discard()
	p := cli.NewProgress(s.Err)
	failures, err := o.failures(ctx, s, args, cmd.ArgsLenAtDash() == 0)
	if err != nil {
		return cli.OrInterrupted(ctx, err)
	}
	if len(failures) == 0 {
		fmt.Fprintln(s.Err, o.nothing())
		if o.format != "table" && o.format != "jsonl" { // a document says so, too
			out.begin(o, s, nil)
		}
		return out.end()
	}
	out.begin(o, s, failures)
	return o.ask(cmd, s, p, &change, config, failures, out)
}

// nothing is the message for a run without a failure.
func (o *options) nothing() string {
	said := "Nothing failed."
	if o.proof.file != "" {
		said = "Nothing failed: there is nothing to prove, and no proof was written."
	}
	if o.target != "" {
		said += " Conflicts with " + sanitize.Line(o.target) + " show in a report of the merge: run the tests of the merge, as CI does for pull requests, and pass their report."
	}
	return said
}

// failing collects failing tests.
type failing struct {
	one      string // the id of the only one that is wanted; empty for all
	list     []docket.Entry
	repeated alibi.Repeated
	// ends are tests whose ids end with one, and near those that are spelled much like it.
	ends   []docket.Entry
	near   []string
	faults []error
	// besides is how many failures no test tells of.
	besides int
}

// take takes an entry of a report.
func (f *failing) take(entry docket.Entry, err error) {
	switch line, _ := errors.AsType[*docket.LineError](err); {
	case line != nil && slices.ContainsFunc(line.Problems, func(p abi.Problem) bool { return p.Code == abi.CodeBadCount }):
		f.beside([]docket.Beside{{What: line.Error(), Next: "see the report: something failed that it tells nothing of"}}, "")
	case err != nil:
		f.faults = append(f.faults, err)
	case f.one == "" || entry.Case.ID == f.one:
		f.add(entry)
	default:
		f.near = run.PassOver(f.near, entry.Case.ID, f.one)
		if len(f.ends) < 2 && run.EndsWith(entry.Case.ID, f.one) {
			f.ends = append(f.ends, entry)
		}
	}
}

// add adds a test that was not added before. One more than may be asked is kept. Of a test that fails in its teardown, too, pytest tells twice, and
// runs of it fail in both ways.
func (f *failing) add(entry docket.Entry) {
	switch last, c := len(f.list)-1, &entry.Case; {
	case last >= mostFailures:
	case !f.repeated.Has(&entry):
		f.list = append(f.list, entry)
	case last >= 0 && f.list[last].Case.ID+"#2" == c.ID && len(c.Documents) > 0 && strings.HasPrefix(c.Documents[0].Text, "failed on teardown with "):
		f.list[last].Case.Documents = append(f.list[last].Case.Documents, abi.Document{Name: "teardown", Text: c.Documents[0].Text})
		f.repeated.Count--
	}
}

// end gives the tests.
func (f *failing) end(stderr io.Writer) ([]docket.Entry, error) {
	if len(f.list) == 0 && len(f.ends) == 1 {
		f.add(f.ends[0])
	}
	if len(f.list) > mostFailures {
		return nil, cli.InputError(fmt.Errorf("more than %d failing tests: pass fewer reports, or mend what they have in common", mostFailures))
	}
	if f.repeated.Count > 0 {
		fmt.Fprintf(stderr, "%s of %s: one answer for each test\n",
			cli.Count(len(f.list)+f.repeated.Count, "failure", "failures"), cli.Count(len(f.list), "test", "tests"))
	}
	if len(f.list) == 0 && f.one != "" && len(f.faults) == 0 {
		f.faults = append(f.faults, fmt.Errorf("--explain: no failing test has the name %q%s", f.one, cli.Near(f.near)))
	}
	return f.list, cli.InputError(errors.Join(f.faults...))
}

// failures are the failing tests of reports, or of a command that is run.
func (o *options) failures(ctx context.Context, s cli.Streams, args []string, command bool) ([]docket.Entry, error) {
	found := &failing{one: o.explain}
	if found.one == explainAll {
		found.one = ""
	}
	if command {
		ran, err := o.runTests(ctx, s, args, found)
		if err != nil || !ran.Failed() && len(found.faults)+len(found.list) == 0 {
			return nil, err
		}
	} else {
		inputs, err := run.OpenDockets(ctx, s.In, args, o.from)
		if err != nil {
			return nil, cli.InputError(err)
		}
		for entry, err := range inputs.Entries("") {
			found.take(entry, err)
		}
	}
	if ctx.Err() != nil {
		return nil, cli.ErrInterrupted
	}
	return found.end(s.Err)
}

// runTests runs the command.
func (o *options) runTests(ctx context.Context, s cli.Streams, args []string, found *failing) (*testcmd.Ran, error) {
	c, err := testcmd.Parse(".", args)
	if err != nil {
		return nil, cli.InputError(err)
	}
	o.pass(s.Err, c)
	if c.Completed != "" {
		fmt.Fprintln(s.Err, sanitize.Line(c.Completed)+".")
	}
	if c.Stops != "" {
		fmt.Fprintln(s.Err, "warning: "+sanitize.Line(c.Stops))
	}
	if name := open.KeyVariable(o.proof.key); name != "" {
		c.Without = []string{name}
	}
	began := time.Now()
	// What people read here is the table of answers; the runner's own output is shown beside it.
	ran, err := c.Run(ctx, s.In, s.Err, s.Err, found.take)
	if err == nil {
		found.beside(ran.Beside, ran.Output)
		o.account = &account{command: c, ran: ran, took: time.Since(began), found: found}
		switch {
		case found.one != "":
			o.account.skip = "--explain asks of one test"
		case o.policy != nil && len(o.policy) == 0:
			o.account.skip = "--fail-on none"
		}
	}
	return ran, err
}

// mostLines of the end of a command's output are quoted.
const mostLines = 20

// beside adds what no test of a run tells of, with the end of its output.
func (f *failing) beside(list []docket.Beside, output string) {
	lines := strings.Split(strings.TrimSpace(output), "\n")
	for _, b := range list {
		b.Output = strings.Join(lines[max(0, len(lines)-mostLines):], "\n")
		entry := docket.Entry{Case: b.Case()}
		if f.besides++; f.besides > 1 {
			entry.Case.ID += " " + strconv.Itoa(f.besides)
		}
		f.take(entry, nil)
	}
}

// pass notes what reruns get of the command, and says what they don't get.
func (o *options) pass(stderr io.Writer, c *testcmd.Command) {
	o.passed, o.here = c.Passed(), true
	left := o.passed.Left
	o.passed.Env = slices.DeleteFunc(o.passed.Env, func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		err := experiment.CheckVariable(name)
		if err != nil {
			left = append(left, v)
		}
		return err != nil
	})
	o.passed.Left = left
	if len(left) > 0 {
		fmt.Fprintf(stderr, "warning: what fails is run again without %s\n", sanitize.Line(strings.Join(left, " ")))
	}
}

// borrowers are how many failures may take more than their share of the budget: none where --case-budget bounds it.
func borrowers(f *pflag.FlagSet, failures int) int {
	if f.Changed("case-budget") {
		return 0
	}
	return failures
}

// ask asks the court of every failure.
func (o *options) ask(cmd *cobra.Command, s cli.Streams, p *cli.Progress, change *investigate.Change, config *host.Config, failures []docket.Entry, out *output) error {
	ctx := cmd.Context()
	lab, err := o.config()
	if err != nil {
		return cli.InputError(err)
	}
	lab.Cases = borrowers(cmd.Flags(), len(failures))
	lab.PerCase, lab.CacheDir = o.perCase, open.ExperimentCache(config.CacheDir)
	lab.Flags, lab.TestFlags, lab.Env = o.passed.Build, o.passed.Test, append(lab.Env, o.passed.Env...)
	lab.Left = o.passed.Left
	if o.passed.Whole != nil && o.account != nil {
		lab.Whole = experiment.Whole{Runner: o.account.command.Runner, Args: o.passed.Whole, Took: o.account.took}
		if lab.Whole.Dir, err = filepath.Abs(o.passed.Dir); err != nil {
			return err
		}
	}
	lab.Native, lab.Told, lab.Without = o.native, o.here, open.KeyVariable(o.proof.key)
	lab.Progress = func(now experiment.Progress) { p.Say(open.SayExperiments(now)) }
	config.LoadLate = func(module string) { p.Say("loading the module " + module + ", which takes seconds the first time") }
	p.Say("reading the trees")
	proof, err := o.openProof(ctx, s.Err, config, change)
	if err != nil {
		return cli.OrInterrupted(ctx, err)
	}
	investigation, err := investigate.Open(ctx, investigate.Config{
		Change: *change, Host: *config, MaxFalse: o.maxFalse, Culprit: o.culprit, Open: o.AlibiCourt(s), Now: time.Now, Lab: lab,
	})
	p.Clear()
	switch {
	case errors.Is(err, investigate.ErrNothingRuns):
		return cli.InputError(err)
	case errors.Is(err, investigate.ErrUnchanged):
		return cli.InputError(fmt.Errorf("--base %s: %w", o.base, err))
	case errors.Is(err, investigate.ErrNoCommits):
		return cli.OrInterrupted(ctx, cli.InputError(fmt.Errorf("--%w", err)))
	case err != nil:
		return cli.OrInterrupted(ctx, err)
	}
	defer func() { _ = investigation.Close(ctx) }()
	if investigation.Lacking != "" {
		if o.strict {
			return cli.InputError(errors.New("--strict: " + investigation.Lacking))
		}
		fmt.Fprintf(s.Err, "warning: %s\n", sanitize.Line(investigation.Lacking))
	}
	if err := proof.begin(ctx, investigation.Court); err != nil {
		return err
	}
	places, err := openPlaces(ctx, s.Err, change)
	if err != nil {
		return cli.OrInterrupted(ctx, err)
	}
	defer func() { _ = places.close() }()
	sum := summary{policy: o.policy}
	if o.account != nil {
		o.account.began = time.Now()
	}
	for next := failures; len(next) > 0; failures = append(failures, next...) {
		for asked := range investigation.Court.Ask(ctx, docket.Each(next), 0) {
			p.Clear()
			if asked.Err != nil {
				if ctx.Err() != nil {
					break
				}
				sum.faults++
				fmt.Fprintln(s.Err, "shadowcourt: "+sanitize.Block(asked.Err.Error()))
				continue
			}
			a := asked.Answer
			place := places.of(asked.Trial, a.Test, a.Message)
			place.Quarantined = o.held.of(a, time.Now())
			sum.add(a, place.Quarantined != nil)
			if why := notRun(a); o.strict && why != "" {
				sum.notRun++
				fmt.Fprintf(s.Err, "shadowcourt: --strict: %s: %s\n", sanitize.Line(a.ID), sanitize.Line(why))
			}
			a.Culprit, err = investigation.Find(ctx, &asked.Trial.Case, a, 0, func(now investigate.Step) { p.Say(searching(a.Test, now)) })
			p.Clear()
			if err != nil && ctx.Err() == nil {
				fmt.Fprintf(s.Err, "warning: --culprit: %s: %s\n", sanitize.Line(a.Test), sanitize.Line(err.Error()))
			}
			if err := investigation.Order(ctx, &asked.Trial.Case, a); err != nil && ctx.Err() == nil {
				fmt.Fprintf(s.Err, "warning: order: %s: %s\n", sanitize.Line(a.Test), sanitize.Line(err.Error()))
			}
			took := investigation.Took(&asked.Trial.Case)
			if err := errors.Join(proof.add(&asked), o.server.add(&asked, took)); err != nil {
				return err
			}
			if err := out.Write(&render.Answered{Answer: *a, Place: place, Took: took, Trial: asked.Trial}); err != nil {
				return err
			}
		}
		if next = nil; ctx.Err() == nil && sum.rests() {
			next = o.account.rest(ctx, s.Err, p, o.budget, failures)
		}
	}
	*out.trees.Partial = render.PartialAnswers{Answered: sum.all(), Failures: len(failures), Interrupted: ctx.Err() != nil}
	if err := out.end(); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return fmt.Errorf("interrupted after %d of %s: the same command goes on there with tests of Go, whose runs are kept for a day; others begin again",
			sum.all(), cli.Count(len(failures), "failure", "failures"))
	}
	if err := proof.write(ctx, failures); err != nil {
		return err
	}
	if err := o.server.send(ctx, s.Err, investigation.Court, proof); err != nil {
		return err
	}
	return sum.exit()
}

// summary counts answers.
type summary struct {
	yours, open, not int
	held             int // open ones in quarantine
	faults, notRun   int
	policy           policy
	failed           bool // by the policy
}

func (s *summary) add(a *alibi.Answer, held bool) {
	switch a.Verdict {
	case alibi.IsYours:
		s.yours++
	case alibi.NotYours:
		s.not++
	case alibi.IsOpen:
		s.open++
		if held {
			s.held++
		}
	}
	s.failed = s.failed || !held && s.policy.fails(a)
}

func (s *summary) all() int { return s.yours + s.open + s.not }

// rests says whether no answer decides the exit code yet. With --fail-on none it is the one that the command would have without.
func (s summary) rests() bool {
	if len(s.policy) == 0 {
		s.policy = nil
	}
	return s.exit() == nil
}

// exit is the exit code.
func (s *summary) exit() error {
	switch {
	case s.faults > 0:
		return &cli.ExitError{Code: cli.ExitFailed}
	case s.notRun > 0:
		return &cli.ExitError{Code: cli.ExitInput}
	case s.policy != nil && s.failed, s.policy == nil && s.yours > 0:
		return &cli.ExitError{Code: exitYours}
	case s.policy == nil && s.open > s.held:
		return &cli.ExitError{Code: exitOpen}
	}
	return nil
}
