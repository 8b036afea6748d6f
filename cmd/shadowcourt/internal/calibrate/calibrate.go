// Package calibrate is the command that measures the court against the truth.
package calibrate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/cli"
	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/open"
	"github.com/shadowcourt/shadowcourt/host/profile"
	"github.com/shadowcourt/shadowcourt/internal/calibrate"
	"github.com/shadowcourt/shadowcourt/internal/calibrate/report"
	"github.com/shadowcourt/shadowcourt/internal/disk"
	"github.com/shadowcourt/shadowcourt/internal/input"
)

// calibrateOptions are the flags of `calibrate`.
type calibrateOptions struct {
	open.Flags
	format   string
	output   string
	workers  int
	timings  bool
	report   string
	fittedOn []string
	bands    cli.BandFlags
	seed     uint64
	peers    bool
}

// New is the command `calibrate`.
func New(s cli.Streams) *cobra.Command {
	o := &calibrateOptions{Flags: open.Flags{Light: open.LightDocket}}
	cmd := &cobra.Command{
		Use:   "calibrate DOCKET...",
		Short: "Measure the court against the truth, and against simpler methods",
		Long: `Try every case whose truth is known, and measure: how often the court is right, beside
Light alone and methods without a court (votes over Light and the witnesses; with
--fitted-on also the most reliable witness, a naive Bayes and a logistic regression over
sources and text; with --peers language models that are asked without a court), with
intervals; the calibration of its confidences; the effect of flips, challenges and remands; the cost of a trial. Modules never see the truth, and nothing is learnt.

The cases of --fitted-on must be others than those of the dockets: the baselines learn
from them, and the best one is picked there. docs/measuring.md explains every figure.

Exit codes: 0 done; 1 something failed while running; 2 the command line or an input is
wrong (the rest was still measured).`,
		Example: `  shadowcourt calibrate examples/dockets/go-failures.jsonl --profile go-test
  shadowcourt calibrate examples/dockets/go-failures.jsonl --profile go-test --report calibration.html --bands
  shadowcourt calibrate examples/dockets/go-failures.jsonl --fitted-on examples/dockets/tour.jsonl --format json`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd.Context(), s, args)
		},
	}
	f := cmd.Flags()
	f.StringArrayVar(&o.fittedOn, "fitted-on", nil, "docket with truth for the baselines to learn from; may be repeated")
	o.LightFlags(cmd, "default: "+open.LightDocket)
	f.StringVar(&o.Pipeline, "pipeline", open.ShippedPipeline, "pipeline file, or the name of the shipped one")
	f.StringVar(&o.Profile, "profile", "", "profile file, the name of a shipped one, or none (default: none)")
	f.StringVar(&o.Modules, "modules", "", "folder with all NAME.wasm files that the pipeline names (default: the embedded modules)")
	open.CacheFlag(f, &o.Cache, "folder for compiled modules, or none")
	f.StringVar(&o.format, "format", "table", "table or json")
	f.StringVar(&o.output, "output", "", "file for the figures (default: standard output)")
	f.StringVar(&o.report, "report", "", "also write a report, FILE.html (with pictures) or FILE.md")
	o.bands.Add(f)
	f.Uint64Var(&o.seed, "seed", 1, "seed of what is drawn: resamples, simulations, folds")
	f.IntVar(&o.workers, "workers", 0, "trials at once (default: one for each processor)")
	o.CassetteFlags(cmd)
	f.BoolVar(&o.peers, "peers", false, "with --models: ask each model without a court, too: once, and for as many answers as the court's tokens buy, which vote")
	f.BoolVar(&o.timings, "timings", false, "add times to JSON and reports, which then differ from run to run; the table has them always")
	return cmd
}

// run carries out `calibrate`.
func (o *calibrateOptions) run(ctx context.Context, s cli.Streams, args []string) error {
	if err := o.check(args); err != nil {
		return cli.InputError(err)
	}
	c := &calibration{options: o, stderr: s.Err, progress: cli.NewProgress(s.Err)}
	if err := c.readFitting(ctx, s.In); err != nil {
		return err
	}
	inputs, err := input.Open(ctx, s.In, args, input.JSONL)
	if err != nil {
		return cli.InputError(err)
	}
	defer inputs.Close()
	config, err := o.Config(inputs)
	if err != nil {
		return err
	}
	c.coverage = profile.NewCoverage(config.Profile)
	help, err := o.Connect(ctx, config, inputs)
	if err != nil {
		return err
	}
	defer help.Close()
	if err := c.learn(ctx, s, config); err != nil {
		return err
	}
	c.progress.Say("loading modules")
	h, err := o.Host(ctx, s, config)
	c.progress.Clear()
	if err != nil {
		return o.Error(err)
	}
	defer func() { _ = h.Close(context.WithoutCancel(ctx)) }()
	out, err := o.create(s.Out)
	if err != nil {
		return cli.InputError(err)
	}
	if err := c.try(ctx, h, inputs); err != nil {
		out.Discard()
		return err
	}
	c.progress.Say("measuring")
	limits := h.Pipeline().Court
	options := o.options(limits.ActivationThreshold, limits.RejectionThreshold)
	options.Peers = c.peers.sum()
	measured := calibrate.Measure(c.tested, c.fitting, options)
	c.progress.Clear()
	if err := o.write(out, measured, args); err != nil {
		return err
	}
	return c.end()
}

// check reports all faults of the flags at once.
func (o *calibrateOptions) check(dockets []string) error {
	var faults []error
	if len(dockets) == 0 {
		faults = append(faults, errors.New("calibrate takes one docket or more; see `shadowcourt calibrate --help`"))
	}
	if o.format != "table" && o.format != "json" {
		faults = append(faults, fmt.Errorf("--format %q: use table or json", o.format))
	}
	if ext := strings.ToLower(filepath.Ext(o.report)); o.report != "" && ext != ".html" && ext != ".md" {
		faults = append(faults, fmt.Errorf("--report %q: use a name that ends in .html or .md", o.report))
	}
	if o.workers < 0 {
		faults = append(faults, fmt.Errorf("--workers %d: use 0 or more", o.workers))
	}
	if o.peers {
		faults = append(faults, o.NeedsModels("--peers"))
	}
	faults = append(faults, o.bands.Check(), o.CheckLight())
	return errors.Join(append(faults, o.checkFiles(slices.Concat(dockets, o.fittedOn)))...)
}

// checkFiles rejects outputs that would replace an input, and two outputs to one file.
func (o *calibrateOptions) checkFiles(dockets []string) error {
	return cli.CheckOverwrites(o.InputFiles(dockets), []cli.NamedFile{cli.File("--output", o.output), cli.File("--report", o.report)})
}

func (o *calibrateOptions) options(activation, rejection float64) calibrate.Options {
	return calibrate.Options{
		Seed: o.seed, Activation: activation, Rejection: rejection, Bands: o.bands.Options(), Timings: o.timings || o.format == "table",
	}
}

// calibrateOutputs are where the figures and the report go.
type calibrateOutputs struct {
	disk.Set
	figures io.Writer
	page    *disk.File // nil without --report
}

// create begins the files, before there is anything to write, so that no work is lost.
func (o *calibrateOptions) create(stdout io.Writer) (*calibrateOutputs, error) {
	all := &calibrateOutputs{figures: stdout}
	if o.output != "" {
		file, err := all.Create(o.output)
		if err != nil {
			return nil, fmt.Errorf("--output: %w", err)
		}
		all.figures = file
	}
	if o.report != "" {
		if o.output == "" {
			all.figures = &cli.UntilGone{W: stdout}
		}
		var err error
		if all.page, err = all.Create(o.report); err != nil {
			all.Discard()
			return nil, fmt.Errorf("--report: %w", err)
		}
	}
	return all, nil
}

// write puts out the figures, and the report into its file.
func (o *calibrateOptions) write(out *calibrateOutputs, r *calibrate.Report, dockets []string) error {
	err := o.writeFigures(out.figures, r)
	if err == nil && out.page != nil {
		err = o.writeReport(out.page, r, dockets)
	}
	if err != nil {
		out.Discard()
		return err
	}
	return out.Commit()
}

func (o *calibrateOptions) writeFigures(w io.Writer, r *calibrate.Report) error {
	if o.format == "table" {
		return report.Table(w, r, cli.Terminal(w).Width)
	}
	return writeJSON(w, r)
}

// writeReport writes the page. Its times are those of this run, and shown only when asked for.
func (o *calibrateOptions) writeReport(w io.Writer, r *calibrate.Report, dockets []string) error {
	shown := *r
	if !o.timings {
		shown.Cost.Times = nil
	}
	options := report.Options{Subtitle: strings.Join(dockets, ", ")}
	if strings.EqualFold(filepath.Ext(o.report), ".md") {
		return report.Markdown(w, &shown, options)
	}
	return report.HTML(w, &shown, options)
}

// writeJSON writes a value over lines. Nothing in it was written by somebody else.
func writeJSON(w io.Writer, v *calibrate.Report) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false)
	return encoder.Encode(v)
}
