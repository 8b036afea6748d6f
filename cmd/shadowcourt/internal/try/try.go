package try

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/spf13/cobra"

	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/cli"
	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/open"
	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/casebook"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/render"
	"github.com/shadowcourt/shadowcourt/host/render/sanitize"
	"github.com/shadowcourt/shadowcourt/host/run/input"
	"github.com/shadowcourt/shadowcourt/host/run/journal"
	"github.com/shadowcourt/shadowcourt/host/trial"
)

// tryOptions are the flags of `try`.
type tryOptions struct {
	open.Flags
	from            string
	format, output  string
	explain         string
	reports         []string
	redact, failOn  []string
	workers         int
	timings, resume bool
	cases           string
	truthFromReport bool
	canaryOutput    string
	audit           tryAudit
	record          recordOptions
	watch           bool
}

func New(s cli.Streams) *cobra.Command {
	o := &tryOptions{}
	cmd := &cobra.Command{
		Use:   "try [DOCKET...|-]",
		Short: "Try every case of the dockets",
		Long: `Try every case of the dockets, or of the standard input. Results go to the standard
output in docket order, as a table for people or as JSON for programs; progress and
faults go to the standard error. A line that is wrong is named with file and line, and
so is a file of a format that try does not read; the other lines and files are tried.
The table is as wide as the terminal; elsewhere the variable COLUMNS gives its width.

Exit codes: 0 done; 1 something failed while running; 2 the command line or an input is
wrong (the rest was still tried); 3 done, and --fail-on matched.`,
		Example: `  shadowcourt try examples/dockets/go-failures.jsonl
  shadowcourt try --from gotest --report report.html < examples/dockets/godotenv.gotest.json
  shadowcourt try examples/dockets/inputs/surefire.xml
  shadowcourt try examples/dockets/go-failures.jsonl --format jsonl --fail-on mistrial,label:si001`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd.Context(), s, args)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.from, "from", "auto", "input format: "+cli.OrList(input.Formats()))
	o.LightFlags(cmd, "default: "+open.LightRCA+" for reports of tests, else "+open.LightDocket)
	f.BoolVar(&o.Remember, "remember", false, "with --casebook: add the verdicts to it, after the docket")
	f.StringVar(&o.Pipeline, "pipeline", open.ShippedPipeline, "pipeline file, or the name of the shipped one")
	f.StringVar(&o.Profile, "profile", "", "profile file, the name of a shipped one, or none (default: go-test for gotest input, else none)")
	f.StringVar(&o.Modules, "modules", "", "folder with all NAME.wasm files that the pipeline names (default: the embedded modules)")
	open.CacheFlag(f, &o.Cache, "folder for compiled modules, or none")
	f.StringVar(&o.format, "format", "table", "table, json or jsonl")
	f.StringVar(&o.output, "output", "", "file for the results (default: standard output)")
	f.BoolVar(&o.resume, "resume", false, "with --output FILE, --report FILE or --record FILE: go on where a run that did not end stopped")
	f.StringArrayVar(&o.reports, "report", nil, "also write a report, FILE.html or FILE.md; may be repeated")
	f.StringVar(&o.cases, "cases", "", "also write the cases as a docket in JSON lines, ready for adding the truth")
	f.BoolVar(&o.truthFromReport, "truth-from-report", false, "with reportportal input: take the defect types that people gave for the truth, and compare with it")
	f.StringVar(&o.explain, "explain", "", "try only the case of this id, and tell its trial as a story")
	f.StringArrayVar(&o.redact, "redact", nil, "regular expression whose matches are blacked out in every output; may be repeated")
	f.StringSliceVar(&o.failOn, "fail-on", nil, "exit with 3 on a status (acquitted, mistrial, ...), a label (pb001; label:ID where the pipeline does not name it), or with --audit audit:security or audit:degraded")
	f.IntVar(&o.workers, "workers", 0, "trials at once (default: one for each processor)")
	f.BoolVar(&o.timings, "timings", false, "add times to the results, which then differ from run to run")
	f.BoolVar(&o.NoCourt, "no-court", false, "hold no court: Light's answers stand")
	o.GrantFlag(cmd)
	o.watchFlag(cmd)
	o.canaryFlags(cmd)
	o.auditFlags(cmd)
	o.record.flags(cmd)
	return cmd
}

// run carries out `try`.
func (o *tryOptions) run(ctx context.Context, s cli.Streams, args []string) error {
	match, redactor, err := o.check(args)
	if err != nil {
		return cli.InputError(err)
	}
	if o.record.file != "" {
		open.WarnOfKey(s.Err, o.record.key)
	}
	if len(args) == 0 && cli.TerminalFile(s.In) != nil {
		fmt.Fprintln(s.Err, "reading a docket from the keyboard, a case a line; end it with Ctrl-D, or see `shadowcourt try --help`")
	}
	reading, stopReading := context.WithCancel(ctx)
	defer stopReading()
	inputs, err := input.Open(reading, s.In, args, o.from)
	if err != nil {
		return cli.InputError(err)
	}
	defer inputs.Close()
	inputs.Truth = o.truthFromReport
	if ctx.Err() != nil {
		return cli.ErrInterrupted
	}
	config, err := o.Config(inputs)
	if err != nil {
		return err
	}
	o.record.configure(config)
	help, err := o.Connect(ctx, config, inputs)
	if err != nil {
		return err
	}
	defer help.Close()
	p := cli.NewProgress(s.Err)
	p.Say("loading modules")
	h, err := o.Host(ctx, s, config)
	p.Clear()
	if err != nil {
		return o.Error(err)
	}
	defer func() { _ = h.Close(context.WithoutCancel(ctx)) }()
	defer o.follow(ctx, s.Err, h)()
	closeAudit, err := o.openAudit(ctx, s)
	if err != nil {
		return err
	}
	defer closeAudit()
	stopFollowing, err := o.followAudit(ctx, s.Err)
	if err != nil {
		return err
	}
	defer stopFollowing()
	parts, err := o.configuration(ctx, h, inputs)
	if err != nil {
		return err
	}
	recording, err := o.recording(ctx, h, parts)
	if err != nil {
		return cli.OrInterrupted(ctx, cli.FileError(err))
	}
	defer recording.leave()
	out, err := o.writers(s, redactor, h)
	if err != nil {
		return cli.FileError(err)
	}
	kept, err := o.journal(parts, s.Err)
	if err != nil {
		out.Discard()
		return cli.FileError(err)
	}
	if kept != nil {
		defer func() { _ = kept.Keep() }()
	}
	o.sayRecorded(s.Err, recording)
	r := &tryRun{
		options: o, stderr: s.Err, progress: p, out: out, match: match, redactor: redactor, stopReading: stopReading,
		journal: kept, recording: recording, book: help.Book,
	}
	r.all(ctx, h, inputs)
	err = r.end(ctx, inputs)
	r.advise(s.Out)
	return err
}

// tryRun is one run over the dockets.
type tryRun struct {
	options  *tryOptions
	stderr   io.Writer
	progress *cli.Progress
	out      *outputs
	match    *failOn
	redactor *render.Redactor
	// stopReading ends a read that waits.
	stopReading func()
	journal     *journal.Journal // nil where the run keeps none
	recording   *recording
	book        *casebook.Book // nil unless verdicts are remembered
	remembered  []casebook.Entry

	tried, faults int  // with those of an earlier run that is resumed
	stopped       bool // a case failed, behind which a record can't be resumed
	unanswered    int  // cases to which Light had no answer
	unread        int  // dockets of which reading failed
	found         bool // the case of --explain
	matched       bool
	failed        error
}

// all tries every case and hands the trials out.
func (r *tryRun) all(ctx context.Context, h *host.Host, inputs *input.Dockets) {
	next, stop := iter.Pull2(r.match.watch(inputs.Entries(r.options.explain)))
	defer stop()
	ended := func() bool { return ctx.Err() != nil }
	if r.failed = r.passEarlier(ended, next); r.failed != nil {
		return
	}
	if r.journal != nil && r.journal.Remembered() {
		r.failed = r.onlyRemembered(ended, next)
		return
	}
	trials := h.TryAll(ctx, pulled(next), r.options.workers)
	for tried := range r.options.audit.trials(ctx, h, trials, r.options.workers) {
		if tried.Trial == nil && ctx.Err() != nil {
			break // what is written has no gaps, so that a later run can resume it
		}
		if r.failed = r.one(ctx, &tried); r.failed != nil {
			r.stopReading()
			return
		}
	}
	r.failed = r.recording.acknowledge(r.write)
}

// pulled gives what is left behind next.
func pulled(next func() (docket.Entry, error, bool)) iter.Seq2[docket.Entry, error] {
	return func(yield func(docket.Entry, error) bool) {
		entry, err, more := next()
		for more && yield(entry, err) {
			entry, err, more = next()
		}
	}
}

// one hands a trial out, or says why there is none.
func (r *tryRun) one(ctx context.Context, tried *host.Tried) error {
	if tried.Err != nil {
		r.fault(tried)
		r.remember(tried)
		if r.journal == nil || tried.Entry.Case.ID == "" || ctx.Err() != nil {
			return nil //nolint:nilerr // the run says that it was interrupted
		}
		return r.journaled(r.journal.Append(&tried.Entry, nil, errors.New(r.redactor.Text(tried.Err.Error()))))
	}
	r.note(tried.Trial)
	if err := r.recording.append(tried, r.write); err != nil {
		return err
	}
	r.remember(tried)
	r.progress.Tried(r.tried, r.faults)
	return nil
}

// note counts a trial.
func (r *tryRun) note(t *trial.Trial) {
	r.tried++
	if t.Result.Final.Cause == trial.CauseLight {
		r.unanswered++
	}
	r.found = r.found || t.Result.ID == r.options.explain
	r.matched = r.match.matches(&t.Result) || r.matched
}

// write gives a trial to the outputs, once it is in the journal.
func (r *tryRun) write(tried *host.Tried) error {
	t := tried.Trial
	if !r.options.timings {
		t.Result.Timings = nil
	}
	shown := r.out.shown(t)
	if r.journal != nil {
		if err := r.journaled(r.journal.Append(&tried.Entry, shown, nil)); err != nil {
			return err
		}
	}
	return r.out.write(shown)
}

func (r *tryRun) journaled(err error) error {
	if err == nil {
		return nil
	}
	return named(r.journal.Name(), "", err)
}

// fault reports an entry that could not be tried.
func (r *tryRun) fault(tried *host.Tried) {
	r.progress.Clear()
	r.stopped = r.stopped || tried.Entry.Case.ID != ""
	place := ""
	var line *docket.LineError
	var foreign *input.ForeignError
	switch {
	case errors.As(tried.Err, &line), errors.As(tried.Err, &foreign):
		r.faults++
	case tried.Entry.Source != "":
		r.faults++
		place = fmt.Sprintf("%s:%d: ", sanitize.Line(tried.Entry.Source), tried.Entry.Line)
	default:
		r.unread++
	}
	if r.tried == 0 && r.unread == 0 && r.faults > maxFaults {
		return // an input of another kind: hundreds of lines say no more
	}
	fmt.Fprintln(r.stderr, place+sanitize.Block(r.redactor.Text(tried.Err.Error())))
}

// maxFaults is how many entries that can't be tried are named as long as there is none that can.
const maxFaults = 20

// advise tells somebody who looks at a table what comes next.
func (r *tryRun) advise(stdout io.Writer) {
	o := r.options
	if r.tried == 0 || o.format != "table" || o.explain != "" || len(o.reports) > 0 || cli.TerminalFile(stdout) == nil {
		return
	}
	fmt.Fprintln(r.stderr, "--explain ID tells one trial, --report FILE.html all of them")
}

// end closes the outputs and gives the exit code.
func (r *tryRun) end(ctx context.Context, inputs *input.Dockets) error {
	r.progress.Clear()
	if r.failed != nil {
		r.out.Discard()
		return r.kept(r.failed)
	}
	finish := r.out.close
	nothing := r.tried == 0 && (ctx.Err() != nil || r.unread+r.faults > 0 || r.options.explain != "")
	if nothing {
		finish = r.out.leave
	}
	if err := errors.Join(r.recording.end(ctx.Err() == nil && r.unread == 0), finish()); err != nil {
		return r.kept(err)
	}
	if err := r.keepVerdicts(ctx, inputs); err != nil {
		return r.kept(err)
	}
	if err := r.endJournal(nothing || ctx.Err() != nil || r.unread > 0); err != nil {
		return err
	}
	r.match.warn(ctx, r.stderr)
	r.sayUnread(inputs)
	r.sayPassed(ctx, inputs)
	switch {
	case ctx.Err() != nil:
		return r.interrupted()
	case r.unread > 0:
		return fmt.Errorf("%s could not be read to the end; %s tried", cli.Count(r.unread, "docket", "dockets"), cli.Count(r.tried, "case was", "cases were"))
	case r.faults > maxFaults && r.tried == 0:
		return cli.InputError(fmt.Errorf("%d entries could not be tried, of which the first %d are named, and none could; is it another format? see --from", r.faults, maxFaults))
	case r.faults > 0:
		return cli.InputError(fmt.Errorf("%s could not be tried; %s tried", cli.Count(r.faults, "entry", "entries"), cli.Count(r.tried, "case was", "cases were")))
	case r.options.explain != "" && !r.found:
		return cli.InputError(fmt.Errorf("--explain: no case has the id %q%s", r.options.explain, near(inputs.PassedOver)))
	case r.tried > 0 && r.unanswered == r.tried && r.options.explain == "":
		return fmt.Errorf("no answer of Light to any of %s", cli.Count(r.tried, "case", "cases"))
	case r.matched:
		return &cli.ExitError{Code: cli.ExitMatched}
	}
	return nil
}

// endJournal removes the journal, but where the run can be resumed: one that did not come to its end, or was begun with
// --resume and may continue with a longer docket.
func (r *tryRun) endJournal(open bool) error {
	switch {
	case r.journal == nil:
		return nil
	case open:
		return r.journaled(r.journal.Keep())
	case r.options.resume:
		fmt.Fprintf(r.stderr, "note: %s stays, so that --resume can continue with a longer docket; delete it if there will be none\n", sanitize.Line(r.journal.Name()))
		return r.journaled(r.journal.Keep())
	}
	return r.journaled(r.journal.Remove())
}
