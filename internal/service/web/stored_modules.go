package web

import (
	"context"
	"maps"
	"slices"

	"github.com/shadowcourt/shadowcourt/internal/service/store"
)

// Generations on the page of modules, and flips of a candidate.
const (
	mostGenerations = 100
	mostFlips       = 100
)

func (b *stored) Modules(ctx context.Context) (*Modules, error) {
	current, err := b.sources.Store.CurrentGeneration(ctx)
	if err != nil {
		return nil, err
	}
	rows, err := b.sources.Store.Generations(ctx, 0, mostGenerations)
	if err != nil {
		return nil, err
	}
	failures, err := b.failures(ctx)
	if err != nil {
		return nil, err
	}
	tried, err := b.sources.Store.TriedBy(ctx)
	if err != nil {
		return nil, err
	}
	m := &Modules{Current: current}
	parts := map[int64]*store.Parts{}
	for i := range rows {
		parts[rows[i].ID] = &rows[i].Parts
	}
	for i := range rows {
		g := &rows[i]
		out := Generation{
			ID: g.ID, Parent: g.Parent, Note: g.Note, Author: g.Author, Created: g.Created, Current: g.ID == current, Share: g.Share,
			Candidate: len(g.Parts.Canary) > 0, Parts: partsOf(&g.Parts), Failure: failures[g.ID],
			Trials: tried[g.ID],
		}
		if before := parts[g.Parent]; before != nil {
			out.Changes = changes(partsOf(before), out.Parts)
		}
		if out.Candidate {
			if err := b.flips(ctx, &out); err != nil {
				return nil, err
			}
		}
		m.Generations = append(m.Generations, out)
	}
	if m.Latest, err = b.activation(ctx); err != nil {
		return nil, err
	}
	m.Workers, err = b.workers(ctx)
	return m, err
}

// failures are the reasons why generations did not become current the last time that somebody asked for them.
func (b *stored) failures(ctx context.Context) (map[int64]string, error) {
	list, err := b.sources.Store.Activations(ctx, mostGenerations)
	out := map[int64]string{}
	seen := map[int64]bool{}
	for i := range list {
		a := &list[i]
		if a.State == store.Rejected && !seen[a.Generation] {
			out[a.Generation] = a.Reason
		}
		seen[a.Generation] = true
	}
	return out, err
}

func partsOf(p *store.Parts) []Part {
	var list []Part
	for _, kind := range []struct {
		name  string
		parts map[string]string
	}{{"module", p.Modules}, {"canary", p.Canary}, {"file", p.Files}} {
		for _, name := range slices.Sorted(maps.Keys(kind.parts)) {
			list = append(list, Part{kind.name, name, kind.parts[name]})
		}
	}
	return list
}

// changes are the parts that differ, those that were removed last.
func changes(before, after []Part) []PartChange {
	digestIn := func(list []Part, p Part) string {
		i := slices.IndexFunc(list, func(q Part) bool { return q.Kind == p.Kind && q.Name == p.Name })
		if i < 0 {
			return ""
		}
		return list[i].Digest
	}
	var list []PartChange
	for _, p := range after {
		if was := digestIn(before, p); was != p.Digest {
			list = append(list, PartChange{p.Kind, p.Name, was, p.Digest})
		}
	}
	for _, p := range before {
		if digestIn(after, p) == "" {
			list = append(list, PartChange{p.Kind, p.Name, p.Digest, ""})
		}
	}
	return list
}

// flips reads the cases that the candidate of a generation ended otherwise.
func (b *stored) flips(ctx context.Context, g *Generation) error {
	rows, err := b.sources.Store.Entries(ctx, store.EntryFilter{Generation: g.ID, Flipped: true, Limit: mostFlips})
	if err != nil {
		return err
	}
	entries, err := b.entries(ctx, rows)
	for i := range entries {
		f := Flip{Entry: entries[i], Status: rows[i].Beside.Status, Label: rows[i].Beside.Label, Confidence: rows[i].Beside.Confidence}
		g.Flips = append(g.Flips, f)
		if truth := f.Entry.Truth; truth != "" {
			g.FlipsToRight += one(f.Label == truth && f.Entry.Label != truth)
			g.FlipsFromRight += one(f.Entry.Label == truth && f.Label != truth)
		}
	}
	return err
}

func (b *stored) workers(ctx context.Context) ([]Worker, error) {
	rows, err := b.sources.Store.Workers(ctx)
	list := make([]Worker, len(rows))
	for i := range rows {
		w := &rows[i]
		list[i] = Worker{ID: w.ID, Host: w.Machine, Version: w.Version, Started: w.Started, Seen: w.Seen, Running: w.Running}
	}
	return list, err
}
