package measure

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/cli"
	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/open"
	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/measure"
	"github.com/shadowcourt/shadowcourt/internal/render"
	"github.com/shadowcourt/shadowcourt/internal/run"
)

// compareOptions are the flags of `compare`.
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

// run carries out `compare`.
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

// check reports all faults of the flags at once.
func (o *compareOptions) check(dockets []string) (*render.Redactor, error) {
	var faults []error
	if len(o.with) == 0 {
		faults = append(faults, errors.New("--with PERSONA=FILE: say what to compare with"))
	}
	if !(o.alpha > 0 && o.alpha < 1) { // NaN too
		faults = append(faults, fmt.Errorf("--alpha %v: use a number between 0 and 1", o.alpha))
	}
	if err := run.CheckFormat(o.from); err != nil {
		faults = append(faults, fmt.Errorf("--from %w", err))
	}
	redactor, err := render.NewRedactor(o.redact)
	if err != nil {
		faults = append(faults, fmt.Errorf("--redact: %w", err))
	}
	return redactor, o.common.check("compare", dockets, append(faults, o.checkOutput(dockets))...)
}

// compareText is the comparison for people.
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
