package measure

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/cli"
	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/open"
	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/internal/disk"
	"github.com/shadowcourt/shadowcourt/internal/measure"
	"github.com/shadowcourt/shadowcourt/internal/publish"
	"github.com/shadowcourt/shadowcourt/internal/render"
	"github.com/shadowcourt/shadowcourt/internal/run"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
)

// fitOptions are the flags of `fit`.
type fitOptions struct {
	common
	name      string
	seed      uint64
	noText    bool
	trustText bool
	outcomes  string
}

// NewFit is the command `fit`.
func NewFit(s cli.Streams) *cobra.Command {
	o := &fitOptions{common: common{Flags: open.Flags{Light: open.LightDocket, Pipeline: open.ShippedPipeline, Profile: "none"}}}
	cmd := &cobra.Command{
		Use:   "fit DOCKET... --output PROFILE.yaml",
		Short: "Learn a profile from cases whose truth is known",
		Long: `Learn a profile for a domain from cases whose truth is known: how common each label is,
how reliable each source is (Light too), and which phrases speak for which label.
The profile is readable YAML, for the --profile of try and calibrate.

The figures on the standard output are cross-validated: each part of the cases is measured
with a profile fitted on the other parts; cases of one group are always in one part. Measure
a profile with calibrate on other cases than those that it was fitted on.

Where nothing predicts better than the court without a profile, nothing is learned: the figures
say so, and the profile changes nothing.

With --light rca the Light path gathers evidence on every case. It goes by the profile, so its
answer counts nothing beside that evidence.

With --outcomes, what language models stated in results of the same cases counts as a source, "model:NAME": its
reliability is measured like any other's.

Phrases in documents tell something, and whoever writes documents can write them. So all phrases of a case
together count no more than turns 5 of 100 answers, estimated on cases not fitted on, unless texts decide the cases; the figures
say how many. With --trust-text they count as much as helps, with --no-text nothing.

Exit codes: 0 done; 1 something failed while running; 2 the command line or an input is
wrong (where lines of a docket are wrong, the others were still fitted on).`,
		Example: `  shadowcourt fit examples/dockets/sentiment-fit.jsonl --output tone.yaml
  shadowcourt fit examples/dockets/go-fit-1.jsonl --light rca --output go.yaml
  shadowcourt fit examples/dockets/sentiment-fit.jsonl --output tone.yaml --format json`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd.Context(), s, args)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.output, "output", "", "file for the profile, or - for the standard output (the figures then go to the standard error)")
	f.StringVar(&o.name, "name", "", "name of the profile (default: the name of the file)")
	o.add(cmd, "figures")
	f.Uint64Var(&o.seed, "seed", 1, "seed of how the cases are split into parts")
	f.StringVar(&o.outcomes, "outcomes", "", "results of these cases by try --format jsonl: learn how reliable language models are")
	f.BoolVar(&o.noText, "no-text", false, "learn from what sources say alone: where others than your own tools write documents, no text moves a verdict then")
	f.BoolVar(&o.trustText, "trust-text", false, "let phrases in documents count as much as helps: where only your own tools write documents")
	cli.RemovedFlags(f, "use `shadowcourt calibrate --bands` on cases that the profile was not fitted on", "bands", "max-error", "confidence")
	o.LightFlags(cmd, "default: "+open.LightDocket)
	f.StringVar(&o.Modules, "modules", "", "with --light "+open.LightRCA+": folder with the NAME.wasm files (default: the embedded modules)")
	open.CacheFlag(f, &o.Cache, "with --light "+open.LightRCA+": folder for compiled modules, or none")
	return cmd
}

// run carries out `fit`.
func (o *fitOptions) run(ctx context.Context, s cli.Streams, args []string) error {
	if err := o.check(args); err != nil {
		return cli.InputError(err)
	}
	inputs, err := run.OpenDockets(ctx, s.In, args, run.Auto)
	if err != nil {
		return cli.InputError(err)
	}
	defer inputs.Close()
	inputs.Truth = true // what people decided in an export is what there is to learn from
	config, err := o.Config(inputs)
	if err != nil {
		return err
	}
	help, err := o.Connect(ctx, config, inputs)
	if err != nil {
		return err
	}
	defer help.Close()
	var file disk.Set
	out, figures := s.Out, s.Err
	if o.output != stdStream {
		figures = s.Out
		if out, err = file.Create(o.output); err != nil {
			return cli.InputError(fmt.Errorf("--output: %w", err))
		}
	}
	r := newReading(s)
	report, err := o.learn(ctx, s, &r, inputs, config, out)
	if err != nil {
		file.Discard()
		return err
	}
	return errors.Join(file.Commit(), o.print(figures, report, fitText(o.output, report, cli.Terminal(figures))), r.end("fitted on"))
}

// learn reads, fits, and writes the profile.
func (o *fitOptions) learn(ctx context.Context, s cli.Streams, r *reading, inputs *run.Dockets, config *host.Config, out io.Writer) (*measure.FitReport, error) {
	defer r.progress.Clear()
	var entries []docket.Entry
	for entry, err := range inputs.Entries("") {
		if err != nil {
			if err := r.fault(docket.Entry{}, err); err != nil {
				return nil, err
			}
			continue
		}
		entries = append(entries, entry)
		r.progress.Say(fmt.Sprintf("read %d", len(entries)))
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	r.done = len(entries)
	light := &open.LightRunner{Flags: &o.Flags, Workers: o.workers, Streams: s, Config: config, Progress: r.progress, Doing: "asking Light"}
	defer light.Close(ctx)
	result, err := o.fit(ctx, light, entries)
	if err != nil {
		return nil, err
	}
	return &result.Report, result.WriteYAML(out)
}

// check reports all faults of the flags at once.
func (o *fitOptions) check(dockets []string) error {
	var faults []error
	if o.output == "" {
		faults = append(faults, errors.New("--output is missing: name the file for the profile"))
	}
	if o.trustText && o.noText {
		faults = append(faults, errors.New("--trust-text with --no-text: no text is read there"))
	}
	output := cli.File("--output", o.output)
	if o.output == stdStream {
		output.Path = ""
	}
	return o.common.check("fit", dockets, append(faults,
		cli.CheckOverwrites(append(o.InputFiles(dockets), cli.File("--outcomes", o.outcomes)), []cli.NamedFile{output}))...)
}

// fit fits on the entries, with the Light that is to answer for them.
func (o *fitOptions) fit(ctx context.Context, light *open.LightRunner, entries []docket.Entry) (*measure.Fitted, error) {
	config := measure.FitConfig{Name: o.name, Seed: o.seed, NoText: o.noText, TrustText: o.trustText, Workers: o.workers, LightPath: light.Config.LightPath != nil, Progress: light.Progress.Say}
	if config.Name == "" {
		config.Name = strings.TrimSuffix(filepath.Base(o.output), filepath.Ext(o.output))
	}
	if config.Name == stdStream {
		config.Name = "fitted"
	}
	if config.Workers == 0 {
		config.Workers = runtime.GOMAXPROCS(0)
	}
	entries, err := o.addStatements(entries)
	if err != nil {
		return nil, cli.InputError(err)
	}
	if open.HasLight(light.Config) {
		if entries, err = light.Run(ctx, nil, entries); err != nil {
			return nil, err
		}
	}
	result, err := measure.Fit(ctx, entries, config)
	for _, reason := range []error{measure.ErrNoTruth, measure.ErrTooFew, measure.ErrOneLabel, measure.ErrTooManyLabels} {
		if errors.Is(err, reason) {
			return nil, cli.InputError(err)
		}
	}
	return result, err
}

// addStatements adds what language models stated to the evidence.
func (o *fitOptions) addStatements(entries []docket.Entry) ([]docket.Entry, error) {
	if o.outcomes == "" {
		return entries, nil
	}
	file, err := os.Open(o.outcomes)
	if err != nil {
		return nil, fmt.Errorf("--outcomes: %w", err)
	}
	defer func() { _ = file.Close() }()
	results, err := publish.ReadResults(file)
	if err == nil {
		entries, err = measure.AddStatements(entries, results)
	}
	if err != nil {
		return nil, fmt.Errorf("--outcomes %s: %w", o.outcomes, err)
	}
	return entries, nil
}

// stdStream is the name of the standard output, where a file is asked for.
const stdStream = "-"

// fitText tells a report to people.
func fitText(output string, r *measure.FitReport, terminal render.TerminalOptions) string {
	if output == stdStream {
		output = "standard output"
	}
	what := "learned from %s"
	if !r.Learned {
		what = "nothing learned, %s; the profile changes nothing but how much unknown sources count"
	}
	var b strings.Builder
	say := func(format string, args ...any) { fmt.Fprintf(&b, format, args...) }
	say("%s: "+what, sanitize.Line(output), cli.Count(r.Cases, "case", "cases"))
	if r.WithoutTruth > 0 {
		say("; %s without a truth left out", cli.Count(r.WithoutTruth, "case", "cases"))
	}
	say("\nmodel: %s\n", r.Model)
	say("\n%s", figuresTable(r).Text(terminal))
	if t := r.TextTurns; t != nil && r.Signals > 0 {
		say("\na made-up text could turn about %.1f of 100 answers from right to wrong; with --no-text none\n", 100**t)
	}
	return b.String()
}

func figuresTable(r *measure.FitReport) *render.Grid {
	how := fmt.Sprintf("ON CASES NOT FITTED ON (%d parts)", r.Parts)
	switch {
	case r.Groups == 1:
		how = fmt.Sprintf("ON OTHER CASES OF THE ONE GROUP (%d parts); on no other group", r.Parts)
	case r.Groups > 1:
		how = fmt.Sprintf("ON GROUPS NOT FITTED ON (%d groups, %d parts)", r.Groups, r.Parts)
	}
	g := render.NewGrid(render.Column{Name: how}, render.Column{Name: "ACCURACY", Numbers: true}, render.Column{Name: "LOG LOSS", Numbers: true})
	for _, f := range r.Figures {
		g.Add(f.Name, three(f.Accuracy), three(f.LogLoss))
	}
	return g
}

func three(x float64) string { return strconv.FormatFloat(x, 'f', 3, 64) }
