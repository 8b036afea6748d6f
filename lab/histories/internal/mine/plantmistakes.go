package mine

import (
	"context"
	"slices"

	"github.com/shadowcourt/shadowcourt/abi/sourcefile"
	"github.com/shadowcourt/shadowcourt/host/lab/histories/internal/history"
)

// mostMistakes is how many are planted on one change.
const mostMistakes = 10

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
	for _, plant := range list[:min(mostMistakes, len(list))] {
		if !m.lacks(otherOnBase, innocentFrame, fewRows) {
			return nil
		}
		head := with(p.head, plant)
		failures, o, err := m.fails(ctx, p, &head)
		if err != nil {
			return err
		}
		for _, f := range failures {
			if !m.lacks(fewRows) || !manyRows(o, f.report.Test) {
				continue
			}
			if _, err := m.plant(ctx, fewRows, f, p.base, head, manyRuns); err != nil {
				return err
			}
			break
		}
		for _, f := range failures {
			if !m.lacks(innocentFrame) || !names(&f.report, p.changed) {
				continue
			}
			if _, err := m.plant(ctx, innocentFrame, f, with(p.base, plant), head, manyRuns); err != nil {
				return err
			}
			break
		}
		for _, f := range failures {
			i := slices.IndexFunc(before[f.report.Test], func(other planted) bool { return !sameFailure(&other.report, &f.report) })
			if !m.lacks(otherOnBase) || i < 0 {
				continue
			}
			if _, err := m.plant(ctx, otherOnBase, f, with(p.base, before[f.report.Test][i].Plant), head, manyRuns); err != nil {
				return err
			}
			break
		}
		for _, f := range failures {
			before[f.report.Test] = append(before[f.report.Test], planted{plant, f})
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
