package measure

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/cli"
	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/open"
	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/audit"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/disk"
	"github.com/shadowcourt/shadowcourt/internal/render"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
)

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

func (o *auditOptions) check(args []string) (*render.Redactor, error) {
	faults := []error{
		cli.Fault(len(args) == 0, "audit takes the files of opinions, or - for the standard input; see `shadowcourt audit --help`"),
		cli.OneOf("--format", o.format, "table", "json", "jsonl"),
	}
	for _, name := range o.reports {
		ext := strings.ToLower(filepath.Ext(name))
		faults = append(faults, cli.Fault(ext != ".html" && ext != ".md", "--report %q: use a name that ends in .html or .md", name))
	}
	gate, err := parseAuditGate(o.failOn, o.failUnder)
	o.gate, faults = gate, append(faults, cli.Fault(o.workers < 0, "--workers %d: use 0 or more", o.workers), err)
	redactor, err := render.NewRedactor(o.redact)
	return redactor, errors.Join(append(faults, cli.Fault(err != nil, "--redact: %w", err), o.checkFiles(args))...)
}

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
	r := &auditRun{options: o, stderr: s.Err, progress: p, redactor: redactor, failed: map[string]*failedBranch{}}
	if err := r.all(ctx, a, out, opinionsOf(s.In, args, documents)); err != nil {
		files.Discard()
		return err
	}
	if err := errors.Join(out.Close(), files.Commit()); err != nil {
		return err
	}
	return r.end(ctx)
}

func (o *auditOptions) writers(s cli.Streams, redactor *render.Redactor, files *disk.Set) (render.AuditWriter, error) {
	main := s.Out
	if o.output != "" {
		f, err := files.Create(o.output)
		if err != nil {
			return nil, fmt.Errorf("--output: %w", err)
		}
		main = f
	}
	list := []render.AuditWriter{render.NewAudits(main, o.format, cli.Terminal(main))}
	for _, name := range o.reports {
		f, err := files.Create(name)
		if err != nil {
			return nil, fmt.Errorf("--report: %w", err)
		}
		list = append(list, render.NewAuditReport(f, strings.EqualFold(filepath.Ext(name), ".md")))
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
		g.words, faults = append(g.words, word), append(faults, cli.OneOf("--fail-on", word, open.AuditFailures...))
	}
	for _, word := range failUnder {
		criterion, figure, of := strings.Cut(strings.TrimSpace(word), "=")
		if !of {
			figure = criterion
		}
		score, err := strconv.ParseFloat(figure, 64)
		wrong := err != nil || !(score >= 0 && score <= 5) // NaN too
		faults = append(faults, cli.Fault(wrong, "--fail-under %q: use a score from 0 to 5, or CRITERION=SCORE", word))
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
		faults = append(faults, cli.Fault(!slices.Contains(known, id), "--fail-under: the rubric has no criterion %q: use %s", id, cli.OrList(known)))
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

// commonDocuments are those that all opinions are checked against.
type commonDocuments struct {
	documents []abi.Document
	cuts      []trial.DocumentCut
}

// readDocuments reads the files of --document, and warns of those that are not UTF-8 throughout.
func (o *auditOptions) readDocuments(stderr io.Writer, redactor *render.Redactor) (*commonDocuments, error) {
	common := &commonDocuments{}
	var faults []error
	for _, name := range o.documents {
		base := filepath.Base(name)
		if slices.ContainsFunc(common.documents, func(d abi.Document) bool { return d.Name == base }) {
			faults = append(faults, fmt.Errorf("--document %q: another document is called %q", name, base))
			continue
		}
		d, cut, replaced, err := readDocument(name)
		if err != nil {
			faults = append(faults, fmt.Errorf("--document: %w", err))
			continue
		}
		common.documents = append(common.documents, d)
		if cut != nil {
			common.cuts = append(common.cuts, *cut)
		}
		if replaced > 0 {
			fmt.Fprintf(stderr, "warning: --document %s: %s no UTF-8, and %s read as U+FFFD\n", sanitize.Line(redactor.Text(name)),
				cli.Count(replaced, "byte is", "bytes are"), cli.Plural(replaced, "was", "were"))
		}
	}
	return common, errors.Join(faults...)
}

// readDocument reads one file, as the document of the file's own name.
func readDocument(name string) (d abi.Document, cut *trial.DocumentCut, replaced int, err error) {
	f, err := os.Open(name)
	if err != nil {
		return d, nil, 0, err
	}
	defer func() { _ = f.Close() }()
	d, cut, replaced, err = docket.ReadDocument(name, f, abi.DefaultDocumentBytes)
	d.Name = filepath.Base(name)
	if cut != nil {
		cut.Name = d.Name
	}
	return d, cut, replaced, err
}

// opinionsOf reads the opinions of all files in order. A file that can't be opened is an error in its place.
func opinionsOf(stdin io.Reader, args []string, common *commonDocuments) iter.Seq2[docket.OpinionEntry, error] {
	return func(yield func(docket.OpinionEntry, error) bool) {
		for _, name := range args {
			in, shown := stdin, "-"
			if name != "-" {
				f, err := os.Open(name)
				if err != nil {
					if !yield(docket.OpinionEntry{}, cli.InputError(err)) {
						return
					}
					continue
				}
				in, shown = f, name
			}
			for entry, err := range docket.Opinions(shown, in) {
				entry.Documents = slices.Concat(entry.Documents, common.documents)
				entry.Cut = slices.Concat(entry.Cut, common.cuts)
				if !yield(entry, err) {
					return
				}
			}
			if f, ok := in.(*os.File); ok && name != "-" {
				_ = f.Close()
			}
		}
	}
}

type auditRun struct {
	options  *auditOptions
	stderr   io.Writer
	progress *cli.Progress
	redactor *render.Redactor

	audited, faults int
	matched         bool
	cuts            []trial.DocumentCut
	failed          map[string]*failedBranch
}

// failedBranch is a collector or a judge that failed.
type failedBranch struct {
	audits int
	first  trial.AuditError
}

func (r *auditRun) all(ctx context.Context, a *host.Auditor, out render.AuditWriter, entries iter.Seq2[docket.OpinionEntry, error]) error {
	for one := range a.AuditAll(ctx, entries, r.options.workers) {
		if one.Err != nil && ctx.Err() != nil {
			break
		}
		if one.Err != nil {
			r.faults++
			r.progress.Clear()
			fmt.Fprintln(r.stderr, sanitize.Block(r.redactor.Text(one.Err.Error())))
			continue
		}
		r.audited++
		r.note(one.Audit)
		if err := out.Write(one.Audit); err != nil {
			return err
		}
		r.progress.Tried(r.audited, r.faults)
	}
	return nil
}

// note keeps what the end says of all audits.
func (r *auditRun) note(a *trial.Audit) {
	r.matched = r.matched || r.options.gate.fails(a)
	for _, c := range a.CutDocuments {
		if !slices.Contains(r.cuts, c) {
			r.cuts = append(r.cuts, c)
		}
	}
	seen := make(map[string]bool)
	for _, e := range a.Errors {
		if seen[e.Persona] {
			continue
		}
		seen[e.Persona] = true
		r.failed[e.Persona] = cmp.Or(r.failed[e.Persona], &failedBranch{first: e})
		r.failed[e.Persona].audits++
	}
}

// end says what concerns all audits, and gives the exit code.
func (r *auditRun) end(ctx context.Context) error {
	r.progress.Clear()
	r.warn()
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("interrupted; %s audited and written", cli.Count(r.audited, "opinion was", "opinions were"))
	case r.faults > 0:
		return cli.InputError(fmt.Errorf("%s could not be audited; %s audited", cli.Count(r.faults, "opinion", "opinions"), cli.Count(r.audited, "opinion was", "opinions were")))
	case r.matched:
		return &cli.ExitError{Code: cli.ExitMatched}
	}
	return nil
}

// maxCutsTold is how many documents that were cut are named.
const maxCutsTold = 8

// warn tells of documents that were cut, and of collectors and judges that failed wherever they were asked: that is no fault of the opinions.
func (r *auditRun) warn() {
	warning := func(text string) { fmt.Fprintln(r.stderr, "warning: "+sanitize.Line(r.redactor.Text(text))) }
	for i, c := range r.cuts {
		if i == maxCutsTold {
			warning(cli.Count(len(r.cuts)-i, "more document was", "more documents were") + " cut")
			break
		}
		warning(c.String())
	}
	for _, who := range slices.Sorted(maps.Keys(r.failed)) {
		f := r.failed[who]
		if f.audits < r.audited {
			continue
		}
		every := "in the one audit"
		if f.audits > 1 {
			every = fmt.Sprintf("in every one of %d audits", f.audits)
		}
		warning(fmt.Sprintf("%s failed %s, which the scores suffer from: %s: %s", who, every, f.first.Cause, f.first.Detail))
	}
}
