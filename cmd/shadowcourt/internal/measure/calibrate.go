package measure

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/cli"
	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/open"
	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/module"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/measure"
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
	o.addCourt(cmd, "figures", "none")
	o.bands.add(f)
	o.ModelFlags(cmd)
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
	if err := o.check("calibrate", args, o.bands.check(), o.checkOutput(args)); err != nil {
		return cli.InputError(err)
	}
	r, untold := newReading(s), 0
	var tested []measure.Observation
	var coverage *module.ProfileCoverage
	err := o.try(ctx, s, &r, args, &tried{
		from:  run.JSONL,
		begin: func(config *host.Config) error { coverage = module.NewProfileCoverage(config.Profile); return nil },
		pass: func(e docket.Entry) bool {
			if e.Truth == nil {
				untold++
			}
			return e.Truth != nil
		},
		add: func(t *trial.Trial) {
			tested = append(tested, measure.Observe(t))
			coverage.Add(&t.Case)
		},
		report: func(terminal render.TerminalOptions) (any, string, error) {
			if len(tested) == 0 {
				return nil, "", cli.InputError(errors.New("no case of the dockets states its truth (\"truth\":{\"classification\":...}): there is nothing to measure against"))
			}
			report := measure.Measure(tested, o.bands.options())
			return report, calibrateText(report, terminal), nil
		},
	})
	if err != nil {
		return err
	}
	if untold > 0 {
		fmt.Fprintf(r.stderr, "note: %s no truth and was not tried\n", cli.Count(untold, "case states", "cases state"))
	}
	open.WarnOfProfile(r.stderr, coverage)
	return r.end("measured")
}

// calibrateText tells the figures to people.
func calibrateText(r *measure.Report, terminal render.TerminalOptions) string {
	g := render.NewGrid(render.Column{Name: "CASES"}, render.Column{Name: "COURT"}, render.Column{Name: "95 %"}, render.Column{Name: "LIGHT ALONE"},
		render.Column{Name: "95 %"}, render.Column{Name: "ONLY ONE RIGHT"}, render.Column{Name: "P"}, render.Column{Name: "FINDING"})
	for _, row := range []struct {
		name string
		a    *measure.Accuracy
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
func shareText(s measure.Share) (share, interval string) {
	if s.Of == 0 {
		return "–", "–"
	}
	return three(*s.Share), three(s.Interval.Low) + " to " + three(s.Interval.High)
}

// ofText shows a share as "69 of 276 (25.0 %)".
func ofText(s measure.Share) string {
	if s.Of == 0 {
		return "0 of 0"
	}
	return fmt.Sprintf("%d of %d (%.1f %%)", s.Count, s.Of, 100**s.Share)
}

// bandFlags ask for certified thresholds.
type bandFlags struct {
	bands                bool
	maxError, confidence float64
}

// add adds the flags to a command.
func (b *bandFlags) add(f *pflag.FlagSet) {
	f.BoolVar(&b.bands, "bands", false, "propose thresholds whose error is bounded")
	f.Float64Var(&b.maxError, "max-error", measure.DefaultMaxError, "with --bands: the largest share of wrong answers among the accepted")
	f.Float64Var(&b.confidence, "confidence", measure.DefaultConfidence, "with --bands: the confidence that the bound holds")
}

// check reports all faults of the flags at once.
func (b *bandFlags) check() error {
	var faults []error
	for _, f := range []struct {
		name         string
		value, usual float64
	}{{"max-error", b.maxError, measure.DefaultMaxError}, {"confidence", b.confidence, measure.DefaultConfidence}} {
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
func (b *bandFlags) options() *measure.BandOptions {
	if !b.bands {
		return nil
	}
	return &measure.BandOptions{MaxError: b.maxError, Confidence: b.confidence}
}
