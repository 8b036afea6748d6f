package try

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/cli"
	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/open"
	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/casebook"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/module"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/render"
	"github.com/shadowcourt/shadowcourt/internal/run"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
)

// tryRun is one run over the dockets, and what it tells people.
type tryRun struct {
	options  *tryOptions
	stderr   io.Writer
	progress *cli.Progress
	match    *failOn
	redactor *render.Redactor

	run     *run.Run
	sum     run.Summary
	found   bool // a case: with --explain, the one that was looked for
	matched bool
	other   bool // an entry that could not be tried may be of another format

	coverage *module.ProfileCoverage // of the profile

	withoutRules int    // cases whose rules could not be evaluated
	rulesFailure string // the first of them

	idle      string // why nothing was run to settle a case
	proposals proposals
}

// try opens the outputs and the run, and tries all cases.
func (r *tryRun) try(ctx context.Context, s cli.Streams, h *host.Host, inputs *run.Dockets, stopReading func(), book *casebook.Book) error {
	o := r.options
	config := &run.Config{
		Host: h, Auditor: o.audit.auditor, Casebook: book, Redactor: r.redactor, Stop: stopReading,
		OnTrial: r.note, OnFault: r.fault, OnProgress: r.show,
		Workers: o.Workers(o.workers), Timings: o.timings, OneCase: o.explain != "",
		Settings: o.settings(inputs), Swaps: o.watch, Resume: o.resume, Journal: o.journal(),
		Passed: func() []string { return slices.Collect(maps.Keys(inputs.Passed)) },
		Now:    time.Now,
	}
	var err error
	if o.record.file != "" {
		config.Record.File = o.record.file
		config.Record.Key, err = open.Key(o.record.key)
	}
	if err == nil {
		err = o.outputs(s, config)
	}
	if err != nil {
		return cli.FileError(err)
	}
	if r.run, err = run.Open(ctx, *config); err != nil {
		config.Files.Discard()
		_, ofRecord := errors.AsType[*run.RecordError](err)
		_, ofJournal := errors.AsType[*run.JournalError](err)
		if ofRecord || ofJournal { // of files that can't be used
			err = cli.FileError(runError(err))
		}
		return cli.OrInterrupted(ctx, err)
	}
	defer r.run.Close()
	if name := config.Journal.Name(); r.run.Replaces() {
		fmt.Fprintf(s.Err, "warning: %s has trials of an earlier run, and this run tries them again; --resume continues with them\n", sanitize.Line(name))
	}
	entries := inputs.Entries(o.explain)
	if !o.noGroups && inputs.OfTests() {
		entries = run.Grouped(entries)
	}
	r.sum, err = r.run.All(ctx, r.match.watch(entries))
	return r.kept(runError(err))
}

func (r *tryRun) note(t *trial.Trial) {
	r.found = true
	r.coverage.Add(&t.Case)
	r.matched = r.match.matches(&t.Result) || r.matched
	if rules := t.Result.Rules; rules != nil && rules.Error != nil {
		r.withoutRules++
		r.rulesFailure = cmp.Or(r.rulesFailure, rules.Error.Message)
	}
	if r.options.settle && len(t.Result.Experiments) == 0 {
		r.idle = idle(&t.Result)
	}
	r.proposals.note(r.options, t)
}

// proposals are experiments that could make answers surer.
type proposals struct {
	count   int
	command string // that runs the first of them
}

func (p *proposals) note(o *tryOptions, t *trial.Trial) {
	proposal := t.Result.Proposal
	if proposal == nil {
		return
	}
	proposal.Command = o.experimentCommand(t)
	if p.count++; p.command == "" {
		p.command = proposal.Command
	}
}

// say says how to settle what reading could not.
func (p *proposals) say(o *tryOptions, w io.Writer, redactor *render.Redactor) {
	if p.command == "" || o.format != "table" || o.explain != "" {
		return
	}
	fmt.Fprintf(w, "%s not certain. Have the court run the tests again: %s\n",
		cli.Count(p.count, "answer is", "answers are"), sanitize.Line(redactor.Text(p.command)))
}

func (r *tryRun) show(sum run.Summary) {
	if sum.Ended {
		r.progress.Clear()
		return
	}
	r.progress.Tried(sum.Tried, sum.Faults)
}

// maxFaults is how many entries that can't be tried are named as long as there is none that can.
const maxFaults = 5

// fault reports an entry that could not be tried.
func (r *tryRun) fault(tried *host.Tried, sum run.Summary) {
	r.progress.Clear()
	line, ok := errors.AsType[*docket.LineError](tried.Err)
	r.other = r.other || ok && line.OtherFormat()
	if sum.Tried == 0 && sum.Unread == 0 && sum.Faults > maxFaults {
		return // an input of another kind: hundreds of lines say no more
	}
	place := ""
	if tried.Entry.Source != "" && !run.NamesItsPlace(tried.Err) {
		place = fmt.Sprintf("%s:%d: ", sanitize.Line(tried.Entry.Source), tried.Entry.Line)
	}
	fmt.Fprintln(r.stderr, place+sanitize.Block(r.redactor.Text(tried.Err.Error())))
}

// end says what concerns all cases, and gives the exit code.
func (r *tryRun) end(ctx context.Context, inputs *run.Dockets) error {
	r.sayKept(ctx)
	r.match.warn(ctx, r.stderr)
	if ctx.Err() == nil && r.options.explain == "" { // not of one case
		open.WarnOfProfile(r.stderr, r.coverage)
	}
	if r.withoutRules > 0 {
		fmt.Fprintf(r.stderr, "warning: the rules could not be evaluated for %s, and decided nothing there; the first failure: %s\n",
			cli.Count(r.withoutRules, "case", "cases"), sanitize.Line(r.redactor.Text(r.rulesFailure)))
	}
	r.sayUnread(inputs)
	none := r.sum.Tried+r.sum.Faults+r.sum.Unread == 0 && ctx.Err() == nil && r.options.explain == ""
	if none && (inputs.Only(run.GoTest) || inputs.OfRunners()) {
		fmt.Fprintf(r.stderr, "no failure in %s\n", cli.Count(inputs.Tests, "test", "tests"))
	}
	notRun := r.options.SayNotRun(r.stderr)
	if !notRun && r.idle != "" {
		fmt.Fprintln(r.stderr, "note: no experiment was run: "+r.idle)
	}
	elsewhere := r.options.Elsewhere()
	if elsewhere != "" {
		fmt.Fprintln(r.stderr, "warning: "+sanitize.Line(elsewhere))
	}
	if ctx.Err() != nil {
		file, _ := r.run.Kept()
		return r.options.interrupted(r.sum.Tried, file != "")
	}
	if err := untried(&r.sum, r.other); err != nil {
		return err
	}
	switch {
	case r.options.explain != "" && !r.found:
		return cli.InputError(fmt.Errorf("--explain: no case has the id %q%s", r.options.explain, cli.Near(inputs.PassedOver)))
	case elsewhere != "" && r.options.Strict:
		return cli.InputError(errors.New("strict: " + elsewhere))
	case notRun && r.options.Strict:
		return cli.InputError(errors.New("strict: experiments were asked for, and could not be run for every case"))
	case r.options.explain != "":
		return matched(r.matched)
	}
	return answered(&r.sum, r.matched)
}

// untried is an error where entries could not be tried; other says that they may be of another format.
func untried(sum *run.Summary, other bool) error {
	tried := cli.Count(sum.Tried, "case was", "cases were") + " tried"
	switch {
	case sum.Unread > 0:
		return fmt.Errorf("%s could not be read to the end; %s", cli.Count(sum.Unread, "docket", "dockets"), tried)
	case sum.Faults > maxFaults && sum.Tried == 0:
		hint := ""
		if other {
			hint = "; is it another format? see --from"
		}
		return cli.InputError(fmt.Errorf("none of the %d entries could be tried; the first %d are named above%s", sum.Faults, maxFaults, hint))
	case sum.Faults > 0:
		return cli.InputError(fmt.Errorf("%s could not be tried; %s", cli.Count(sum.Faults, "entry", "entries"), tried))
	}
	return nil
}

// answered is an error where Light answered for no case, and otherwise the exit code of --fail-on.
func answered(sum *run.Summary, failOn bool) error {
	if sum.Tried > 0 && sum.Unanswered == sum.Tried {
		return fmt.Errorf("the classifier returned no answer for any of %s", cli.Count(sum.Tried, "case", "cases"))
	}
	return matched(failOn)
}

// matched is the exit code of --fail-on.
func matched(failOn bool) error {
	if failOn {
		return &cli.ExitError{Code: cli.ExitMatched}
	}
	return nil
}

// experimentCommand is the command line that runs an experiment of a case. One docket of several, and the standard input, are left to be named.
func (o *tryOptions) experimentCommand(t *trial.Trial) string {
	docket := "DOCKET"
	if len(o.dockets) == 1 && o.dockets[0] != "-" {
		docket = o.dockets[0]
	} else if o.remote.name != "" {
		docket = o.remote.name
	}
	return o.ExperimentCommand(docket, t.Result.ID, t.Result.Proposal, o.OutOfBudget(&t.Case))
}

// idle says why no experiment was run in a trial in which some could be.
func idle(r *trial.Result) string {
	switch r.Final.Status {
	case trial.Accepted:
		return "Light is certain, and there was no trial"
	case trial.Mistrial:
		return "the trial broke off before an experiment was requested"
	default:
		return "no experiment was expected to say more about the cause"
	}
}

// advise tells somebody who looks at a table what comes next.
func (r *tryRun) advise(stdout io.Writer) {
	o := r.options
	if r.sum.Tried == 0 || o.format != "table" || o.explain != "" || len(o.reports) > 0 || cli.TerminalFile(stdout) == nil {
		return
	}
	fmt.Fprintln(r.stderr, "--explain ID tells one trial, --report FILE.html all of them")
}

// tryAudit is the audit of the opinion of every verdict.
type tryAudit struct {
	rubric  string // empty for no audits
	named   string // by the earlier spelling
	auditor *host.Auditor
}

// checkAudit reads the values of a switch, and rejects flags that contradict each other.
func (o *tryOptions) checkAudit(dockets []string) error {
	switch o.audit.rubric {
	case "true":
		o.audit.rubric = open.ShippedRubric
	case "false":
		o.audit.rubric = ""
	}
	beside := slices.IndexFunc(dockets, func(name string) bool {
		return name == open.ShippedRubric || filepath.Ext(name) == ".yaml" || filepath.Ext(name) == ".yml"
	})
	switch {
	case o.audit.rubric == open.ShippedRubric && beside >= 0:
		return fmt.Errorf("%s is no docket: to audit by it, write --audit=%[1]s, with = before the rubric", sanitize.Line(dockets[beside]))
	case o.audit.rubric != "" && o.NoCourt:
		return errors.New("--audit with --pipeline no-court: without a court there are no opinions")
	case o.audit.named != "" && o.audit.rubric == "":
		return errors.New("--rubric needs --audit")
	case o.audit.named != "":
		o.audit.rubric = o.audit.named
	}
	return nil
}

// watchInterval is how often the folder of --watch is looked at. A change is
// taken when two looks saw the same, so that it takes one to two intervals.
const watchInterval = 500 * time.Millisecond

// follow has a court or its audits follow the folder of --watch until stop is called, which waits for the end of a swap that goes on. Each message is
// one write, so that it stands whole beside those of the docket.
func (o *tryOptions) follow(ctx context.Context, stderr io.Writer, modules fs.FS, by func(context.Context, host.Watch), instead string, named func(error) error) (stop func()) {
	if !o.watch {
		return func() {}
	}
	say := func(text string) {
		if cli.TerminalFile(stderr) != nil {
			text = "\r\x1b[K" + text
		}
		_, _ = io.WriteString(stderr, text)
	}
	return run.Follow(ctx, watchInterval, by, host.Watch{
		Modules: o.Trust.Over(modules),
		Swapped: func(changes []host.Change) {
			var b strings.Builder
			for _, c := range changes {
				fmt.Fprintf(&b, "swapped %s\n", sanitize.Line(cli.ChangeLine(c.Module, c.Before, c.After)))
			}
			say(b.String())
		},
		Rejected: func(err error) { say(sanitize.Block("rejected, "+instead+":\n"+named(err).Error()) + "\n") },
	})
}
