package measure

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/cli"
	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/render"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
)

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
				cli.Count(replaced, "byte is", "bytes are"), was(replaced))
		}
	}
	return common, errors.Join(faults...)
}

func was(n int) string {
	if n == 1 {
		return "was"
	}
	return "were"
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

// auditRun is one run over opinions.
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

func newAuditRun(o *auditOptions, stderr io.Writer, p *cli.Progress, redactor *render.Redactor) *auditRun {
	return &auditRun{options: o, stderr: stderr, progress: p, redactor: redactor, failed: make(map[string]*failedBranch)}
}

// all audits every opinion and hands the audits out.
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
		if r.failed[e.Persona] == nil {
			r.failed[e.Persona] = &failedBranch{first: e}
		}
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

// warn tells of documents that were cut, and of collectors and judges that failed
// wherever they were asked: that is no fault of the opinions.
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
