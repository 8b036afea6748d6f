package mine

import (
	"context"

	"github.com/shadowcourt/shadowcourt/host/lab/histories/internal/history"
)

// dependencyFiles say which modules a module needs.
var dependencyFiles = []string{"go.mod", "go.sum"}

// moveBack takes the dependencies of an older commit, which no history has in this tree.
func (m *Miner) moveBack(ctx context.Context, p *pair) error {
	for _, far := range []int{10, 30, 80, 200, 400} {
		if p.at+far >= len(m.log) || !m.lacks(moved) {
			return nil
		}
		head := history.Tree{Start: p.id, Steps: []history.Step{{Take: m.log[p.at+far].id, Paths: dependencyFiles}}}
		commit, err := m.repository.Make(ctx, &head)
		if err != nil {
			return err
		}
		if same, err := m.repository.Git(ctx, "diff", "--name-only", p.id, commit, "--", dependencyFiles[0]); err != nil || same == "" {
			continue
		}
		failures, _, err := m.fails(ctx, p, &head)
		if err != nil {
			return err
		}
		if len(failures) == 0 {
			continue
		}
		f := failures[pick(p.id, uint32(len(failures)))]
		if kept, err := m.plant(ctx, moved, f, history.Tree{Start: p.id}, head, manyRuns); kept || err != nil {
			return err
		}
	}
	return nil
}
