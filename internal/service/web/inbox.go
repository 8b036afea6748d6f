package web

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/shadowcourt/shadowcourt/internal/service/api"
	"github.com/shadowcourt/shadowcourt/internal/service/auth"
	"github.com/shadowcourt/shadowcourt/internal/service/store"
)

// groupView is a group of the inbox.
type groupView struct {
	store.Group
	Row     entryView
	Buttons []labelButton
}

// inboxView is the page of the inbox.
type inboxView struct {
	listing
	OpenGroups, OpenCases int
	Groups                []groupView
	Here                  string
	// Labels are those that all groups of the page have, for a selection without the script, which shows those of the selected.
	Labels []labelView
}

// ages are what the inbox can be limited to.
var ages = []option{{Value: "1d", Text: "the last day"}, {Value: "7d", Text: "the last week"}, {Value: "30d", Text: "the last 30 days"}}

func (s *site) since(age string) time.Time {
	days, err := strconv.Atoi(strings.TrimSuffix(age, "d"))
	if err != nil || days <= 0 || days > 10000 {
		return time.Time{}
	}
	return s.Now().AddDate(0, 0, -days)
}

// inboxFilter reads the filters of the inbox from its address.
func (s *site) inboxFilter(q url.Values) *api.InboxFilter {
	return &api.InboxFilter{
		Text: strings.TrimSpace(q.Get("q")), Repository: q.Get("repository"), Label: q.Get("label"), Status: q.Get("status"), Since: s.since(q.Get("age")),
	}
}

func (s *site) inbox(w http.ResponseWriter, r *http.Request) error {
	q, ctx := r.URL.Query(), r.Context()
	f := s.inboxFilter(q).Store()
	if f.Limit, f.After = pageSize, q.Get("cursor"); f.After != "" && !store.IsInboxCursor(f.After) {
		return errCursor
	}
	box, err := s.Store.Inbox(ctx, f)
	if err != nil {
		return err
	}
	samples := make([]store.Entry, len(box.Groups))
	for i := range box.Groups {
		samples[i] = box.Groups[i].Sample
	}
	rows := s.entries(ctx, samples)
	repositories, err := s.Store.Repositories(ctx)
	if err != nil {
		return err
	}
	labels, err := s.openLabels(ctx, rows)
	if err != nil {
		return err
	}
	v := inboxView{
		listing: newListing(r, box.Next, repositoryFilter(q, repositories), newFilter(q, "label", "Label", "every label", labels...),
			statusFilter(q), newFilter(q, "age", "Age", "any age", ages...)),
		OpenGroups: box.Total, OpenCases: box.Entries, Here: withQuery(r.URL), Labels: commonLabels(rows),
	}
	for i := range box.Groups {
		v.Groups = append(v.Groups, groupView{box.Groups[i], rows[i], rows[i].buttons()})
	}
	return s.show(w, r, http.StatusOK, &view{Page: "inbox", Section: "inbox", Title: "Inbox", Live: -1, Data: v})
}

// openLabels are the labels of all that is in the inbox, with the names that the rows of this page have for them.
func (s *site) openLabels(ctx context.Context, rows []entryView) ([]option, error) {
	counts, err := s.Store.OpenLabels(ctx)
	var options []option
	for _, c := range counts {
		if c.Label == "" {
			continue
		}
		name := ""
		for i := range rows {
			for _, known := range rows[i].Labels {
				if known.ID == c.Label && name == "" {
					name = known.Name
				}
			}
		}
		options = append(options, option{Value: c.Label, Text: labelView{ID: c.Label, Name: c.Label}.named(name).Name})
	}
	return options, err
}

// commonLabels are the labels that every row has: only those can be set for a selection.
func commonLabels(rows []entryView) []labelView {
	var list []labelView
	if len(rows) == 0 {
		return nil
	}
	for _, l := range rows[0].Labels {
		lacks := func(v entryView) bool {
			return !slices.ContainsFunc(v.Labels, func(other label) bool { return other.ID == l.ID })
		}
		if !slices.ContainsFunc(rows, lacks) {
			list = append(list, labelOf(rows[0].Labels, l.ID))
		}
	}
	return list
}

func (s *site) members(w http.ResponseWriter, r *http.Request) error {
	key := r.URL.Query().Get("key")
	list, next, err := s.list(r.Context(), (&store.InboxFilter{}).Entries(key), r.URL.Query().Get("cursor"))
	if err != nil {
		return err
	}
	v := struct {
		listing
		Key     string
		Entries []entryView
		Labels  []labelButton
	}{listing: newListing(r, next), Key: key, Entries: list}
	if len(list) > 0 {
		v.Labels = list[0].buttons()
	}
	return s.show(w, r, http.StatusOK, &view{Page: "members", Section: "inbox", Title: "Cases of one group", Data: v})
}

// correct sets the label of groups and of single cases. The script gets JSON, a plain form is sent back to its page.
func (s *site) correct(w http.ResponseWriter, r *http.Request) error {
	if err := r.ParseForm(); err != nil {
		return errForm
	}
	label, groups, entries := r.PostForm.Get("label"), r.PostForm["group"], r.PostForm["entry"]
	switch {
	case label == "":
		return invalid("no label was chosen")
	case len(entries)+len(groups) == 0:
		return invalid("nothing was selected: choose cases or groups, then a label")
	}
	// A group is corrected as the page showed it: with the filters of its address.
	filter := &api.InboxFilter{}
	if page, err := url.Parse(auth.ReturnPath(r.PostForm.Get("back"))); err == nil && page.Path == "/" {
		filter = s.inboxFilter(page.Query())
	}
	var requests []api.CorrectRequest
	for _, group := range groups {
		requests = append(requests, api.CorrectRequest{Label: label, Group: group})
	}
	if len(entries) > 0 {
		requests = append(requests, api.CorrectRequest{Label: label, Trials: entries})
	}
	var done struct {
		Corrections []int64 `json:"corrections"`
		Cases       int     `json:"cases"`
	}
	for i := range requests {
		c, err := s.Correct(r.Context(), &requests[i], filter)
		if err != nil {
			return err
		}
		done.Corrections, done.Cases = append(done.Corrections, c.ID), done.Cases+c.Entries
	}
	undo := ""
	if len(done.Corrections) == 1 {
		undo = strconv.FormatInt(done.Corrections[0], 10)
	}
	return s.corrected(w, r, done, "did", "correct", "cases", strconv.Itoa(done.Cases), "undo", undo)
}

func (s *site) undo(w http.ResponseWriter, r *http.Request) error {
	if err := r.ParseForm(); err != nil {
		return errForm
	}
	ids := r.PostForm["correction"]
	if len(ids) == 0 {
		return invalid("no correction was named")
	}
	var done struct {
		Cases int `json:"cases"`
	}
	for _, text := range ids {
		id, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return store.ErrNotFound
		}
		c, err := s.Undo(r.Context(), id)
		if err != nil {
			return err
		}
		done.Cases += c.Entries
	}
	return s.corrected(w, r, done, "did", "undo", "cases", strconv.Itoa(done.Cases))
}

// corrected tells the script what was done, and sends the sender of a plain form to the page that it names, one of this server, with that.
func (s *site) corrected(w http.ResponseWriter, r *http.Request, done any, pairs ...string) error {
	if r.Header.Get("Accept") == "application/json" {
		data, err := json.Marshal(done)
		if err != nil {
			return err
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(data) // a reader that is gone
		return nil
	}
	u, err := url.Parse(auth.ReturnPath(r.PostForm.Get("back")))
	if err != nil {
		u = &url.URL{Path: "/"}
	}
	http.Redirect(w, r, withQuery(u, pairs...), http.StatusSeeOther) //nolint:gosec // ReturnPath gives paths of this server alone
	return nil
}
