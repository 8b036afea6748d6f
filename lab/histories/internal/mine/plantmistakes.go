package mine

import (
	"context"
	"slices"

	"github.com/shadowcourt/shadowcourt/abi/sourcefile"
	"github.com/shadowcourt/shadowcourt/host/lab/internal/history"
)

// mostMistakes is how many are planted on one change, and mostOfTable how many where a test has very many rows.
const (
	mostMistakes = 10
	mostOfTable  = 25
)

// plantMistakes plants mistakes in the product: one that both trees have while the change touches the files that the failure names, two
// that fail a test in two ways, and one that fails a few of many rows.
func (m *Miner) plantMistakes(ctx context.Context, p *pair) error {
	list, err := m.places(ctx, p, history.Plant{Name: defect})
	if err != nil {
		return err
	}
	type planted struct {
		history.Plant
		failure
	}
	before := map[string][]planted{}
	kept := map[wanted]bool{} // a change has one of each: cases shall differ
	most := mostMistakes
	if m.lacks(fewRows) && slices.ContainsFunc(sortedKeys(p.behind.passed), func(test string) bool { return manyRows(p.behind, test) }) {
		most = mostOfTable
	}
	for _, plant := range list[:min(most, len(list))] {
		head := with(p.head, plant)
		failures, o, err := m.fails(ctx, p, &head)
		if err != nil {
			return err
		}
		other := func(f failure) int {
			return slices.IndexFunc(before[f.report.Test], func(b planted) bool { return !sameFailure(&b.report, &f.report) })
		}
		for _, w := range []struct {
			wanted
			fits func(f failure) bool
			base func(f failure) history.Tree
		}{
			{fewRows, func(f failure) bool { return manyRows(o, f.report.Test) }, func(failure) history.Tree { return p.base }},
			{innocentFrame, func(f failure) bool { return names(&f.report, p.changed) }, func(failure) history.Tree { return with(p.base, plant) }},
			{otherOnBase, func(f failure) bool { return other(f) >= 0 }, func(f failure) history.Tree { return with(p.base, before[f.report.Test][other(f)].Plant) }},
		} {
			at := slices.IndexFunc(failures, w.fits)
			if at < 0 || kept[w.wanted] || !m.lacks(w.wanted) {
				continue
			}
			if kept[w.wanted], err = m.plant(ctx, w.wanted, failures[at], w.base(failures[at]), head, manyRuns); err != nil {
				return err
			}
		}
		for _, f := range failures {
			before[f.report.Test] = append(before[f.report.Test], planted{plant, f})
		}
		if !m.lacks(otherOnBase, innocentFrame, fewRows) {
			return nil
		}
	}
	return nil
}

// names says whether a report names a file among some.
func names(r *history.Report, files []string) bool {
	entry, err := r.Entry()
	if err != nil {
		return false
	}
	for i := range entry.Case.Documents {
		for p := range sourcefile.Places(entry.Case.Documents[i].Text) {
			if slices.ContainsFunc(files, func(f string) bool { return sourcefile.Same(f, p.Path) }) {
				return true
			}
		}
	}
	return false
}
