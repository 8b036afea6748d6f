package measure

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"strconv"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/cli"
	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/open"
	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/module"
	"github.com/shadowcourt/shadowcourt/internal/calibrate"
	"github.com/shadowcourt/shadowcourt/internal/disk"
	"github.com/shadowcourt/shadowcourt/internal/render"
	"github.com/shadowcourt/shadowcourt/internal/run"
)

// calibrateOptions are the flags of `calibrate`.
type calibrateOptions struct {
	common
	bands bandFlags
}

// NewCalibrate is the command `calibrate`.
func NewCalibrate(s cli.Streams) *cobra.Command {
	o := &calibrateOptions{common: common{Flags: open.Flags{Light: open.LightDocket}}}
	cmd := &cobra.Command{
		Use:   "calibrate DOCKET...",
		Short: "Measure the court against the truth",
		Long: `Try every case whose truth is known, and measure how often the court and Light alone are right,
what flips, challenges and remands do, and whether verdicts are as expected. Modules never see
the truth, and nothing is learned. With --bands it certifies the confidence from which on
answers can be accepted unseen.

docs/measuring.md explains every figure.

Exit codes: 0 done; 1 something failed while running; 2 the command line or an input is
wrong (the rest was still measured).`,
		Example: `  shadowcourt calibrate examples/dockets/go-failures.jsonl --profile go-test
  shadowcourt calibrate examples/dockets/go-failures.jsonl --profile go-test --bands --format json`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd.Context(), s, args)
		},
	}
	f := cmd.Flags()
	o.LightFlags(cmd, "default: "+open.LightDocket)
	f.StringVar(&o.Pipeline, "pipeline", open.ShippedPipeline, "pipeline file, or the name of the shipped one")
	f.StringVar(&o.Profile, "profile", "", "profile file, the name of a shipped one, or none (default: none)")
	f.StringVar(&o.Modules, "modules", "", "folder with all NAME.wasm files that the pipeline names (default: the embedded modules)")
	open.CacheFlag(f, &o.Cache, "folder for compiled modules, or none")
	f.StringVar(&o.format, "format", "table", "table or json")
	f.StringVar(&o.output, "output", "", "file for the figures (default: standard output)")
	o.bands.add(f)
	f.IntVar(&o.workers, "workers", 0, "trials at once (default: one for each processor)")
	o.CassetteFlags(cmd)
	cli.RemovedFlags(f, "calibrate compares the court with Light alone; compare two courts with `shadowcourt compare`", "fitted-on", "peers")
	cli.RemovedFlags(f, "use --format json", "report")
	cli.RemovedFlags(f, "nothing is drawn at random", "seed")
	cli.RemovedFlags(f, "use `shadowcourt try --timings`", "timings")
	for _, name := range []string{"peers", "timings"} {
		f.Lookup(name).NoOptDefVal = "true"
	}
	return cmd
}

// run carries out `calibrate`.
func (o *calibrateOptions) run(ctx context.Context, s cli.Streams, args []string) error {
	if err := o.check(args); err != nil {
		return cli.InputError(err)
	}
	c := &calibration{reading: newReading(s), options: o}
	inputs, err := run.OpenDockets(ctx, s.In, args, run.JSONL)
	if err != nil {
		return cli.InputError(err)
	}
	defer inputs.Close()
	config, err := o.Config(inputs)
	if err != nil {
		return err
	}
	c.coverage = module.NewProfileCoverage(config.Profile)
	help, err := o.Connect(ctx, config, inputs)
	if err != nil {
		return err
	}
	defer help.Close()
	c.progress.Say("loading modules")
	h, err := o.Host(ctx, s, config)
	c.progress.Clear()
	if err != nil {
		return o.Error(err)
	}
	defer func() { _ = h.Close(context.WithoutCancel(ctx)) }()
	var files disk.Set
	out := s.Out
	if o.output != "" {
		if out, err = files.Create(o.output); err != nil {
			return cli.InputError(fmt.Errorf("--output: %w", err))
		}
	}
	err = c.try(ctx, h, inputs)
	if err == nil {
		err = o.write(out, calibrate.Measure(c.tested, o.bands.options()))
	}
	if err != nil {
		files.Discard()
		return err
	}
	if err := files.Commit(); err != nil {
		return err
	}
	return c.conclude()
}

// check reports all faults of the flags at once.
func (o *calibrateOptions) check(dockets []string) error {
	return o.common.check("calibrate", dockets, o.bands.check(),
		cli.CheckOverwrites(o.InputFiles(dockets), []cli.NamedFile{cli.File("--output", o.output)}))
}

func (o *calibrateOptions) write(w io.Writer, r *calibrate.Report) error {
	if o.format == "json" {
		return writeJSON(w, r)
	}
	_, err := io.WriteString(w, calibrateText(r, cli.Terminal(w)))
	return err
}

// calibrateText tells the figures to people.
func calibrateText(r *calibrate.Report, terminal render.TerminalOptions) string {
	g := render.NewGrid(render.Column{Name: "CASES"}, render.Column{Name: "COURT"}, render.Column{Name: "95 %"}, render.Column{Name: "LIGHT ALONE"},
		render.Column{Name: "95 %"}, render.Column{Name: "ONLY ONE RIGHT"}, render.Column{Name: "P"}, render.Column{Name: "FINDING"})
	for _, row := range []struct {
		name string
		a    *calibrate.Accuracy
	}{{"in the band", &r.Band}, {"overall", &r.Overall}} {
		a := row.a
		court, of := shareText(a.Court)
		light, ofLight := shareText(a.Light)
		g.Add(row.name, court, of, light, ofLight, fmt.Sprintf("court %d, Light %d", a.CourtOnly, a.LightOnly), strconv.FormatFloat(a.P, 'g', 3, 64), findingText(a.Finding))
	}
	text := g.Text(terminal) + "\n"
	line := func(name, format string, args ...any) { text += terminal.Named(name, fmt.Sprintf(format, args...)) }
	flips, defense, remands := &r.Metrics.Flips, &r.Metrics.Defense, &r.Metrics.Remands
	line("Cases", "%d with truth, %d with a known label, %d tried", r.Cases.Cases, r.Cases.Known, r.Cases.Tried)
	line("Coverage", "the court named a label in %s; elsewhere Light's answer counts", ofText(r.Band.Coverage))
	line("Flips", "%s: %d to right, %d from right to wrong, %d from wrong to wrong", ofText(flips.Rate), flips.ToRight, flips.ToWrong, flips.Between)
	line("Defense", "of the answers challenged %s were wrong; of the wrong ones %s were challenged", ofText(defense.Precision), ofText(defense.Recall))
	line("Remands", "%d cases: %s wrong before and right after, %s the reverse", remands.Cases, ofText(remands.ToRight), ofText(remands.ToWrong))
	line("Verdicts", "as expected in %s", ofText(r.Metrics.Verdicts))
	if b := r.Bands; b != nil {
		line("Accept", "Light's answer %s; the court's answer %s", &b.Light, &b.Court)
	}
	return text
}

// shareText shows a share and its interval.
func shareText(s calibrate.Share) (share, interval string) {
	if s.Of == 0 {
		return "–", "–"
	}
	return three(*s.Share), three(s.Interval.Low) + " to " + three(s.Interval.High)
}

// ofText shows a share as "69 of 276 (25.0 %)".
func ofText(s calibrate.Share) string {
	if s.Of == 0 {
		return "0 of 0"
	}
	return fmt.Sprintf("%d of %d (%.1f %%)", s.Count, s.Of, 100**s.Share)
}

// calibration is one run: what was tried so far.
type calibration struct {
	reading
	options  *calibrateOptions
	tested   []calibrate.Observation
	coverage *module.ProfileCoverage
	untold   int // cases without truth
}

// try tries the cases of the dockets whose truth is known.
func (c *calibration) try(ctx context.Context, h *host.Host, inputs *run.Dockets) error {
	for t := range h.TryAll(ctx, c.withTruth(inputs.Entries("")), c.options.Workers(c.options.workers)) {
		if t.Trial == nil && ctx.Err() != nil {
			break
		}
		if t.Err != nil {
			if err := c.fault(t.Entry, t.Err); err != nil {
				return err
			}
			continue
		}
		c.tested = append(c.tested, calibrate.Observe(t.Trial))
		c.coverage.Add(&t.Trial.Case)
		c.light.Add(t.Trial)
		c.done++
		c.progress.Tried(c.done, c.faults)
	}
	c.progress.Clear()
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("interrupted after %s; nothing is measured", cli.Count(c.done, "case", "cases"))
	case len(c.tested) == 0:
		return cli.InputError(errors.New("no case of the dockets states its truth (\"truth\":{\"classification\":...}): there is nothing to measure against"))
	}
	return nil
}

// withTruth passes on the cases with truth.
func (c *calibration) withTruth(entries iter.Seq2[docket.Entry, error]) iter.Seq2[docket.Entry, error] {
	return func(yield func(docket.Entry, error) bool) {
		for entry, err := range entries {
			if err == nil && entry.Truth == nil {
				c.untold++
			} else if !yield(entry, err) {
				return
			}
		}
	}
}

// conclude says what the figures leave out, and gives the exit code.
func (c *calibration) conclude() error {
	if c.untold > 0 {
		fmt.Fprintf(c.stderr, "note: %s no truth and was not tried\n", cli.Count(c.untold, "case states", "cases state"))
	}
	open.WarnOfProfile(c.stderr, c.coverage)
	return c.end("measured")
}

// bandFlags ask for certified thresholds.
type bandFlags struct {
	bands                bool
	maxError, confidence float64
}

// add adds the flags to a command.
func (b *bandFlags) add(f *pflag.FlagSet) {
	f.BoolVar(&b.bands, "bands", false, "propose thresholds whose error is bounded")
	f.Float64Var(&b.maxError, "max-error", calibrate.DefaultMaxError, "with --bands: the largest share of wrong answers among the accepted")
	f.Float64Var(&b.confidence, "confidence", calibrate.DefaultConfidence, "with --bands: the confidence that the bound holds")
}

// check reports all faults of the flags at once.
func (b *bandFlags) check() error {
	var faults []error
	for _, f := range []struct {
		name         string
		value, usual float64
	}{{"max-error", b.maxError, calibrate.DefaultMaxError}, {"confidence", b.confidence, calibrate.DefaultConfidence}} {
		switch {
		case !(f.value > 0 && f.value < 1): // NaN too
			faults = append(faults, fmt.Errorf("--%s %v: use a number between 0 and 1", f.name, f.value))
		case f.value != f.usual && !b.bands:
			faults = append(faults, fmt.Errorf("--%s %v changes nothing without --bands", f.name, f.value))
		}
	}
	return errors.Join(faults...)
}

// options are nil unless thresholds are asked for.
func (b *bandFlags) options() *calibrate.BandOptions {
	if !b.bands {
		return nil
	}
	return &calibrate.BandOptions{MaxError: b.maxError, Confidence: b.confidence}
}
