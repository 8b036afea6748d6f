// Package try is the command that tries dockets.
package try

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/cli"
	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/open"
	"github.com/shadowcourt/shadowcourt/host/experiment"
	"github.com/shadowcourt/shadowcourt/host/module"
	"github.com/shadowcourt/shadowcourt/internal/run"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
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
	noGroups        bool
	settle          bool // one case, with experiments
	dockets         []string
	cases           string
	truthFromReport bool
	audit           tryAudit
	record          recordOptions
	watch           bool
	remote          remoteOptions
	program         string // with its version, as a service's log names it
}

const profileUsage = "profile file, the name of a shipped one, or none (default: go-test for gotest input; for JUnit reports and with --experiments " +
	"its tables of experiments alone; else none)"

// New is the command `try` of the program's version.
func New(s cli.Streams, version string) *cobra.Command {
	o := &tryOptions{program: "shadowcourt/" + version}
	cmd := &cobra.Command{
		Use:   "try [DOCKET...|-]",
		Short: "Try every case of the dockets",
		Long: `Try every case of the dockets, or of the standard input. Results go to the standard
output in docket order, as a table for people or as JSON for programs; progress and
faults go to the standard error. A line that is wrong is named with file and line, and
so is a file of a format that try does not read; the other lines and files are tried.
The table is as wide as the terminal; elsewhere the variable COLUMNS gives its width.
A docket may be a pattern, as in 'reports/**/*.xml', and gzip.
Options of a flag follow its value behind commas, as in --experiments all,budget=2m.
With --experiments, --explain runs what tells most about its case, however sure Light is.
With --server https://court.example a docket service tries them, and the output is the
same; with --experiments, too, they are tried here, and the service gets the results.
` + "`shadowcourt login`" + ` keeps a token for it.

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
	o.from, o.format = run.Auto, "table"
	cli.OptionVar(f, &o.from, "from", "input format: "+cli.OrList(run.Formats()),
		cli.BoolOption(&o.noGroups, "no-groups", "of reports of tests: try each failure by itself, not once for all that failed in the same way"),
		cli.BoolOption(&o.truthFromReport, "truth", "of reportportal: use the defect types that people set as the ground truth, and compare with it"))
	o.LightFlags(cmd, "default: "+open.LightRCA+" for reports of tests, else "+open.LightDocket)
	f.BoolVar(&o.Remember, "remember", false, "with --casebook: add the verdicts to it, after the docket")
	o.PipelineFlag(cmd)
	f.StringVar(&o.Profile, "profile", "", profileUsage)
	f.StringVar(&o.Modules, "modules", "", "folder with all NAME.wasm files that the pipeline names (default: the embedded modules)")
	open.CacheFlag(f, &o.Cache, "")
	f.StringVar(&o.format, "format", "table", "table, json or jsonl")
	f.StringVar(&o.output, "output", "", "file for the results (default: standard output)")
	f.BoolVar(&o.resume, "resume", false, "with --output FILE, --report FILE or --record FILE: go on where a run that did not end stopped")
	f.StringArrayVar(&o.reports, "report", nil, "also write a report, FILE.html or FILE.md, or the cases as a docket, FILE.jsonl, ready for adding the truth; may be repeated")
	f.StringVar(&o.cases, "cases", "", "")
	f.StringVar(&o.explain, "explain", "", "try only the case of this id, or whose id ends with this name, and tell its trial as a story")
	f.StringArrayVar(&o.redact, "redact", nil, "regular expression whose matches are blacked out in every output; may be repeated")
	f.StringSliceVar(&o.failOn, "fail-on", nil, "exit with 3 on a status (acquitted, mistrial, ...), a label (pb001; label:ID where the pipeline does not name it), or with --audit audit:security or audit:degraded")
	f.IntVar(&o.workers, "workers", 0, "trials at once (default: one for each processor; with --models as many as may ask at the same time)")
	f.BoolVar(&o.timings, "timings", false, "add times to the results, which then differ from run to run")
	o.ExperimentFlags(cmd, "off")
	o.ModelFlags(cmd)
	f.BoolVar(&o.watch, "watch", false, "with --modules: continue with newer modules when the folder has them; each result names its own")
	o.auditFlag(cmd)
	o.record.flags(cmd)
	o.remoteFlag(cmd)
	cmd.InitDefaultHelpFlag()
	for _, name := range []string{"cache", "cases", "help"} {
		f.Lookup(name).Hidden = true
	}
	return cmd
}

// settling are the flags of try that say how a case is tried, for the command line that settles one.
func settling() *pflag.FlagSet {
	o, cmd := &tryOptions{}, &cobra.Command{}
	o.LightFlags(cmd, "")
	o.PipelineFlag(cmd)
	cmd.Flags().StringVar(&o.Profile, "profile", "", "")
	open.CacheFlag(cmd.Flags(), &o.Cache, "")
	o.ExperimentFlags(cmd, "off")
	o.ModelFlags(cmd)
	return cmd.Flags()
}

// run carries out `try`.
func (o *tryOptions) run(ctx context.Context, s cli.Streams, args []string) error {
	args, err := run.Expand(ctx, args)
	if err != nil {
		return cli.InputError(err)
	}
	o.dockets = args
	match, redactor, err := o.check(args)
	if err != nil {
		return cli.InputError(err)
	}
	if o.settle = o.explain != "" && o.Experiments(); o.settle {
		o.TryAll = true
	}
	if o.remote.server != "" && !o.pushes() {
		return o.runRemote(ctx, s, args, match)
	}
	if o.pushes() {
		if o.remote.results, err = open.NewResults(ctx, s.Err, o.remote.server, o.program); err != nil {
			return err
		}
	}
	if o.record.file != "" {
		open.WarnOfKey(s.Err, o.record.key)
	}
	if len(args) == 0 && cli.TerminalFile(s.In) != nil {
		fmt.Fprintln(s.Err, "reading a docket from the keyboard, a case a line; end it with Ctrl-D, or see `shadowcourt try --help`")
	}
	reading, stopReading := context.WithCancel(ctx)
	defer stopReading()
	inputs, err := run.OpenDockets(reading, s.In, args, o.from)
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
	p := cli.NewProgress(s.Err)
	inputs.Read = func(name string, bytes int64) { p.Read(sanitize.Line(name), bytes) }
	o.Progress = func(now experiment.Progress) {
		if text := open.SayExperiments(now); text != "" {
			p.Say(text)
		}
	}
	help, err := o.Connect(ctx, config, inputs)
	if err != nil {
		return err
	}
	defer help.Close()
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
	r := &tryRun{options: o, stderr: s.Err, progress: p, match: match, redactor: redactor, coverage: module.NewProfileCoverage(config.Profile)}
	if err := r.try(ctx, s, h, inputs, stopReading, help.Book); err != nil {
		return err
	}
	err = r.end(ctx, inputs)
	if o.remote.results != nil && ctx.Err() == nil {
		err = errors.Join(o.remote.send(ctx, s.Err, args), err)
	}
	r.advise(s.Out)
	r.proposals.say(o, s.Err, redactor)
	return err
}
