package web

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"

	"github.com/shadowcourt/shadowcourt/host/pipeline"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/render"
	"github.com/shadowcourt/shadowcourt/internal/service/refit"
	"github.com/shadowcourt/shadowcourt/internal/service/store"
)

// Sources are what a Backend is made from.
type Sources struct {
	Store *store.Store
	// API serves the operations of package api. The identity is in the context of a request.
	API http.Handler
	// Graph is the graph of the court in a generation, to draw trials on. Nil: no drawings.
	Graph func(ctx context.Context, generation int64) (*pipeline.Graph, error)
	// Refit learns a profile from corrections (see package refit), telling progress. Nil: the server can't refit.
	Refit func(ctx context.Context, progress func(step string)) (*refit.Proposal, error)
	// Background runs what goes on after its request, with a context that ends with the process. Optional.
	Background func(ctx context.Context, do func(context.Context))
}

// NewBackend gives the Backend over a store. It reads the store itself; what it changes goes through the handlers of the API in
// the name of whoever asks, so that checks, limits and the audit log are the same.
func NewBackend(sources Sources) Backend { return &stored{sources: sources} }

type stored struct{ sources Sources }

// Entries on a page.
const pageSize = 50

// errCursor says that an address was not made by a page.
var errCursor = &UserError{"the cursor in the address is none that a page gave: begin at the first page"}

// after reads the cursor of a list of entries: the last one of the page before.
func after(cursor string) (store.TrialID, error) {
	if cursor == "" {
		return store.TrialID{}, nil
	}
	id, err := store.ParseTrialID(cursor)
	if err != nil {
		return store.TrialID{}, errCursor
	}
	return id, nil
}

// found turns the store's errors into those of a Backend.
func found(err error) error {
	if errors.Is(err, store.ErrNotFound) {
		return ErrNotFound
	}
	return err
}

func (b *stored) Inbox(ctx context.Context, q InboxQuery) (*Inbox, error) {
	if q.Cursor != "" && !store.IsInboxCursor(q.Cursor) {
		return nil, errCursor
	}
	f := inboxFilter(&q)
	f.Limit, f.After = pageSize, q.Cursor
	rows, err := b.sources.Store.Inbox(ctx, f)
	if err != nil {
		return nil, err
	}
	box := &Inbox{OpenGroups: rows.Total, OpenCases: rows.Entries, Next: rows.Next}
	samples := make([]store.Entry, len(rows.Groups))
	for i := range rows.Groups {
		samples[i] = rows.Groups[i].Sample
	}
	leads, err := b.entries(ctx, samples)
	if err != nil {
		return nil, err
	}
	for i := range rows.Groups {
		g := &rows.Groups[i]
		box.Groups = append(box.Groups, Group{Key: g.Key, Lead: leads[i], Cases: g.Cases, Dockets: g.Dockets, Oldest: g.First, Newest: g.Latest})
	}
	if box.Repositories, err = b.sources.Store.Repositories(ctx); err != nil {
		return nil, err
	}
	box.Labels, err = b.inboxLabels(ctx, box.Groups)
	return box, err
}

// inboxLabels are the labels of all that is in the inbox, with the names that the groups of this page have for them.
func (b *stored) inboxLabels(ctx context.Context, groups []Group) ([]Label, error) {
	counts, err := b.sources.Store.OpenLabels(ctx)
	if err != nil {
		return nil, err
	}
	var labels []Label
	for _, c := range counts {
		if c.Label == "" {
			continue
		}
		l := Label{ID: c.Label}
		for i := range groups {
			for _, known := range groups[i].Lead.Labels {
				if known.ID == l.ID && l.Name == "" {
					l.Name = known.Name
				}
			}
		}
		labels = append(labels, l)
	}
	return labels, nil
}

func inboxFilter(q *InboxQuery) store.InboxFilter {
	f := store.InboxFilter{Repository: q.Repository, Label: q.Label, Since: q.Since, Text: q.Text}
	if q.Status != "" {
		f.Statuses = []trial.Status{trial.Status(q.Status)}
	}
	return f
}

func (b *stored) Members(ctx context.Context, group, cursor string) (*Entries, error) {
	all := store.InboxFilter{}
	f := all.Entries(group)
	return b.list(ctx, f, cursor)
}

// list reads a page of entries.
func (b *stored) list(ctx context.Context, f store.EntryFilter, cursor string) (*Entries, error) {
	var err error
	if f.After, err = after(cursor); err != nil {
		return nil, err
	}
	f.Limit = pageSize
	rows, err := b.sources.Store.Entries(ctx, f)
	if err != nil {
		return nil, err
	}
	entries, err := b.entries(ctx, rows)
	list := &Entries{Entries: entries}
	if len(rows) == pageSize {
		list.Next = rows[pageSize-1].ID.String()
	}
	return list, err
}

// entries adds to rows what their dockets say of them.
func (b *stored) entries(ctx context.Context, rows []store.Entry) ([]Entry, error) {
	ids := make([]store.TrialID, len(rows))
	for i := range rows {
		ids[i] = rows[i].ID
	}
	about, err := b.sources.Store.About(ctx, ids)
	if err != nil {
		return nil, err
	}
	list := make([]Entry, len(rows))
	named := b.namer(ctx)
	for i := range rows {
		a := about[rows[i].ID]
		list[i] = entryOf(&rows[i], &a, named(rows[i].Generation))
	}
	return list, nil
}

// namer gives the names that the court of a generation has for labels. Cases that wait have none yet, and without a graph there are none.
func (b *stored) namer(ctx context.Context) func(generation int64) map[string]string {
	known := map[int64]map[string]string{0: nil}
	return func(generation int64) map[string]string {
		names, ok := known[generation]
		if ok || b.sources.Graph == nil {
			return names
		}
		if graph, err := b.sources.Graph(ctx, generation); err == nil {
			names = map[string]string{}
			for _, l := range graph.Definition().Labels {
				names[l.ID] = l.Name
			}
		}
		known[generation] = names
		return names
	}
}

// entryOf is what lists show of an entry. The docket's own names of labels come before those of the court.
func entryOf(e *store.Entry, a *store.About, court map[string]string) Entry {
	out := Entry{
		ID: EntryID(e.ID), CaseID: e.CaseID, About: e.Subject, DocketName: a.DocketName, Repository: e.Repository, Created: e.Created,
		Members: e.Members + 1, Tried: e.Status != "", Status: e.Status, Label: e.Label, Confidence: e.Confidence,
		Light: e.Light.Classification, LightConfidence: e.Light.Confidence, Truth: a.Truth, Fault: e.Fault,
	}
	if e.About != e.Subject && e.About != e.CaseID {
		out.Message = e.About
	}
	if e.Correction != 0 {
		out.Truth, out.Corrected = e.Corrected, true
	}
	out.Labels = make([]Label, len(e.Labels))
	for i, l := range e.Labels {
		out.Labels[i] = Label{l, cmp.Or(a.LabelNames[l], court[l])}
	}
	return out
}

func (b *stored) Dockets(ctx context.Context, q DocketsQuery) (*Dockets, error) {
	f := store.DocketFilter{Text: q.Text, Repository: q.Repository, State: store.State(q.State), Limit: pageSize}
	if q.Cursor != "" {
		if f.Before = int64(atoi(q.Cursor)); f.Before < 1 {
			return nil, errCursor
		}
	}
	rows, err := b.sources.Store.Dockets(ctx, f)
	if err != nil {
		return nil, err
	}
	ids := make([]int64, len(rows))
	for i := range rows {
		ids[i] = rows[i].ID
	}
	counts, err := b.sources.Store.CountsOf(ctx, ids...)
	if err != nil {
		return nil, err
	}
	list := &Dockets{}
	for i := range rows {
		list.Dockets = append(list.Dockets, *docketOf(&rows[i], counts[rows[i].ID]))
	}
	if len(rows) == pageSize {
		list.Next = strconv.FormatInt(rows[len(rows)-1].ID, 10)
	}
	list.Repositories, err = b.sources.Store.Repositories(ctx)
	return list, err
}

// docketOf is what pages show of a docket and its counts.
func docketOf(d *store.Docket, c *store.Counts) *Docket {
	return &Docket{
		ID: d.ID, Name: d.Name, Repository: d.Repository, Revision: d.Revision, Format: d.Format, State: string(d.State), Submitter: d.Submitter,
		Cases: d.Cases, Tried: d.Tried, Faults: d.Faults, Created: d.Created, Finished: d.Finished, Pinned: d.Generation,
		ByStatus: c.ByStatus, OpenBy: c.OpenBy, Open: c.Open, Known: c.Known, Right: c.Right, LightRight: c.LightRight,
	}
}

func (b *stored) Docket(ctx context.Context, id int64) (*Docket, error) {
	d, err := b.sources.Store.Docket(ctx, id)
	if err != nil {
		return nil, found(err)
	}
	counts, err := b.sources.Store.CountsOf(ctx, id)
	if err != nil {
		return nil, err
	}
	out := docketOf(&d, counts[id])
	_, names, err := b.sources.Store.LabelsOf(ctx, id)
	for _, a := range counts[id].ByLabel {
		if a.Label != "" {
			out.ByLabel = append(out.ByLabel, LabelCount{Label{a.Label, names[a.Label]}, a.Count})
		}
	}
	return out, err
}

func one(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

func (b *stored) Entries(ctx context.Context, docket int64, q EntriesQuery) (*Entries, error) {
	f := store.EntryFilter{Docket: docket, Text: q.Text}
	if q.Status != "" {
		f.Statuses = []trial.Status{trial.Status(q.Status)}
	}
	return b.list(ctx, f, q.Cursor)
}

func (b *stored) Case(ctx context.Context, id EntryID) (*Case, error) {
	t, err := b.sources.Store.Trial(ctx, store.TrialID(id))
	if err != nil {
		return nil, found(err)
	}
	d, err := b.sources.Store.Docket(ctx, id.Docket)
	if err != nil {
		return nil, found(err)
	}
	about, err := b.sources.Store.About(ctx, []store.TrialID{t.ID})
	if err != nil {
		return nil, err
	}
	a := about[t.ID]
	c := &Case{Entry: entryOf(&t.Entry, &a, b.namer(ctx)(t.Generation)), Revision: d.Revision, Generation: t.Generation, Group: t.Group}
	if t.Trial != nil {
		c.Case = t.Trial.Case
		c.About = t.Trial.About()
	}
	if t.Status == "" {
		c.Waiting = string(d.State)
	} else {
		c.Trial = t.Trial
		b.draw(ctx, c)
	}
	if err := b.history(ctx, c); err != nil {
		return nil, err
	}
	c.GroupCases, err = b.sources.Store.InGroup(ctx, c.Group)
	return c, err
}

// draw draws the trial on the graph of its generation. A generation without one is no reason to show no trial.
func (b *stored) draw(ctx context.Context, c *Case) {
	if b.sources.Graph == nil || c.Trial.Drawing != "" {
		return
	}
	if graph, err := b.sources.Graph(ctx, c.Generation); err == nil && graph != nil {
		c.Trial.Drawing = render.Draw(graph, c.Trial)
	}
}

// history reads the corrections of a case, the first one first, each with the label before it.
func (b *stored) history(ctx context.Context, c *Case) error {
	list, err := b.sources.Store.CorrectionsOf(ctx, store.TrialID(c.ID))
	if err != nil {
		return err
	}
	slices.Reverse(list)
	before, inForce := c.Label, -1
	for i, r := range list {
		c.History = append(c.History, Correction{ID: r.ID, Label: r.Label, Before: before, Author: r.Author, Time: r.Created, Undone: !r.Undone.IsZero()})
		if r.Undone.IsZero() {
			if inForce >= 0 {
				c.History[inForce].Superseded = true
			}
			before, inForce = r.Label, i
		}
	}
	return nil
}

func (b *stored) Changes(ctx context.Context) <-chan Change {
	out := make(chan Change)
	events := b.sources.Store.Subscribe(ctx)
	go func() {
		defer close(out)
		for e := range events {
			c := Change{}
			switch e.Kind {
			case store.EventDocket:
				c.Docket = e.ID
			case store.EventGeneration:
				c.Modules = true
			case store.EventCorrection:
				c.Corrections = true
			case store.EventResync:
				c = Change{Modules: true, Corrections: true}
			}
			select {
			case out <- c:
			case <-ctx.Done():
				return
			}
		}
	}()
	return out
}
