package mine

import (
	"bytes"
	"context"
	"go/parser"
	"go/token"
	"maps"
	"path"
	"slices"

	"github.com/shadowcourt/shadowcourt/host/lab/internal/history"
)

// mostStates is how many are tried on one change.
const mostStates = 8

// plantStates plants files that change what the tests of a package share: a test that does, which runs before the others, and a file that
// nobody committed.
func (m *Miner) plantStates(ctx context.Context, p *pair) error {
	list, err := m.statesOf(ctx, p)
	if err != nil {
		return err
	}
	for _, place := range list[:min(mostStates, len(list))] {
		for _, w := range []wanted{byOrder, untrackedFile} {
			if !m.lacks(w) {
				continue
			}
			plant := history.Plant{Name: polluter, File: path.Join(p.unit, "aa_defaults_test.go"), Place: place}
			if w == untrackedFile {
				plant = history.Plant{Name: untracked, File: path.Join(p.unit, "local_test.go"), Place: place}
			}
			if kept, err := m.stateOf(ctx, p, w, plant); kept || err != nil {
				return err
			}
		}
	}
	return nil
}

// stateOf makes a case of a state that fails a test.
func (m *Miner) stateOf(ctx context.Context, p *pair, w wanted, plant history.Plant) (bool, error) {
	head := with(p.head, plant)
	failures, _, err := m.fails(ctx, p, &head)
	if err != nil || len(failures) == 0 {
		return false, err
	}
	f := failures[pick(p.id, uint32(len(failures)))]
	alone, err := m.runUnit(ctx, &head, p.unit, surroundings{only: f.report.Test})
	if err != nil || alone.passed[f.report.Test] != (w == byOrder) {
		return false, err
	}
	return m.plant(ctx, w, f, p.base, head, manyRuns)
}

// statesOf lists the places of states in a package: its variables, and what all packages have.
func (m *Miner) statesOf(ctx context.Context, p *pair) ([]string, error) {
	files, err := m.products(ctx, p)
	if err != nil {
		return nil, err
	}
	pack := ""
	list := slices.Sorted(maps.Keys(states))
	for _, name := range sortedKeys(files) {
		file, err := parser.ParseFile(token.NewFileSet(), "", files[name], parser.PackageClauseOnly)
		if err != nil || bytes.Contains(files[name], []byte("//go:build")) {
			continue
		}
		pack = file.Name.Name
		for _, v := range variablesIn(files[name]) {
			list = append(list, aVariable+v)
		}
	}
	for i := range list {
		list[i] = pack + "#" + list[i]
	}
	drawn(p.id).Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	return list, nil
}

func sortedKeys[T any](of map[string]T) []string { return slices.Sorted(maps.Keys(of)) }
