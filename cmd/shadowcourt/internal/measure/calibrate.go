package measure

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/cli"
	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/open"
	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/profile"
	"github.com/shadowcourt/shadowcourt/internal/calibrate"
	"github.com/shadowcourt/shadowcourt/internal/disk"
	"github.com/shadowcourt/shadowcourt/internal/render"
	"github.com/shadowcourt/shadowcourt/internal/run"
)

// calibrateOptions are the flags of `calibrate`.
type calibrateOptions struct {
	common
	timings  bool
	report   string
	fittedOn []string
	bands    bandFlags
	seed     uint64
	peers    bool
}

// NewCalibrate is the command `calibrate`.
func NewCalibrate(s cli.Streams) *cobra.Command {
	o := &calibrateOptions{common: common{Flags: open.Flags{Light: open.LightDocket}}}
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
	o.bands.add(f)
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
	c := &calibration{reading: newReading(s), options: o}
	if err := c.readFitting(ctx, s.In); err != nil {
		return err
	}
	inputs, err := run.OpenDockets(ctx, s.In, args, run.JSONL)
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
	if err := c.tryWithoutRules(ctx, s, config, h.Pipeline().Labels); err != nil {
		out.Discard()
		return err
	}
	c.progress.Say("measuring")
	limits := h.Pipeline().Court
	measured := calibrate.Measure(c.tested, c.fitting, calibrate.Options{
		Seed: o.seed, Activation: limits.ActivationThreshold, Rejection: limits.RejectionThreshold, Bands: o.bands.options(),
		Timings: o.timings || o.format == "table", Peers: c.peers.Peers(), Rules: c.rules,
	})
	c.progress.Clear()
	if err := o.write(out, measured, args); err != nil {
		return err
	}
	return c.conclude()
}

// check reports all faults of the flags at once.
func (o *calibrateOptions) check(dockets []string) error {
	var faults []error
	if ext := strings.ToLower(filepath.Ext(o.report)); o.report != "" && ext != ".html" && ext != ".md" {
		faults = append(faults, fmt.Errorf("--report %q: use a name that ends in .html or .md", o.report))
	}
	if o.peers {
		faults = append(faults, o.NeedsModels("--peers"))
	}
	return o.common.check("calibrate", dockets, append(faults, o.bands.check(), cli.CheckOverwrites(o.InputFiles(slices.Concat(dockets, o.fittedOn)),
		[]cli.NamedFile{cli.File("--output", o.output), cli.File("--report", o.report)}))...)
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
		return calibrate.WriteTable(w, r, cli.Terminal(w))
	}
	return writeJSON(w, r)
}

// writeReport writes the page. Its times are those of this run, and shown only when asked for.
func (o *calibrateOptions) writeReport(w io.Writer, r *calibrate.Report, dockets []string) error {
	shown := *r
	if !o.timings {
		shown.Cost.Times = nil
	}
	options := render.PageOptions{Subtitle: strings.Join(dockets, ", ")}
	if strings.EqualFold(filepath.Ext(o.report), ".md") {
		return calibrate.WriteMarkdown(w, &shown, options)
	}
	return calibrate.WriteHTML(w, &shown, options)
}

// asker asks the models that the pipeline names without a court, while others are tried; nil without --peers.
func (o *calibrateOptions) asker(ctx context.Context, h *host.Host) *calibrate.Asker {
	if !o.peers {
		return nil
	}
	def, set, workers := h.Pipeline(), o.ModelSet(), o.Workers(o.workers)
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	meaning := func(label string) string {
		for i := range def.Labels {
			if l := &def.Labels[i]; l.ID == label {
				return l.Name
			}
		}
		return ""
	}
	return calibrate.NewAsker(ctx, set, set.Distinct(open.ModelNames(def)), meaning, workers)
}
