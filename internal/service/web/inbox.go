package web

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/service/auth"
)

// entryView is a case in a list.
type entryView struct {
	Entry
	// Headline is the subject, Name the ID; both not empty.
	Headline, Name        string
	Href                  string
	Answer, LightSaid, Is labelView
	// Right and Wrong say what is known of the answer.
	Right, Wrong bool
}

func newEntryView(e Entry) entryView {
	v := entryView{
		Entry: e, Headline: e.About, Name: e.CaseID, Href: "/trials/" + e.ID.String(),
		Answer: labelOf(e.Labels, e.Label), LightSaid: labelOf(e.Labels, e.Light), Is: labelOf(e.Labels, e.Truth),
	}
	if strings.TrimSpace(v.Headline) == "" {
		v.Headline = v.Name
	}
	if e.Tried && e.Truth != "" {
		v.Right = e.Label == e.Truth
		v.Wrong = !v.Right && e.Label != ""
	}
	return v
}

func entryViews(list []Entry) []entryView {
	views := make([]entryView, len(list))
	for i := range list {
		views[i] = newEntryView(list[i])
	}
	return views
}

// labelButton sets a label; the first nine have a key.
type labelButton struct {
	labelView
	Key int
	// Answer is the label that the court gave, Current the one that was set.
	Answer, Current bool
}

func buttonsOf(e Entry) []labelButton {
	list := make([]labelButton, len(e.Labels))
	for i, l := range e.Labels {
		list[i] = labelButton{labelView: labelOf(e.Labels, l.ID), Key: i + 1, Answer: e.Tried && l.ID == e.Label, Current: e.Corrected && l.ID == e.Truth}
	}
	return list
}

// groupView is a group of the inbox.
type groupView struct {
	Group
	Row     entryView
	Buttons []labelButton
	Why     string
}

// inboxView is the page of the inbox.
type inboxView struct {
	Query                 url.Values
	Text                  string
	OpenGroups, OpenCases int
	Groups                []groupView
	Next, First, Here     string
	Filters               []filter
	Filtered              bool
	// Labels are those that all groups of the page have, for a selection without the script, which shows those of the selected.
	Labels []labelView
}

// filter is a list to choose from.
type filter struct {
	Name, Title string
	Options     []option
}

type option struct {
	Value, Text string
	Selected    bool
}

func newFilter(name, title, all, value string, options ...option) filter {
	f := filter{name, title, append([]option{{"", all, value == ""}}, options...)}
	known := value == ""
	for i := range f.Options {
		if f.Options[i].Value == value {
			f.Options[i].Selected, known = true, true
		}
	}
	if !known {
		f.Options = append(f.Options, option{value, value, true})
	}
	return f
}

func texts(list []string) []option {
	options := make([]option, len(list))
	for i, text := range list {
		options[i] = option{Value: text, Text: text}
	}
	return options
}

func labelOptions(list []Label) []option {
	options := make([]option, len(list))
	for i, l := range list {
		options[i] = option{Value: l.ID, Text: labelView{ID: l.ID, Name: l.ID}.named(l.Name).Name}
	}
	return options
}

func statusOptions() []option {
	var options []option
	for _, s := range trial.Statuses() {
		options = append(options, option{Value: string(s), Text: string(s)})
	}
	return options
}

// ages are what the inbox can be limited to.
var ages = []option{{Value: "1d", Text: "the last day"}, {Value: "7d", Text: "the last week"}, {Value: "30d", Text: "the last 30 days"}}

func (s *site) since(age string) time.Time {
	days, err := strconv.Atoi(strings.TrimSuffix(age, "d"))
	if err != nil || days <= 0 || days > 10000 {
		return time.Time{}
	}
	return s.config.Now().AddDate(0, 0, -days)
}

// inboxQuery reads the filters of the inbox from its address.
func (s *site) inboxQuery(q url.Values) InboxQuery {
	return InboxQuery{
		Text: strings.TrimSpace(q.Get("q")), Repository: q.Get("repository"), Label: q.Get("label"), Status: q.Get("status"),
		Since: s.since(q.Get("age")), Cursor: q.Get("cursor"),
	}
}

func (s *site) inbox(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	query := s.inboxQuery(q)
	box, err := s.config.Backend.Inbox(r.Context(), query)
	if err != nil {
		return err
	}
	v := inboxView{
		Query: q, Text: query.Text, OpenGroups: box.OpenGroups, OpenCases: box.OpenCases,
		Here: withQuery(r.URL), Filtered: query.Text != "" || query.Repository != "" || query.Label != "" || query.Status != "" || q.Get("age") != "",
		Filters: []filter{
			newFilter("repository", "Repository", "every repository", query.Repository, texts(box.Repositories)...),
			newFilter("label", "Label", "every label", query.Label, labelOptions(box.Labels)...),
			newFilter("status", "Status", "every status", query.Status, statusOptions()...),
			newFilter("age", "Age", "any age", q.Get("age"), ages...),
		},
	}
	for i := range box.Groups {
		g := &box.Groups[i]
		v.Groups = append(v.Groups, groupView{Group: *g, Row: newEntryView(g.Lead), Buttons: buttonsOf(g.Lead), Why: whyOpen(&g.Lead)})
	}
	v.Labels = commonLabels(box.Groups)
	if box.Next != "" {
		v.Next = withQuery(r.URL, "cursor", box.Next)
	}
	if query.Cursor != "" {
		v.First = withQuery(r.URL, "cursor", "")
	}
	return s.show(w, r, http.StatusOK, &view{Page: "inbox", Section: "inbox", Title: "Inbox", Live: -1, Data: v})
}

// whyOpen says in a few words why a person is needed.
func whyOpen(e *Entry) string {
	switch {
	case e.Fault != "":
		return "no trial"
	case e.Label == "":
		return e.Status.Meaning()
	}
	return ""
}

// commonLabels are the labels that every group has: only those can be set for a selection.
func commonLabels(groups []Group) []labelView {
	var list []labelView
	if len(groups) == 0 {
		return nil
	}
	for _, l := range groups[0].Lead.Labels {
		everywhere := true
		for i := range groups {
			if !hasLabel(groups[i].Lead.Labels, l.ID) {
				everywhere = false
			}
		}
		if everywhere {
			list = append(list, labelOf(groups[0].Lead.Labels, l.ID))
		}
	}
	return list
}

func hasLabel(labels []Label, id string) bool {
	for _, l := range labels {
		if l.ID == id {
			return true
		}
	}
	return false
}

func (s *site) members(w http.ResponseWriter, r *http.Request) error {
	key := r.URL.Query().Get("key")
	list, err := s.config.Backend.Members(r.Context(), key, r.URL.Query().Get("cursor"))
	if err != nil {
		return err
	}
	v := struct {
		Key     string
		Entries []entryView
		Labels  []labelButton
		Next    string
		Here    string
	}{Key: key, Entries: entryViews(list.Entries), Here: withQuery(r.URL)}
	if len(list.Entries) > 0 {
		v.Labels = buttonsOf(list.Entries[0])
	}
	if list.Next != "" {
		v.Next = withQuery(r.URL, "cursor", list.Next)
	}
	return s.show(w, r, http.StatusOK, &view{Page: "members", Section: "inbox", Title: "Cases of one group", Data: v})
}

// correct sets the label of groups and of single cases. The script gets JSON, a plain form is sent back to its page.
func (s *site) correct(w http.ResponseWriter, r *http.Request) error {
	if err := r.ParseForm(); err != nil {
		return &UserError{"the form can't be read: it must be urlencoded and at most 1 MiB"}
	}
	c := Correcting{Label: r.PostForm.Get("label"), Groups: r.PostForm["group"]}
	// A group is corrected as the page showed it: with the filters of its address.
	if page, err := url.Parse(auth.ReturnPath(r.PostForm.Get("back"))); err == nil && page.Path == "/" {
		c.Filter = s.inboxQuery(page.Query())
	}
	for _, text := range r.PostForm["entry"] {
		id, err := ParseEntryID(text)
		if err != nil {
			return err
		}
		c.Entries = append(c.Entries, id)
	}
	switch {
	case c.Label == "":
		return &UserError{"no label was chosen"}
	case len(c.Entries)+len(c.Groups) == 0:
		return &UserError{"nothing was selected: choose cases or groups, then a label"}
	}
	done, err := s.config.Backend.Correct(r.Context(), c)
	if err != nil {
		return err
	}
	if r.Header.Get("Accept") == "application/json" {
		return writeJSON(w, struct {
			Corrections []int64 `json:"corrections"`
			Cases       int     `json:"cases"`
		}{done.IDs, done.Cases})
	}
	undo := ""
	if len(done.IDs) == 1 {
		undo = strconv.FormatInt(done.IDs[0], 10)
	}
	return s.back(w, r, "did", "correct", "cases", strconv.Itoa(done.Cases), "undo", undo)
}

func (s *site) undo(w http.ResponseWriter, r *http.Request) error {
	if err := r.ParseForm(); err != nil {
		return &UserError{"the form can't be read: it must be urlencoded and at most 1 MiB"}
	}
	ids := r.PostForm["correction"]
	if len(ids) == 0 {
		return &UserError{"no correction was named"}
	}
	cases := 0
	for _, text := range ids {
		id, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return ErrNotFound
		}
		n, err := s.config.Backend.Undo(r.Context(), id)
		if err != nil {
			return err
		}
		cases += n
	}
	if r.Header.Get("Accept") == "application/json" {
		return writeJSON(w, struct {
			Cases int `json:"cases"`
		}{cases})
	}
	return s.back(w, r, "did", "undo", "cases", strconv.Itoa(cases))
}

// back sends a form's sender to the page that it names, one of this server, with what came of it.
func (s *site) back(w http.ResponseWriter, r *http.Request, pairs ...string) error {
	u, err := url.Parse(auth.ReturnPath(r.PostForm.Get("back")))
	if err != nil {
		u = &url.URL{Path: "/"}
	}
	http.Redirect(w, r, withQuery(u, pairs...), http.StatusSeeOther) //nolint:gosec // ReturnPath gives paths of this server alone
	return nil
}

func writeJSON(w http.ResponseWriter, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(data) // a reader that is gone
	return nil
}
