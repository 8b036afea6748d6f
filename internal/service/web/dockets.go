package web

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/service/api"
	"github.com/shadowcourt/shadowcourt/internal/service/store"
)

// docketView is a docket in a list, or on its page.
type docketView struct {
	store.Docket
	*store.Counts
	Href string
	// Done is how many cases have ended, in percent; Running says whether more come.
	Done    int
	Running bool
	Bar     []barPart
}

// barPart is a part of the bar of statuses, in thousandths of its width.
type barPart struct {
	Status trial.Status
	// Open ones need a person, whatever their status.
	Open     bool
	Count    int
	From, To int
}

// Width of the part.
func (p barPart) Width() int { return p.To - p.From }

func docketPath(id int64) string { return "/dockets/" + strconv.FormatInt(id, 10) }

func newDocketView(d *store.Docket, counts *store.Counts) docketView {
	v := docketView{Docket: *d, Counts: counts, Href: docketPath(d.ID), Done: share(d.Tried+d.Faults, d.Cases), Running: !d.State.Ended()}
	at, counted := 0, 0
	all := max(d.Cases, 1)
	for _, status := range trial.Statuses() {
		open := counts.OpenBy[status]
		for _, part := range []barPart{{Status: status, Count: counts.ByStatus[status] - open}, {Status: status, Open: true, Count: open}} {
			if part.Count == 0 {
				continue
			}
			counted += part.Count
			part.From, part.To = at, counted*1000/all
			at = part.To
			v.Bar = append(v.Bar, part)
		}
	}
	return v
}

func (s *site) dockets(w http.ResponseWriter, r *http.Request) error {
	q, ctx := r.URL.Query(), r.Context()
	f := store.DocketFilter{Text: strings.TrimSpace(q.Get("q")), Repository: q.Get("repository"), State: store.State(q.Get("state")), Limit: pageSize}
	if cursor := q.Get("cursor"); cursor != "" {
		if f.Before = int64(atoi(cursor)); f.Before < 1 {
			return errCursor
		}
	}
	rows, err := s.Store.Dockets(ctx, f)
	if err != nil {
		return err
	}
	ids := make([]int64, len(rows))
	for i := range rows {
		ids[i] = rows[i].ID
	}
	counts, err := s.Store.CountsOf(ctx, ids...)
	if err != nil {
		return err
	}
	repositories, err := s.Store.Repositories(ctx)
	if err != nil {
		return err
	}
	next := ""
	if len(rows) == pageSize {
		next = strconv.FormatInt(ids[pageSize-1], 10)
	}
	states := []store.State{store.Queued, store.Running, store.Done, store.Failed, store.Cancelled}
	v := struct {
		listing
		Dockets []docketView
	}{
		listing: newListing(r, next, repositoryFilter(q, repositories), newFilter(q, "state", "State", "every state", texts(states)...)),
	}
	for i := range rows {
		v.Dockets = append(v.Dockets, newDocketView(&rows[i], counts[ids[i]]))
	}
	return s.show(w, r, http.StatusOK, &view{Page: "dockets", Section: "dockets", Title: "Dockets", Live: -1, Data: v})
}

func (s *site) docket(w http.ResponseWriter, r *http.Request) error {
	id, err := number(r)
	if err != nil {
		return err
	}
	q, ctx := r.URL.Query(), r.Context()
	d, err := s.Store.Docket(ctx, id)
	if err != nil {
		return err
	}
	counts, err := s.Store.CountsOf(ctx, id)
	if err != nil {
		return err
	}
	_, names, err := s.Store.LabelsOf(ctx, id)
	if err != nil {
		return err
	}
	f := store.EntryFilter{Docket: id, Text: strings.TrimSpace(q.Get("q"))}
	if status := q.Get("status"); status != "" {
		f.Statuses = []trial.Status{trial.Status(status)}
	}
	list, next, err := s.list(ctx, f, q.Get("cursor"))
	if err != nil {
		return err
	}
	v := struct {
		docketView
		listing
		Names   map[string]string // of labels
		Entries []entryView
		API     string
	}{newDocketView(&d, counts[id]), newListing(r, next, statusFilter(q)), names, list, api.Prefix + docketPath(id)}
	page := &view{Page: "docket", Section: "dockets", Title: d.Name, Data: v}
	if v.Running {
		page.Live = id
	}
	return s.show(w, r, http.StatusOK, page)
}

func (s *site) cancel(w http.ResponseWriter, r *http.Request) error {
	return act(w, r, s.Cancel, func(id int64) string { return docketPath(id) + "?did=cancel" })
}
