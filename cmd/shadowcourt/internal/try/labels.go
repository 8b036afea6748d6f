package try

import (
	"context"
	"fmt"
	"io"
	"iter"
	"slices"

	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
)

// watch notes which of the labels of --fail-on the cases have that pass by.
func (f *failOn) watch(entries iter.Seq2[docket.Entry, error]) iter.Seq2[docket.Entry, error] {
	f.begin()
	if len(f.labels) == 0 {
		return entries
	}
	return func(yield func(docket.Entry, error) bool) {
		for entry, err := range entries {
			if err == nil {
				f.see(entry.Case.Labels)
			}
			if !yield(entry, err) {
				return
			}
		}
	}
}

// begin begins with no case seen.
func (f *failOn) begin() { f.unknown = slices.Clone(f.labels) }

// see notes the labels of a case.
func (f *failOn) see(labels []string) {
	f.cases = true
	f.unknown = slices.DeleteFunc(f.unknown, func(label string) bool { return slices.Contains(labels, label) })
}

// warn tells of labels that no case has: whoever mistypes one has a gate that never closes.
func (f *failOn) warn(ctx context.Context, w io.Writer) {
	if !f.cases || ctx.Err() != nil {
		return // not all cases were read
	}
	for _, label := range f.unknown {
		fmt.Fprintf(w, "warning: --fail-on label:%s: no case has this label\n", sanitize.Line(label))
	}
}
