package try

import (
	"context"
	"fmt"
	"io"
	"iter"
	"slices"

	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/render/sanitize"
)

// watch notes which of the labels of --fail-on the cases have that pass by.
func (f *failOn) watch(entries iter.Seq2[docket.Entry, error]) iter.Seq2[docket.Entry, error] {
	f.unknown = slices.Clone(f.labels)
	if len(f.labels) == 0 {
		return entries
	}
	return func(yield func(docket.Entry, error) bool) {
		for entry, err := range entries {
			f.cases = f.cases || err == nil
			f.unknown = slices.DeleteFunc(f.unknown, func(label string) bool { return slices.Contains(entry.Case.Labels, label) })
			if !yield(entry, err) {
				return
			}
		}
	}
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
