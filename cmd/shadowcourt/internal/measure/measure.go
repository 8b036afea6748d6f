// Package measure has the commands that learn and measure with cases whose truth is known, fit, calibrate and compare, and audit, which
// measures opinions.
package measure

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/cli"
	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/open"
	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/module"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/disk"
	"github.com/shadowcourt/shadowcourt/internal/measure"
	"github.com/shadowcourt/shadowcourt/internal/publish"
	"github.com/shadowcourt/shadowcourt/internal/render"
	"github.com/shadowcourt/shadowcourt/internal/run"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
)

type common struct {
	open.Flags
	format, output string
	workers        int
}

func (o *common) add(cmd *cobra.Command, what string) {
	f := cmd.Flags()
	f.StringVar(&o.format, "format", "table", "format of the "+what+": table or json")
	f.IntVar(&o.workers, "workers", 0, "how many at once (default: one for each processor); the result is the same")
}

// addCourt adds the flags of the commands that try cases.
func (o *common) addCourt(cmd *cobra.Command, what, profile string) {
	o.add(cmd, what)
	f := cmd.Flags()
	f.StringVar(&o.Pipeline, "pipeline", open.ShippedPipeline, "pipeline file, or the name of the shipped one")
	f.StringVar(&o.Profile, "profile", "", "profile file, the name of a shipped one, or none (default: "+profile+")")
	f.StringVar(&o.Modules, "modules", "", "folder with all NAME.wasm files that the pipeline names (default: the embedded modules)")
	open.CacheFlag(f, &o.Cache, "folder for compiled modules, or none")
	f.StringVar(&o.output, "output", "", "file for the "+what+" (default: standard output)")
}

func (o *common) check(command string, dockets []string, more ...error) error {
	return errors.Join(
		cli.Fault(len(dockets) == 0, "%s takes one docket or more, or - for the standard input; see `shadowcourt %[1]s --help`", command),
		cli.OneOf("--format", o.format, "table", "json"),
		cli.Fault(o.workers < 0, "--workers %d: use 0 or more", o.workers),
		errors.Join(more...), o.CheckLight(),
	)
}

func (o *common) checkOutput(dockets []string) error {
	return cli.CheckOverwrites(o.InputFiles(dockets), []cli.NamedFile{cli.File("--output", o.output)})
}

// tried says what is done with the trials of a docket: begin sees the configuration before the court opens, add gets each trial, and report gives
// the result as a value and as text when all are done.
type tried struct {
	from   string
	begin  func(*host.Config) error
	pass   func(docket.Entry) bool // nil passes all
	add    func(*trial.Trial)
	report func(terminal render.TerminalOptions) (value any, text string, err error)
}

func (o *common) try(ctx context.Context, s cli.Streams, r *reading, dockets []string, t *tried) error {
	inputs, err := run.OpenDockets(ctx, s.In, dockets, t.from)
	if err != nil {
		return cli.InputError(err)
	}
	defer inputs.Close()
	config, err := o.Config(inputs)
	if err != nil {
		return err
	}
	if err := t.begin(config); err != nil {
		return cli.InputError(err)
	}
	help, err := o.Connect(ctx, config, inputs)
	if err != nil {
		return err
	}
	defer help.Close()
	r.progress.Say("loading modules")
	h, err := o.Host(ctx, s, config)
	r.progress.Clear()
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
	err = r.all(ctx, h, o.Workers(o.workers), inputs.Entries(""), t)
	if err == nil {
		value, text, failed := t.report(cli.Terminal(out))
		if err = failed; err == nil {
			err = o.print(out, value, text)
		}
	}
	if err != nil {
		files.Discard()
		return err
	}
	return files.Commit()
}

// all tries entries, and reports those that can't be used.
func (r *reading) all(ctx context.Context, h *host.Host, workers int, entries iter.Seq2[docket.Entry, error], t *tried) error {
	defer r.progress.Clear()
	wanted := func(yield func(docket.Entry, error) bool) {
		for entry, err := range entries {
			if (err != nil || t.pass == nil || t.pass(entry)) && !yield(entry, err) {
				return
			}
		}
	}
	for one := range h.TryAll(ctx, wanted, workers) {
		if one.Trial == nil && ctx.Err() != nil {
			break
		}
		if one.Err != nil {
			if err := r.fault(one.Entry, one.Err); err != nil {
				return err
			}
			continue
		}
		r.done++
		r.light.Add(one.Trial)
		t.add(one.Trial)
		r.progress.Tried(r.done, r.faults)
	}
	if ctx.Err() != nil {
		return fmt.Errorf("interrupted after %s; nothing is written", cli.Count(r.done, "case", "cases"))
	}
	return nil
}

func (o *common) print(w io.Writer, value any, text string) error {
	if o.format != "json" {
		_, err := io.WriteString(w, text)
		return err
	}
	data, err := sanitize.EncodeJSON(value, "  ")
	if err == nil {
		_, err = w.Write(data)
	}
	return err
}

// reading is one run over dockets.
type reading struct {
	stderr   io.Writer
	progress *cli.Progress
	redactor *render.Redactor // nil redacts nothing

	done, faults int // entries
	light        open.LightFailures
}

func newReading(s cli.Streams) reading {
	return reading{stderr: s.Err, progress: cli.NewProgress(s.Err)}
}

// fault reports an entry that can't be used. Its error is one that ends the run.
func (r *reading) fault(entry docket.Entry, err error) error {
	place := ""
	if _, ofLine := errors.AsType[*docket.LineError](err); !ofLine {
		if entry.Source == "" {
			return err
		}
		place = fmt.Sprintf("%s:%d: ", sanitize.Line(entry.Source), entry.Line)
	}
	r.progress.Clear()
	r.faults++
	fmt.Fprintln(r.stderr, place+sanitize.Block(r.redactor.Text(err.Error())))
	return nil
}

// end warns of a Light that failed, and says in the exit code that entries could not be used.
func (r *reading) end(what string) error {
	r.light.Warn(r.stderr, r.redactor)
	if r.faults == 0 {
		return nil
	}
	return cli.InputError(fmt.Errorf("%s could not be used; %s %s", cli.Count(r.faults, "entry", "entries"), cli.Count(r.done, "case was", "cases were"), what))
}

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

func (b *bandFlags) add(f *pflag.FlagSet) {
	f.BoolVar(&b.bands, "bands", false, "propose thresholds whose error is bounded")
	f.Float64Var(&b.maxError, "max-error", measure.DefaultMaxError, "with --bands: the largest share of wrong answers among the accepted")
	f.Float64Var(&b.confidence, "confidence", measure.DefaultConfidence, "with --bands: the confidence that the bound holds")
}

func (b *bandFlags) check() error {
	one := func(flag string, value, usual float64) error {
		err := between(flag, value)
		if err == nil && !b.bands {
			err = cli.Fault(value != usual, "%s %v changes nothing without --bands", flag, value)
		}
		return err
	}
	return errors.Join(one("--max-error", b.maxError, measure.DefaultMaxError), one("--confidence", b.confidence, measure.DefaultConfidence))
}

func between(flag string, value float64) error {
	return cli.Fault(!(value > 0 && value < 1), "%s %v: use a number between 0 and 1", flag, value) // NaN too
}

func (b *bandFlags) options() *measure.BandOptions {
	if !b.bands {
		return nil
	}
	return &measure.BandOptions{MaxError: b.maxError, Confidence: b.confidence}
}

type compareOptions struct {
	common
	from         string
	redact, with []string
	alpha        float64
}

// NewCompare is the command `compare`.
func NewCompare(s cli.Streams) *cobra.Command {
	o := &compareOptions{}
	cmd := &cobra.Command{
		Use:   "compare DOCKET... --with PERSONA=FILE",
		Short: "Try a docket before two courts, and say what flips",
		Long: `Try every case before the court in force and before one with other modules: same cases,
same Light. Verdicts that flip are listed, and where the truth is known, which flips are
right: a case is right when it ends with its true label, and one left open is not.

McNemar's exact test says whether the candidate is right less often, over the cases that
only one of the two has right. Cases of a group count as one.

The gate: the candidate is worse if it is right less often at the level --alpha (two-sided),
or if it has more mistrials than the court in force.

Exit codes: 0 not worse, which is no proof where few cases differ; 1 something failed while
running; 2 the command line or an input is wrong; 3 worse.`,
		Example: `  shadowcourt compare examples/dockets/tour.jsonl --with specter=bin/modules/specter.wasm
  shadowcourt compare examples/dockets/go-failures.jsonl --profile go-test \
    --with challenger=bin/modules/challenger.wasm --format json`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd.Context(), s, args)
		},
	}
	f := cmd.Flags()
	f.StringArrayVar(&o.with, "with", nil, "PERSONA=FILE: a module of the candidate; may be repeated")
	f.Float64Var(&o.alpha, "alpha", measure.DefaultAlpha, "level of the test, between 0 and 1")
	f.StringVar(&o.from, "from", run.Auto, "input format: "+cli.OrList(run.Formats()))
	o.LightFlags(cmd, "default: "+open.LightRCA+" for reports of tests, else "+open.LightDocket)
	o.addCourt(cmd, "comparison", "go-test for gotest input, else none")
	f.StringArrayVar(&o.redact, "redact", nil, "regular expression whose matches are blacked out in every output; may be repeated")
	o.GrantFlag(cmd)
	return cmd
}

func (o *compareOptions) run(ctx context.Context, s cli.Streams, args []string) error {
	redactor, err := o.check(args)
	if err != nil {
		return cli.InputError(err)
	}
	r, sum := newReading(s), measure.NewCandidateComparison(o.alpha)
	r.redactor = redactor
	var report *measure.CandidateReport
	err = o.try(ctx, s, &r, args, &tried{
		from: o.from,
		begin: func(config *host.Config) error {
			modules, err := open.NamedModules("--with ", o.with)
			config.Candidate = &host.Candidate{Modules: modules, Share: 1}
			return err
		},
		add: func(t *trial.Trial) { sum.Add(t, redactor.Trial(t)) },
		report: func(terminal render.TerminalOptions) (any, string, error) {
			report = sum.Report()
			return report, compareText(report, terminal), nil
		},
	})
	if err != nil {
		return err
	}
	if err := r.end("compared"); err != nil || report.Finding != measure.Worse {
		return err
	}
	return &cli.ExitError{Code: cli.ExitMatched}
}

func (o *compareOptions) check(dockets []string) (*render.Redactor, error) {
	unread := run.CheckFormat(o.from)
	redactor, err := render.NewRedactor(o.redact)
	return redactor, o.common.check("compare", dockets,
		cli.Fault(len(o.with) == 0, "--with PERSONA=FILE: say what to compare with"), between("--alpha", o.alpha),
		cli.Fault(unread != nil, "--from %w", unread), cli.Fault(err != nil, "--redact: %w", err), o.checkOutput(dockets))
}

func compareText(r *measure.CandidateReport, terminal render.TerminalOptions) string {
	text := ""
	if len(r.Flips) > 0 {
		g := render.NewGrid(render.Column{Name: "CASE"}, render.Column{Name: "TRUTH"}, render.Column{Name: "COURT"}, render.Column{Name: "CANDIDATE"}, render.Column{Name: "ANSWER"})
		for _, f := range r.Flips {
			truth := ""
			if f.Truth != nil {
				truth = *f.Truth
			}
			g.Add(f.ID, truth, f.Court.End(), f.Candidate.End(), strings.ReplaceAll(string(f.Mark), "_", " "))
		}
		text = g.Text(terminal) + "\n"
	}
	line := func(name, format string, args ...any) { text += terminal.Named(name, fmt.Sprintf(format, args...)) }
	line("Cases", "%d, %d of them before both courts; %s", r.Cases, r.Tried, cli.Count(len(r.Flips), "flips", "flip"))
	line("Mistrials", "%d; candidate %d", r.CourtMistrials, r.CandidateMistrials)
	if t := r.Truth; t != nil {
		line("Right", "%d of %d; candidate %d", t.CourtRight, t.Cases, t.CandidateRight)
		line("Only one", "%s the court alone has right, %d the candidate alone", cli.Count(t.CourtOnly, "case", "cases"), t.CandidateOnly)
		pair := ""
		if t.CourtPairs+t.CandidatePairs != t.CourtOnly+t.CandidateOnly {
			pair = " (a pair is a group of cases, for the court that has more of them right)"
		}
		line("McNemar", "exact test of %d against %d pairs%s: p = %.3g", t.CourtPairs, t.CandidatePairs, pair, t.P)
	}
	line("Finding", "%s at a level of %g: %s", findingText(r.Finding), r.Alpha, strings.Join(r.Why, "; "))
	return text
}

func findingText(f measure.Finding) string { return strings.ReplaceAll(string(f), "_", " ") }

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

func (o *fitOptions) check(dockets []string) error {
	output := cli.File("--output", o.output)
	if o.output == stdStream {
		output.Path = ""
	}
	return o.common.check("fit", dockets,
		cli.Fault(o.output == "", "--output is missing: name the file for the profile"),
		cli.Fault(o.trustText && o.noText, "--trust-text with --no-text: no text is read there"),
		cli.CheckOverwrites(append(o.InputFiles(dockets), cli.File("--outcomes", o.outcomes)), []cli.NamedFile{output}))
}

// fit fits on the entries, with the Light that is to answer for them.
func (o *fitOptions) fit(ctx context.Context, light *open.LightRunner, entries []docket.Entry) (*measure.Fitted, error) {
	config := measure.FitConfig{Name: o.name, Seed: o.seed, NoText: o.noText, TrustText: o.trustText, Workers: o.workers, LightPath: light.Config.LightPath != nil, Progress: light.Progress.Say}
	config.Name = cmp.Or(config.Name, strings.TrimSuffix(filepath.Base(o.output), filepath.Ext(o.output)))
	if config.Name == stdStream {
		config.Name = "fitted"
	}
	config.Workers = cmp.Or(config.Workers, runtime.GOMAXPROCS(0))
	if o.outcomes != "" {
		file, err := os.Open(o.outcomes)
		if err != nil {
			return nil, cli.InputError(fmt.Errorf("--outcomes: %w", err))
		}
		defer func() { _ = file.Close() }()
		results, err := publish.ReadResults(file)
		if err == nil {
			entries, err = measure.AddStatements(entries, results)
		}
		if err != nil {
			return nil, cli.InputError(fmt.Errorf("--outcomes %s: %w", o.outcomes, err))
		}
	}
	if c := light.Config; c.LightPath != nil || c.Light != nil || c.Rules != nil { // they add to what the cases bring
		var err error
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

// stdStream is the name of the standard output, where a file is asked for.
const stdStream = "-"

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
	say("\nmodel: %s\n\n%s", r.Model, g.Text(terminal))
	if t := r.TextTurns; t != nil && r.Signals > 0 {
		say("\na made-up text could turn about %.1f of 100 answers from right to wrong; with --no-text none\n", 100**t)
	}
	return b.String()
}

func three(x float64) string { return strconv.FormatFloat(x, 'f', 3, 64) }
