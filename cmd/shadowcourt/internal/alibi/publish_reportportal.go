package alibi

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/cli"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/measure"
	"github.com/shadowcourt/shadowcourt/internal/publish"
	"github.com/shadowcourt/shadowcourt/internal/render"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
)

type reportPortalOptions struct {
	writeFlags

	server, project, certificate string
	minConfidence                float64
}

// portalToken is the variable that the agents of ReportPortal read their token from.
const portalToken = "RP_API_KEY" //nolint:gosec // a name

func newReportPortal(s cli.Streams, version string) *cobra.Command {
	o := &reportPortalOptions{}
	cmd := &cobra.Command{
		Use:   "reportportal RESULTS",
		Short: "Write defect types and comments of a tried docket to ReportPortal",
		Long: `Write what the court found to ReportPortal: to each test item of RESULTS its defect type,
with a comment. RESULTS are those of "try --format jsonl" of an export of ReportPortal.
An answer is written where its confidence reaches a threshold: one with a bounded error,
of a report of "calibrate --bands --format json", or one that you choose.

Only an item is written to that is still to be investigated (ti001) and has no comment
and no ticket, or that has what this command wrote before. What a person or ReportPortal's
analyzer decided stays, also where they decide while this runs. Without --write nothing is
changed. A second run writes nothing.

Exit codes: 0 done; 1 an item failed, the others were done; 2 the command line or an input is wrong.`,
		Example: "  shadowcourt publish reportportal results.jsonl --server https://rp.example --project cart --certificate report.json",
		Args:    cli.ExactArgs(1, "the results that `try --format jsonl` writes, or - for the standard input"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd.Context(), s, version, args[0], cmd.Flags().Changed("min-confidence"))
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.server, "server", "", "address of ReportPortal, such as https://rp.example (default: the variable RP_ENDPOINT)")
	f.StringVar(&o.project, "project", "", "name of the project (default: the variable RP_PROJECT)")
	f.StringVar(&o.certificate, "certificate", "", "report of calibrate --bands --format json, for the same court, profile and kind of cases")
	f.Float64Var(&o.minConfidence, "min-confidence", 0, "write answers from this confidence on; the comments say that it is not certified")
	o.add(f, portalToken)
	return cmd
}

func (o *reportPortalOptions) run(ctx context.Context, s cli.Streams, version, name string, chosen bool) error {
	rule, err := o.rule(chosen)
	project, projectErr := o.open(version)
	if err := errors.Join(o.check(), err, projectErr); err != nil {
		return cli.InputError(err)
	}
	in, err := openInput(s, name)
	if err != nil {
		return cli.InputError(err)
	}
	defer func() { _ = in.Close() }()
	results, err := publish.ReadResults(in)
	if err != nil {
		return cli.InputError(fmt.Errorf("%s: %w", name, err))
	}
	steps, err := project.Plan(ctx, rule, results)
	if err != nil {
		return cli.OrInterrupted(ctx, errors.New(sanitize.Log(err.Error())))
	}
	if o.write {
		project.Write(ctx, steps)
	}
	return o.print(s, steps)
}

func (o *reportPortalOptions) open(version string) (*publish.Project, error) {
	address := orVariable(o.server, "RP_ENDPOINT")
	if address == "" {
		return nil, errors.New("--server: name the address of ReportPortal, such as https://rp.example")
	}
	server, err := o.writeFlags.server(address, version, portalToken)
	if err != nil {
		return nil, fmt.Errorf("--server: %w", err)
	}
	if !strings.HasSuffix(server.Base.Path, "/api") {
		server.Base = server.Base.JoinPath("api")
	}
	project, err := publish.NewProject(server, orVariable(o.project, "RP_PROJECT"))
	if err != nil {
		return nil, fmt.Errorf("--project: %w", err)
	}
	return project, nil
}

// rule says from which confidence on answers are written.
func (o *reportPortalOptions) rule(chosen bool) (publish.ItemRule, error) {
	var rule publish.ItemRule
	switch {
	case chosen && o.certificate != "":
		return rule, errors.New("--certificate and --min-confidence exclude each other")
	case chosen:
		if !(o.minConfidence > 0 && o.minConfidence <= 1) { // NaN too
			return rule, fmt.Errorf("--min-confidence %v: use a number above 0, at most 1", o.minConfidence)
		}
		bound := &publish.Bound{From: o.minConfidence, Words: "Answers are written from " + trial.Number(o.minConfidence) + " on, a threshold that somebody chose: it is not certified."}
		return publish.ItemRule{Court: bound, Light: bound}, nil
	case o.certificate == "":
		return rule, errors.New("from which confidence on? use --certificate FILE, or --min-confidence NUMBER for one that is not certified")
	}
	f, err := os.Open(o.certificate)
	if err != nil {
		return rule, fmt.Errorf("--certificate: %w", err)
	}
	defer func() { _ = f.Close() }()
	bands, err := measure.ReadBands(f)
	if err != nil {
		return rule, fmt.Errorf("--certificate %s: %w", o.certificate, err)
	}
	rule = publish.ItemRule{Court: boundOf(&bands.Court), Light: boundOf(&bands.Light)}
	if rule.Court == nil && rule.Light == nil {
		return rule, fmt.Errorf("--certificate %s: accept the court's answers %s", o.certificate, &bands.Court)
	}
	return rule, nil
}

func boundOf(c *measure.Certificate) *publish.Bound {
	if c.Threshold == nil {
		return nil
	}
	number := func(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }
	return &publish.Bound{From: *c.Threshold, Words: fmt.Sprintf(
		"Certified: of answers from %s on, a share of at most %s is wrong, with confidence %s (%d of %d measured cases, %d wrong).",
		number(*c.Threshold), number(c.MaxError), number(c.Confidence), c.Accepted, c.Cases, c.Wrong)}
}

func (o *reportPortalOptions) print(s cli.Streams, steps []publish.ItemStep) error {
	g := render.NewGrid(render.Column{Name: "ITEM"}, render.Column{Name: "NAME", Goes: 1}, render.Column{Name: "TYPE"}, render.Column{Name: "CONFIDENCE", Numbers: true},
		render.Column{Name: "ACTION"}, render.Column{Name: "WHY"})
	written, planned, failed := 0, 0, 0
	for i := range steps {
		step := &steps[i]
		why, sure := step.Why, ""
		if step.Type != "" {
			sure = trial.Number(step.Confidence)
		}
		switch {
		case step.Written:
			written++
		case step.Action == publish.ItemSet || step.Action == publish.ItemUpdate:
			planned++
		case step.Action == publish.ItemFailed:
			failed++
			why = step.Err.Error()
		case step.Action == publish.ItemKeep:
			why = "it is there already"
		}
		g.Add(step.ID, step.Name, step.Type, sure, actionWords(string(step.Action), step.Written, o.write), why)
	}
	if len(steps) > 0 {
		if _, err := fmt.Fprint(s.Out, sanitize.Log(g.Text(cli.Terminal(s.Out)))); err != nil {
			return err
		}
	}
	return o.conclude(s, written, planned, failed)
}
