package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/calibrate/compare"
	"github.com/shadowcourt/shadowcourt/host/docket"
)

// compareOptions are the flags of `compare`. The embedded ones are those of
// `try` that open a host.
type compareOptions struct {
	tryOptions
	alpha float64
}

func newCompare(s stdio) *cobra.Command {
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
	f.StringArrayVar(&o.canary.modules, "with", nil, "PERSONA=FILE: a module of the candidate; may be repeated")
	f.Float64Var(&o.alpha, "alpha", compare.DefaultAlpha, "level of the test, between 0 and 1")
	f.StringVar(&o.from, "from", formatAuto, "input format: "+orList(formats()))
	o.lightFlags(cmd, "default: "+lightRCA+" for reports of tests, else "+lightDocket)
	f.StringVar(&o.pipeline, "pipeline", shippedPipeline, "pipeline file, or the name of the shipped one")
	f.StringVar(&o.profile, "profile", "", "profile file, the name of a shipped one, or none (default: go-test for gotest input, else none)")
	f.StringVar(&o.modules, "modules", "", "folder with all NAME.wasm files that the pipeline names (default: the embedded modules)")
	cacheFlag(f, &o.cache, "folder for compiled modules, or none")
	f.StringVar(&o.format, "format", "table", "table or json")
	f.StringVar(&o.output, "output", "", "file for the comparison (default: standard output)")
	f.StringArrayVar(&o.redact, "redact", nil, "regular expression whose matches are blacked out in every output; may be repeated")
	f.IntVar(&o.workers, "workers", 0, "trials at once (default: one for each processor)")
	o.grantFlag(cmd)
	return cmd
}

// run carries out `compare`.
func (o *compareOptions) run(ctx context.Context, s stdio, args []string) error {
	redactor, err := o.check(args)
	if err != nil {
		return inputError(err)
	}
	inputs, err := openInputs(ctx, s.in, args, o.from)
	if err != nil {
		return inputError(err)
	}
	defer inputs.close()
	config, err := o.config(inputs)
	if err != nil {
		return err
	}
	help, err := o.help(ctx, config, inputs)
	if err != nil {
		return err
	}
	defer help.close()
	r := &comparing{options: o, stderr: s.err, redactor: redactor, progress: newProgress(s.err), sum: compare.New(o.alpha)}
	r.progress.say("loading modules")
	h, err := o.open(ctx, s, config)
	r.progress.clear()
	if err != nil {
		return o.openError(err)
	}
	defer func() { _ = h.Close(context.WithoutCancel(ctx)) }()
	all := &outputs{}
	out := s.out
	if o.output != "" {
		if out, err = all.create(o.output); err != nil {
			return inputError(fmt.Errorf("--output: %w", err))
		}
	}
	if err := r.try(ctx, h, inputs); err != nil {
		all.discard()
		return err
	}
	report := r.sum.Report()
	if err := o.write(out, report); err != nil {
		all.discard()
		return err
	}
	for _, f := range all.files {
		if err := f.Commit(); err != nil {
			return err
		}
	}
	return r.end(report)
}

// check reports all faults of the flags at once.
func (o *compareOptions) check(dockets []string) (*docket.Redactor, error) {
	var faults []error
	if len(dockets) == 0 {
		faults = append(faults, errors.New("compare takes one docket or more; see `shadowcourt compare --help`"))
	}
	if len(o.canary.modules) == 0 {
		faults = append(faults, errors.New("--with PERSONA=FILE: say what to compare with"))
	}
	if !(o.alpha > 0 && o.alpha < 1) { // NaN too
		faults = append(faults, fmt.Errorf("--alpha %v: use a number between 0 and 1", o.alpha))
	}
	if o.format == "jsonl" {
		faults = append(faults, errors.New(`--format "jsonl": use table or json`))
	}
	o.canary.share, o.canary.seed = 1, 0
	_, redactor, err := o.tryOptions.check(dockets)
	return redactor, errors.Join(append(faults, err)...)
}

// comparing is one run.
type comparing struct {
	options  *compareOptions
	stderr   fmtWriter
	redactor *docket.Redactor
	progress *progress
	sum      *compare.Comparison

	tried, faults int
}

// try tries every case before both courts.
func (r *comparing) try(ctx context.Context, h *host.Host, inputs *inputs) error {
	for t := range h.TryAll(ctx, inputs.entries(""), r.options.workers) {
		if t.Err == nil {
			r.tried++
			r.sum.Add(t.Trial, r.redactor.Trial(t.Trial))
			r.progress.tried(r.tried, r.faults)
			continue
		}
		r.progress.clear()
		var line *docket.LineError
		place := ""
		switch {
		case errors.As(t.Err, &line):
		case t.Entry.Source != "":
			place = fmt.Sprintf("%s:%d: ", inertLine(t.Entry.Source), t.Entry.Line)
		default:
			return t.Err
		}
		r.faults++
		fmt.Fprintln(r.stderr, place+inertBlock(r.redactor.Text(t.Err.Error())))
	}
	r.progress.clear()
	if ctx.Err() != nil {
		return fmt.Errorf("interrupted after %s; nothing is compared", count(r.tried, "case", "cases"))
	}
	return nil
}

// end gives the exit code.
func (r *comparing) end(report *compare.Report) error {
	switch {
	case r.faults > 0:
		return inputError(fmt.Errorf("%s could not be tried; %s compared", count(r.faults, "entry", "entries"), count(r.tried, "case was", "cases were")))
	case report.Finding == compare.Worse:
		return &exitError{code: exitMatched}
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
				truth = inertLine(*f.Truth)
			}
			t.AppendRow(table.Row{inertLine(f.ID), truth, inertLine(f.Court.End()), inertLine(f.Candidate.End()), strings.ReplaceAll(string(f.Mark), "_", " ")})
		}
		b.WriteString(t.Render() + "\n\n")
	}
	line := func(name, format string, args ...any) {
		fmt.Fprintf(&b, "%-10s %s\n", name, fmt.Sprintf(format, args...))
	}
	line("Cases", "%d, %d of them before both courts; %s", r.Cases, r.Tried, count(len(r.Flips), "flips", "flip"))
	line("Mistrials", "%d; candidate %d", r.CourtMistrials, r.CandidateMistrials)
	if t := r.Truth; t != nil {
		line("Right", "%d of %d; candidate %d", t.CourtRight, t.Cases, t.CandidateRight)
		line("Only one", "%s the court alone has right, %d the candidate alone", count(t.CourtOnly, "case", "cases"), t.CandidateOnly)
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
