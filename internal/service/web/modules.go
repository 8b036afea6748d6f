package web

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/service/store"
)

// Generations on the page of modules, and flips of a candidate.
const (
	mostGenerations = 100
	mostFlips       = 100
)

// generationView is a generation in the list, or on its page.
type generationView struct {
	store.Generation
	Href string
	// Rollback says that it is older than the current one, Candidate that it has a court that is tried beside.
	Rollback, Candidate bool
	Trials              int
	Digests             []part
	// Changes say in which parts it differs from its parent.
	Changes []change
	Flips   []flipView
	// ToRight and FromRight count the flips whose truth is known.
	ToRight, FromRight int
}

// part is a module, pipeline, profile or rubric. From is where a module came from that a registry has.
type part struct {
	Kind, Name, Digest string
	From               *store.Reference
}

// Line is the line of the policy that accepted it, without the policy's digest.
func (p *part) Line() string {
	line, _, _ := strings.Cut(p.From.Policy, " ")
	return line
}

// change is a part that differs; a digest is empty where there is none.
type change struct{ Kind, Name, Before, After string }

// flipView is a case that a candidate ended otherwise, with what both courts say of it.
type flipView struct {
	Row        entryView
	Status     trial.Status
	Candidate  labelView
	Confidence float64
	// ToRight and FromRight say what became of a known answer.
	ToRight, FromRight bool
}

// modulesView is the page of modules.
type modulesView struct {
	Current     int64
	Generations []generationView
	Now         *generationView // the current one
	Unaccepted  string          // why the trust policy does not accept the current one
}

func generationPath(id int64) string { return "/modules/" + strconv.FormatInt(id, 10) }

func (s *site) modulesView(ctx context.Context) (*modulesView, error) {
	current, err := s.Store.CurrentGeneration(ctx)
	if err != nil {
		return nil, err
	}
	rows, err := s.Store.Generations(ctx, 0, mostGenerations)
	if err != nil {
		return nil, err
	}
	tried, err := s.Store.TriedBy(ctx)
	if err != nil {
		return nil, err
	}
	v := &modulesView{Current: current, Unaccepted: s.UnacceptedNow(current), Generations: make([]generationView, len(rows))}
	digests := map[int64][]part{}
	for i := range rows {
		digests[rows[i].ID] = partsOf(&rows[i].Parts)
	}
	for i := range rows {
		g := &v.Generations[i]
		*g = generationView{
			Generation: rows[i], Href: generationPath(rows[i].ID), Rollback: rows[i].ID < current, Candidate: len(rows[i].Canary) > 0,
			Digests: digests[rows[i].ID], Trials: tried[rows[i].ID],
		}
		if before := digests[g.Parent]; before != nil {
			g.Changes = changes(before, g.Digests)
		}
		if g.Candidate {
			if err := s.flips(ctx, g); err != nil {
				return nil, err
			}
		}
		if g.Current {
			v.Now = g
		}
	}
	return v, nil
}

func partsOf(p *store.Parts) []part {
	list := []part{}
	for _, kind := range []struct {
		name       string
		parts      map[string]string
		references map[string]store.Reference
	}{{"module", p.Modules, p.References}, {"canary", p.Canary, p.CanaryReferences}, {"file", p.Files, nil}} {
		for _, name := range slices.Sorted(maps.Keys(kind.parts)) {
			one := part{Kind: kind.name, Name: name, Digest: kind.parts[name]}
			if r, ok := kind.references[name]; ok {
				one.From = &r
			}
			list = append(list, one)
		}
	}
	return list
}

// changes are the parts that differ, those that were removed last.
func changes(before, after []part) []change {
	digestIn := func(list []part, p part) string {
		i := slices.IndexFunc(list, func(q part) bool { return q.Kind == p.Kind && q.Name == p.Name })
		if i < 0 {
			return ""
		}
		return list[i].Digest
	}
	var list []change
	for _, p := range after {
		if was := digestIn(before, p); was != p.Digest {
			list = append(list, change{p.Kind, p.Name, was, p.Digest})
		}
	}
	for _, p := range before {
		if digestIn(after, p) == "" {
			list = append(list, change{p.Kind, p.Name, p.Digest, ""})
		}
	}
	return list
}

// flips reads the cases that the candidate of a generation ended otherwise.
func (s *site) flips(ctx context.Context, g *generationView) error {
	rows, err := s.Store.Entries(ctx, store.EntryFilter{Generation: g.ID, Flipped: true, Limit: mostFlips})
	if err != nil {
		return err
	}
	entries := s.entries(ctx, rows)
	for i := range entries {
		row, candidate := entries[i], &rows[i].Beside
		f := flipView{Row: row, Status: candidate.Status, Candidate: labelOf(row.Labels, candidate.Label), Confidence: candidate.Confidence}
		if row.Truth != "" {
			f.ToRight = candidate.Label == row.Truth && row.Label != row.Truth
			f.FromRight = row.Label == row.Truth && candidate.Label != row.Truth
		}
		g.ToRight, g.FromRight = g.ToRight+one(f.ToRight), g.FromRight+one(f.FromRight)
		g.Flips = append(g.Flips, f)
	}
	return err
}

func one(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

func (s *site) modules(w http.ResponseWriter, r *http.Request) error {
	v, err := s.modulesView(r.Context())
	if err != nil {
		return err
	}
	return s.show(w, r, http.StatusOK, &view{Page: "modules", Section: "modules", Title: "Modules", Live: -1, Data: v})
}

// oneGeneration finds the generation in the path.
func (s *site) oneGeneration(r *http.Request) (*generationView, *modulesView, error) {
	id, err := number(r)
	if err != nil {
		return nil, nil, err
	}
	v, err := s.modulesView(r.Context())
	if err != nil {
		return nil, nil, err
	}
	i := slices.IndexFunc(v.Generations, func(g generationView) bool { return g.ID == id })
	if i < 0 {
		return nil, nil, store.ErrNotFound
	}
	return &v.Generations[i], v, nil
}

func (s *site) generation(w http.ResponseWriter, r *http.Request) error {
	g, _, err := s.oneGeneration(r)
	if err != nil {
		return err
	}
	return s.show(w, r, http.StatusOK, &view{Page: "generation", Section: "modules", Title: "Generation " + strconv.FormatInt(g.ID, 10), Data: g})
}

// confirm asks before a generation becomes current.
func (s *site) confirm(w http.ResponseWriter, r *http.Request) error {
	g, all, err := s.oneGeneration(r)
	if err != nil {
		return err
	}
	title := "Swap to generation " + strconv.FormatInt(g.ID, 10)
	if g.Rollback {
		title = "Roll back to generation " + strconv.FormatInt(g.ID, 10)
	}
	return s.show(w, r, http.StatusOK, &view{Page: "confirm", Section: "modules", Title: title, Data: struct {
		Title      string
		Generation *generationView
		All        *modulesView
	}{title, g, all}})
}

func (s *site) activate(w http.ResponseWriter, r *http.Request) error {
	return act(w, r, func(ctx context.Context, id int64) error { _, err := s.Activate(ctx, id); return err }, func(int64) string { return "/modules" })
}
