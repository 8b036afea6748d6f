package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/docket/report"
)

// auditOptions are the flags of `audit`.
type auditOptions struct {
	rubric, pipeline string
	modules, cache   string
	format, output   string
	reports, redact  []string
	documents        []string
	workers          int
	failUnder        float64
}

func newAudit(s stdio) *cobra.Command {
	o := &auditOptions{}
	cmd := &cobra.Command{
		Use:   "audit FILE...|-",
		Short: "Audit opinions against a rubric",
		Long: `Audit opinions against a rubric. A file is one opinion as plain text, one as a JSON
object, or many as JSON lines, with the fields text, case_id, court_name, metadata,
evidence and documents, of which only text must be there. The judges of the rubric are
modules; how their opinions become a score is in docs/audit.md.

Exit codes: 0 done; 1 something failed while running; 2 the command line or an input is
wrong (the rest was still audited); 3 done, and a score is below --fail-under.`,
		Example: `  shadowcourt audit examples/audit/opinion.txt --document examples/audit/log.txt
  shadowcourt audit examples/audit/opinions.jsonl --format jsonl --report audit.html`,
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), s, args) },
	}
	f := cmd.Flags()
	f.StringVar(&o.rubric, "rubric", shippedRubric, "rubric file, or the name of a shipped one")
	f.StringVar(&o.pipeline, "pipeline", shippedAudit, "pipeline file, or the name of a shipped one")
	f.StringArrayVar(&o.documents, "document", nil, "a document that every opinion is held against; may be repeated")
	f.StringVar(&o.modules, "modules", "", "folder with NAME.wasm files of judges; those that it does not have are the embedded ones")
	f.StringVar(&o.cache, "cache", defaultCache(), "folder for compiled modules, or none")
	f.StringVar(&o.format, "format", "table", "table, json or jsonl")
	f.StringVar(&o.output, "output", "", "file for the audits (default: standard output)")
	f.StringArrayVar(&o.reports, "report", nil, "also write a report, FILE.html or FILE.md; may be repeated")
	f.StringArrayVar(&o.redact, "redact", nil, "regular expression whose matches are blacked out in every output; may be repeated")
	f.IntVar(&o.workers, "workers", 0, "audits at once (default: one for each processor)")
	f.Float64Var(&o.failUnder, "fail-under", 0, "exit with 3 if a score is below this one, 0 to 5")
	return cmd
}

// check holds the flags against what they may be; all faults come at once.
func (o *auditOptions) check(args []string) (*docket.Redactor, error) {
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
	if !(o.failUnder >= 0 && o.failUnder <= 5) { // NaN too
		faults = append(faults, fmt.Errorf("--fail-under %v: use a score from 0 to 5", o.failUnder))
	}
	redactor, err := docket.NewRedactor(o.redact)
	if err != nil {
		faults = append(faults, fmt.Errorf("--redact: %w", err))
	}
	return redactor, errors.Join(append(faults, o.checkFiles(args))...)
}

// checkFiles refuses to write over what is read, and two outputs to one file.
func (o *auditOptions) checkFiles(args []string) error {
	var faults []error
	outputs := slices.Clone(o.reports)
	if o.output != "" {
		outputs = append(outputs, o.output)
	}
	inputs := slices.Concat(args, o.documents, []string{o.rubric, o.pipeline})
	for i, out := range outputs {
		for _, in := range inputs {
			if in != "-" && isFile(out) && sameFile(out, in) {
				faults = append(faults, fmt.Errorf("%q would be written over, and is read", out))
			}
		}
		for _, other := range outputs[:i] {
			if sameFile(other, out) {
				faults = append(faults, fmt.Errorf("two outputs are the same file, %q", out))
			}
		}
	}
	return errors.Join(faults...)
}

// run carries out `audit`.
func (o *auditOptions) run(ctx context.Context, s stdio, args []string) error {
	redactor, err := o.check(args)
	if err != nil {
		return inputError(err)
	}
	documents, err := o.readDocuments()
	if err != nil {
		return inputError(err)
	}
	p := newProgress(s.err)
	p.say("loading modules")
	a, err := openAuditor(ctx, s, auditorFlags{rubric: o.rubric, pipeline: o.pipeline, modules: o.modules, cache: o.cache})
	p.clear()
	if err != nil {
		return err
	}
	defer func() { _ = a.Close(context.WithoutCancel(ctx)) }()
	out, files, err := o.writers(s, redactor)
	if err != nil {
		return inputError(err)
	}
	r := &auditRun{options: o, stderr: s.err, progress: p, redactor: redactor}
	err = r.all(ctx, a, out, opinionsOf(s.in, args, documents))
	if err != nil {
		for _, f := range files {
			f.discard()
		}
		return err
	}
	errs := []error{out.Close()}
	for _, f := range files {
		errs = append(errs, f.commit())
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	return r.end(ctx)
}

// readDocuments reads the documents that all opinions are held against.
func (o *auditOptions) readDocuments() ([]abi.Document, error) {
	var list []abi.Document
	var faults []error
	for _, name := range o.documents {
		text, err := readText(name, abi.DefaultCaseDocumentBytes)
		if err != nil {
			faults = append(faults, fmt.Errorf("--document: %w", err))
			continue
		}
		base := filepath.Base(name)
		if slices.ContainsFunc(list, func(d abi.Document) bool { return d.Name == base }) {
			faults = append(faults, fmt.Errorf("--document %q: another document is called %q", name, base))
		}
		list = append(list, abi.Document{Name: base, Text: text})
	}
	return list, errors.Join(faults...)
}

// readText reads a text file of a size that is bounded. What is no UTF-8 is
// replaced, as in other inputs.
func readText(name string, most int64) (string, error) {
	f, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }()
	data, err := host.ReadBounded(f, name, most)
	return strings.ToValidUTF8(string(data), "\uFFFD"), err
}

// opinionsOf reads the opinions of all files in order. A file that can't be
// opened is an error in its place.
func opinionsOf(stdin io.Reader, args []string, documents []abi.Document) iter.Seq2[docket.OpinionEntry, error] {
	return func(yield func(docket.OpinionEntry, error) bool) {
		for _, name := range args {
			in, shown := stdin, "-"
			if name != "-" {
				f, err := os.Open(name)
				if err != nil {
					if !yield(docket.OpinionEntry{}, inputError(err)) {
						return
					}
					continue
				}
				in, shown = f, name
			}
			for entry, err := range docket.Opinions(shown, in) {
				entry.Documents = slices.Concat(entry.Documents, documents)
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

// writers opens every output that the flags ask for.
func (o *auditOptions) writers(s stdio, redactor *docket.Redactor) (docket.AuditWriter, []*outFile, error) {
	var files []*outFile
	create := func(flag, name string) (io.Writer, error) {
		f, err := createFile(name)
		if err != nil {
			for _, other := range files {
				other.discard()
			}
			return nil, fmt.Errorf("%s: %w", flag, err)
		}
		files = append(files, f)
		return f, nil
	}
	main := s.out
	if o.output != "" {
		var err error
		if main, err = create("--output", o.output); err != nil {
			return nil, nil, err
		}
	}
	var list []docket.AuditWriter
	switch o.format {
	case "jsonl":
		list = append(list, docket.NewAuditJSONL(main))
	case "json":
		list = append(list, docket.NewAuditJSON(main))
	default:
		list = append(list, docket.NewAuditTable(main, terminal(main)))
	}
	for _, name := range o.reports {
		f, err := create("--report", name)
		if err != nil {
			return nil, nil, err
		}
		if strings.EqualFold(filepath.Ext(name), ".md") {
			list = append(list, report.NewAuditMarkdown(f, report.Options{}))
		} else {
			list = append(list, report.NewAuditHTML(f, report.Options{}))
		}
	}
	return docket.NewAuditOutput(redactor, list...), files, nil
}

// auditRun is one run over opinions.
type auditRun struct {
	options  *auditOptions
	stderr   fmtWriter
	progress *progress
	redactor *docket.Redactor

	audited, faults int
	below           bool
}

// all audits every opinion and hands the audits out.
func (r *auditRun) all(ctx context.Context, a *host.Auditor, out docket.AuditWriter, entries iter.Seq2[docket.OpinionEntry, error]) error {
	for one := range a.AuditAll(ctx, entries, r.options.workers) {
		if one.Err != nil && ctx.Err() != nil {
			break
		}
		if one.Err != nil {
			r.faults++
			r.progress.clear()
			fmt.Fprintln(r.stderr, inertBlock(r.redactor.Text(one.Err.Error())))
			continue
		}
		r.audited++
		r.below = r.below || one.Audit.GlobalScore < r.options.failUnder
		if err := out.Write(one.Audit); err != nil {
			return err
		}
		r.progress.tried(r.audited, r.faults)
	}
	return nil
}

// end gives the exit code.
func (r *auditRun) end(ctx context.Context) error {
	r.progress.clear()
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("interrupted; %s audited and written", count(r.audited, "opinion was", "opinions were"))
	case r.faults > 0:
		return inputError(fmt.Errorf("%s could not be audited; %s audited", count(r.faults, "opinion", "opinions"), count(r.audited, "opinion was", "opinions were")))
	case r.below:
		return &exitError{code: exitMatched}
	}
	return nil
}
