package measure

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"slices"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/cli"
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

// readDocuments reads the files of --document, and warns of those that are not
// UTF-8 throughout.
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

// opinionsOf reads the opinions of all files in order. A file that can't be
// opened is an error in its place.
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
