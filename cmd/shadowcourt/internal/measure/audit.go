package measure

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/cli"
	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/open"
	"github.com/shadowcourt/shadowcourt/host/audit"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/disk"
	"github.com/shadowcourt/shadowcourt/internal/render"
)

// auditOptions are the flags of `audit`.
type auditOptions struct {
	trust            open.Trust
	rubric, pipeline string
	modules, cache   string
	format, output   string
	reports, redact  []string
	documents        []string
	failOn           []string
	failUnder        []string
	workers          int
	gate             *auditGate
}

// NewAudit is the command `audit`.
func NewAudit(s cli.Streams) *cobra.Command {
	o := &auditOptions{}
	cmd := &cobra.Command{
		Use:   "audit FILE...|-",
		Short: "Audit opinions against a rubric",
		Long: `Audit opinions against a rubric. A file is one opinion as plain text, one as a JSON
object, or many as JSON lines or a JSON list, with the fields text, case_id, court_name,
metadata, evidence and documents, of which only text must be there. The judges of the
rubric are modules; how their opinions become a score is in docs/measuring.md.

Exit codes: 0 done; 1 something failed while running; 2 the command line or an input is
wrong (the rest was still audited); 3 done, and a score is below --fail-under, or
--fail-on matched.`,
		Example: `  shadowcourt audit examples/audit/opinion.txt --document examples/audit/log.txt
  shadowcourt audit examples/audit/opinions.jsonl --format jsonl --report audit.html
  shadowcourt audit examples/audit/opinions.jsonl --fail-on security,degraded --fail-under 2,evidence_support=2`,
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), s, args) },
	}
	f := cmd.Flags()
	f.StringVar(&o.rubric, "rubric", open.ShippedRubric, "rubric file, or the name of a shipped one")
	f.StringVar(&o.pipeline, "pipeline", open.ShippedAudit, "pipeline file, or the name of a shipped one")
	f.StringArrayVar(&o.documents, "document", nil, "a text file that every opinion is checked against, cut at 1 MiB; may be repeated")
	f.StringVar(&o.modules, "modules", "", "folder with NAME.wasm files of judges; those that it does not have are the embedded ones")
	o.trust.Flags(cmd)
	open.CacheFlag(f, &o.cache, "folder for compiled modules, or none")
	f.StringVar(&o.format, "format", "table", "table, json or jsonl")
	f.StringVar(&o.output, "output", "", "file for the audits (default: standard output)")
	f.StringArrayVar(&o.reports, "report", nil, "also write a report, FILE.html or FILE.md; may be repeated")
	f.StringArrayVar(&o.redact, "redact", nil, "regular expression whose matches are blacked out in every output; may be repeated")
	f.IntVar(&o.workers, "workers", 0, "audits at once (default: one for each processor)")
	f.StringSliceVar(&o.failUnder, "fail-under", nil, "exit with 3 if a score is below this one, 0 to 5, or that of a criterion (evidence_support=3); may be repeated")
	f.StringSliceVar(&o.failOn, "fail-on", nil, "exit with 3 on an audit that is one of "+strings.Join(open.AuditFailures, ", "))
	return cmd
}

// check reports all faults of the flags at once.
func (o *auditOptions) check(args []string) (*render.Redactor, error) {
	var faults []error
	if len(args) == 0 {
		faults = append(faults, errors.New("audit takes the files of opinions, or - for the standard input; see `shadowcourt audit --help`"))
	}
	if !slices.Contains([]string{"table", "json", "jsonl"}, o.format) {
		faults = append(faults, fmt.Errorf("--format %q: use table, json or jsonl", o.format))
	}
	for _, name := range o.reports {
		if ext := strings.ToLower(filepath.Ext(name)); ext != ".html" && ext != ".md" {
			faults = append(faults, fmt.Errorf("--report %q: use a name that ends in .html or .md", name))
		}
	}
	if o.workers < 0 {
		faults = append(faults, fmt.Errorf("--workers %d: use 0 or more", o.workers))
	}
	gate, err := parseAuditGate(o.failOn, o.failUnder)
	faults, o.gate = append(faults, err), gate
	redactor, err := render.NewRedactor(o.redact)
	if err != nil {
		faults = append(faults, fmt.Errorf("--redact: %w", err))
	}
	return redactor, errors.Join(append(faults, o.checkFiles(args))...)
}

// checkFiles rejects an output that is also an input, and two outputs to one file.
func (o *auditOptions) checkFiles(args []string) error {
	inputs := slices.Concat(open.ArgumentFiles("the opinions", args), []cli.NamedFile{open.RubricFile(o.rubric), open.PipelineFile(o.pipeline)},
		open.ModuleFiles(o.modules))
	for _, name := range o.documents {
		inputs = append(inputs, cli.File("--document", name))
	}
	outputs := []cli.NamedFile{cli.File("--output", o.output)}
	for _, name := range o.reports {
		outputs = append(outputs, cli.File("--report", name))
	}
	return cli.CheckOverwrites(inputs, outputs)
}

// run carries out `audit`.
func (o *auditOptions) run(ctx context.Context, s cli.Streams, args []string) error {
	redactor, err := o.check(args)
	if err != nil {
		return cli.InputError(err)
	}
	documents, err := o.readDocuments(s.Err, redactor)
	if err != nil {
		return cli.InputError(err)
	}
	p := cli.NewProgress(s.Err)
	p.Say("loading modules")
	a, err := open.Auditor(ctx, s, open.AuditorFlags{Trust: &o.trust, Rubric: o.rubric, Pipeline: o.pipeline, Modules: o.modules, Cache: o.cache})
	p.Clear()
	if err != nil {
		return err
	}
	defer func() { _ = a.Close(context.WithoutCancel(ctx)) }()
	if err := o.gate.check(a.Rubric()); err != nil {
		return cli.InputError(err)
	}
	var files disk.Set
	out, err := o.writers(s, redactor, &files)
	if err != nil {
		files.Discard()
		return cli.InputError(err)
	}
	r := newAuditRun(o, s.Err, p, redactor)
	if err := r.all(ctx, a, out, opinionsOf(s.In, args, documents)); err != nil {
		files.Discard()
		return err
	}
	if err := errors.Join(out.Close(), files.Commit()); err != nil {
		return err
	}
	return r.end(ctx)
}

// writers opens every output that the flags ask for.
func (o *auditOptions) writers(s cli.Streams, redactor *render.Redactor, files *disk.Set) (render.AuditWriter, error) {
	main := s.Out
	if o.output != "" {
		f, err := files.Create(o.output)
		if err != nil {
			return nil, fmt.Errorf("--output: %w", err)
		}
		main = f
	}
	var list []render.AuditWriter
	switch o.format {
	case "jsonl":
		list = append(list, render.NewAuditJSONL(main))
	case "json":
		list = append(list, render.NewAuditJSON(main))
	default:
		list = append(list, render.NewAuditTable(main, cli.Terminal(main)))
	}
	for _, name := range o.reports {
		f, err := files.Create(name)
		if err != nil {
			return nil, fmt.Errorf("--report: %w", err)
		}
		if strings.EqualFold(filepath.Ext(name), ".md") {
			list = append(list, render.NewAuditMarkdown(f))
		} else {
			list = append(list, render.NewAuditHTML(f))
		}
	}
	return render.NewAuditOutput(redactor, list...), nil
}

// auditGate says which audits end the command with its own exit code.
type auditGate struct {
	words    []string           // of open.AuditFailures
	under    float64            // the score
	criteria map[string]float64 // those of criteria
}

// parseAuditGate reads --fail-on and --fail-under; all faults come at once.
func parseAuditGate(failOn, failUnder []string) (*auditGate, error) {
	g := &auditGate{criteria: make(map[string]float64)}
	var faults []error
	for _, word := range failOn {
		word = strings.TrimSpace(word)
		if !slices.Contains(open.AuditFailures, word) {
			faults = append(faults, fmt.Errorf("--fail-on %q: use %s", word, cli.OrList(open.AuditFailures)))
		}
		g.words = append(g.words, word)
	}
	for _, word := range failUnder {
		criterion, figure, of := strings.Cut(strings.TrimSpace(word), "=")
		if !of {
			figure = criterion
		}
		score, err := strconv.ParseFloat(figure, 64)
		if err != nil || !(score >= 0 && score <= 5) { // NaN too
			faults = append(faults, fmt.Errorf("--fail-under %q: use a score from 0 to 5, or CRITERION=SCORE", word))
		}
		if of {
			g.criteria[criterion] = max(score, g.criteria[criterion])
		} else {
			g.under = max(score, g.under)
		}
	}
	return g, errors.Join(faults...)
}

// check reports criteria that the rubric does not have.
func (g *auditGate) check(rubric *audit.Rubric) error {
	var faults []error
	var known []string
	for i := range rubric.Criteria {
		known = append(known, rubric.Criteria[i].ID)
	}
	for _, id := range slices.Sorted(maps.Keys(g.criteria)) {
		if !slices.Contains(known, id) {
			faults = append(faults, fmt.Errorf("--fail-under: the rubric has no criterion %q: use %s", id, cli.OrList(known)))
		}
	}
	return errors.Join(faults...)
}

// fails says whether an audit is one that the gate stops.
func (g *auditGate) fails(a *trial.Audit) bool {
	if a.GlobalScore < g.under || slices.ContainsFunc(g.words, func(word string) bool { return open.AuditFails(a, word) }) {
		return true
	}
	return slices.ContainsFunc(a.Results, func(r trial.AuditResult) bool {
		return float64(r.NumericScore) < g.criteria[r.CriterionID]
	})
}
