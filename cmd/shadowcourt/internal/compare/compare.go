// Package compare is the command that tries a docket before two courts.
package compare

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/cli"
	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/open"
	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/internal/calibrate/compare"
	"github.com/shadowcourt/shadowcourt/internal/disk"
	"github.com/shadowcourt/shadowcourt/internal/input"
	"github.com/shadowcourt/shadowcourt/internal/render"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
)

// compareOptions are the flags of `compare`.
type compareOptions struct {
	open.Flags
	from, format, output string
	redact, with         []string
	workers              int
	alpha                float64
}

// New is the command `compare`.
func New(s cli.Streams) *cobra.Command {
	o := &compareOptions{}
	cmd := &cobra.Command{
		Use:   "compare DOCKET... --with PERSONA=FILE",
		Short: "Try a docket before two courts, and say what flips",
		Long: `Try every case before the court in force and before one with other modules: same cases,
same Light. Verdicts that flip are listed, and where the truth is known, which flips are
right: a case is right when it ends with its true label, and one left open is not.

McNemar's test says whether the candidate is right less often, over the cases that only
one of the two has right: the exact test under 25 of them, from there on the chi-square
with the correction for continuity. Cases of a group count as one.

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
	f.Float64Var(&o.alpha, "alpha", compare.DefaultAlpha, "level of the test, between 0 and 1")
	f.StringVar(&o.from, "from", input.Auto, "input format: "+cli.OrList(input.Formats()))
	o.LightFlags(cmd, "default: "+open.LightRCA+" for reports of tests, else "+open.LightDocket)
	f.StringVar(&o.Pipeline, "pipeline", open.ShippedPipeline, "pipeline file, or the name of the shipped one")
	f.StringVar(&o.Profile, "profile", "", "profile file, the name of a shipped one, or none (default: go-test for gotest input, else none)")
	f.StringVar(&o.Modules, "modules", "", "folder with all NAME.wasm files that the pipeline names (default: the embedded modules)")
	open.CacheFlag(f, &o.Cache, "folder for compiled modules, or none")
	f.StringVar(&o.format, "format", "table", "table or json")
	f.StringVar(&o.output, "output", "", "file for the comparison (default: standard output)")
	f.StringArrayVar(&o.redact, "redact", nil, "regular expression whose matches are blacked out in every output; may be repeated")
	f.IntVar(&o.workers, "workers", 0, "trials at once (default: one for each processor)")
	o.GrantFlag(cmd)
	return cmd
}

// run carries out `compare`.
func (o *compareOptions) run(ctx context.Context, s cli.Streams, args []string) error {
	redactor, err := o.check(args)
	if err != nil {
		return cli.InputError(err)
	}
	inputs, err := input.Open(ctx, s.In, args, o.from)
	if err != nil {
		return cli.InputError(err)
	}
	defer inputs.Close()
	config, err := o.Config(inputs)
	if err != nil {
		return err
	}
	modules, err := open.NamedModules("--with ", o.with)
	if err != nil {
		return cli.InputError(err)
	}
	config.Candidate = &host.Candidate{Modules: modules, Share: 1}
	help, err := o.Connect(ctx, config, inputs)
	if err != nil {
		return err
	}
	defer help.Close()
	r := &comparing{options: o, stderr: s.Err, redactor: redactor, progress: cli.NewProgress(s.Err), sum: compare.New(o.alpha)}
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
	if err := r.try(ctx, h, inputs); err != nil {
		files.Discard()
		return err
	}
	report := r.sum.Report()
	if err := o.write(out, report); err != nil {
		files.Discard()
		return err
	}
	if err := files.Commit(); err != nil {
		return err
	}
	return r.end(report)
}

// check reports all faults of the flags at once.
func (o *compareOptions) check(dockets []string) (*render.Redactor, error) {
	var faults []error
	if len(dockets) == 0 {
		faults = append(faults, errors.New("compare takes one docket or more; see `shadowcourt compare --help`"))
	}
	if len(o.with) == 0 {
		faults = append(faults, errors.New("--with PERSONA=FILE: say what to compare with"))
	}
	if !(o.alpha > 0 && o.alpha < 1) { // NaN too
		faults = append(faults, fmt.Errorf("--alpha %v: use a number between 0 and 1", o.alpha))
	}
	if o.format != "table" && o.format != "json" {
		faults = append(faults, fmt.Errorf("--format %q: use table or json", o.format))
	}
	if !slices.Contains(input.Formats(), o.from) {
		faults = append(faults, fmt.Errorf("--from %q: use %s", o.from, cli.OrList(input.Formats())))
	}
	if o.workers < 0 {
		faults = append(faults, fmt.Errorf("--workers %d: use 0 or more", o.workers))
	}
	redactor, err := render.NewRedactor(o.redact)
	if err != nil {
		faults = append(faults, fmt.Errorf("--redact: %w", err))
	}
	faults = append(faults, o.CheckLight(), cli.CheckOverwrites(o.InputFiles(dockets), []cli.NamedFile{cli.File("--output", o.output)}))
	return redactor, errors.Join(faults...)
}

// comparing is one run.
type comparing struct {
	options  *compareOptions
	stderr   io.Writer
	redactor *render.Redactor
	progress *cli.Progress
	sum      *compare.Comparison

	tried, faults int
}

// try tries every case before both courts.
func (r *comparing) try(ctx context.Context, h *host.Host, inputs *input.Dockets) error {
	for t := range h.TryAll(ctx, inputs.Entries(""), r.options.workers) {
		if t.Trial == nil && ctx.Err() != nil {
			break
		}
		if t.Err == nil {
			r.tried++
			r.sum.Add(t.Trial, r.redactor.Trial(t.Trial))
			r.progress.Tried(r.tried, r.faults)
			continue
		}
		r.progress.Clear()
		var line *docket.LineError
		place := ""
		switch {
		case errors.As(t.Err, &line):
		case t.Entry.Source != "":
			place = fmt.Sprintf("%s:%d: ", sanitize.Line(t.Entry.Source), t.Entry.Line)
		default:
			return t.Err
		}
		r.faults++
		fmt.Fprintln(r.stderr, place+sanitize.Block(r.redactor.Text(t.Err.Error())))
	}
	r.progress.Clear()
	if ctx.Err() != nil {
		return fmt.Errorf("interrupted after %s; nothing is compared", cli.Count(r.tried, "case", "cases"))
	}
	return nil
}

// end gives the exit code.
func (r *comparing) end(report *compare.Report) error {
	switch {
	case r.faults > 0:
		return cli.InputError(fmt.Errorf("%s could not be tried; %s compared", cli.Count(r.faults, "entry", "entries"), cli.Count(r.tried, "case was", "cases were")))
	case report.Finding == compare.Worse:
		return &cli.ExitError{Code: cli.ExitMatched}
	}
	return nil
}

func (o *compareOptions) write(w io.Writer, r *compare.Report) error {
	if o.format == "json" {
		encoder := json.NewEncoder(w)
		encoder.SetIndent("", "  ")
		encoder.SetEscapeHTML(false)
		return encoder.Encode(r)
	}
	_, err := io.WriteString(w, compareTable(r))
	return err
}

// compareTable is the comparison for people.
func compareTable(r *compare.Report) string {
	var b strings.Builder
	if len(r.Flips) > 0 {
		t := table.NewWriter()
		t.SetStyle(table.StyleLight)
		t.AppendHeader(table.Row{"case", "truth", "court", "candidate", ""})
		for _, f := range r.Flips {
			truth := ""
			if f.Truth != nil {
				truth = sanitize.Line(*f.Truth)
			}
			t.AppendRow(table.Row{sanitize.Line(f.ID), truth, sanitize.Line(f.Court.End()), sanitize.Line(f.Candidate.End()), strings.ReplaceAll(string(f.Mark), "_", " ")})
		}
		b.WriteString(t.Render() + "\n\n")
	}
	line := func(name, format string, args ...any) {
		fmt.Fprintf(&b, "%-10s %s\n", name, fmt.Sprintf(format, args...))
	}
	line("Cases", "%d, %d of them before both courts; %s", r.Cases, r.Tried, cli.Count(len(r.Flips), "flips", "flip"))
	line("Mistrials", "%d; candidate %d", r.CourtMistrials, r.CandidateMistrials)
	if t := r.Truth; t != nil {
		line("Right", "%d of %d; candidate %d", t.CourtRight, t.Cases, t.CandidateRight)
		line("Only one", "%s the court alone has right, %d the candidate alone", cli.Count(t.CourtOnly, "case", "cases"), t.CandidateOnly)
		line("McNemar", "%s", mcnemarText(t))
	}
	line("Finding", "%s at a level of %g: %s", strings.ReplaceAll(string(r.Finding), "_", " "), r.Alpha, strings.Join(r.Why, "; "))
	return b.String()
}

func mcnemarText(t *compare.Truth) string {
	if t.Test == compare.Exact {
		return fmt.Sprintf("exact test of %d against %d pairs%s: p = %.3g", t.CourtPairs, t.CandidatePairs, pairsText(t), t.P)
	}
	return fmt.Sprintf("chi-square %.2f of %d against %d pairs%s: p = %.3g", t.Statistic, t.CourtPairs, t.CandidatePairs, pairsText(t), t.P)
}

// pairsText says what a pair is, where groups make fewer pairs than cases.
func pairsText(t *compare.Truth) string {
	if t.CourtPairs+t.CandidatePairs == t.CourtOnly+t.CandidateOnly {
		return ""
	}
	return " (a pair is a group of cases, for the court that has more of them right)"
}
