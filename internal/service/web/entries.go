package web

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"strings"

	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/service/store"
)

// pageSize is how many entries a page has.
const pageSize = 50

// errCursor says that an address was not made by a page.
var errCursor = invalid("the cursor in the address is none that a page gave: begin at the first page")

// label is a label with its name for people, empty where it has none.
type label struct{ ID, Name string }

// entryView is a case as pages show it.
type entryView struct {
	store.Entry
	Labels []label
	// Headline is the subject, Name the ID; both not empty. Message is what tells most of the failure, empty where the subject does.
	Headline, Name, Message string
	Href                    string
	Answer, LightSaid, Is   labelView
	// Right and Wrong say what is known of the answer.
	Right, Wrong bool
	// Attribution is of the alibi alone.
	Attribution *attribution
}

// newEntryView is an entry as pages show it. The docket's own names of labels come before those of the court.
func newEntryView(e *store.Entry, court map[string]string) entryView {
	v := entryView{Entry: *e, Headline: e.Subject, Name: e.CaseID, Href: "/trials/" + e.ID.String()}
	v.Labels = make([]label, len(e.Labels))
	for i, l := range e.Labels {
		v.Labels[i] = label{l, cmp.Or(e.LabelNames[l], court[l])}
	}
	if e.Correction != 0 {
		v.Truth = e.Corrected // the known label, from the docket or a correction
	}
	if e.About != e.Subject && e.About != e.CaseID {
		v.Message = e.About
	}
	v.Attribution = attributionOf(e.Alibi)
	if strings.TrimSpace(v.Headline) == "" {
		v.Headline = v.Name
	}
	v.Answer, v.LightSaid, v.Is = labelOf(v.Labels, e.Label), labelOf(v.Labels, e.Light.Classification), labelOf(v.Labels, v.Truth)
	if e.Status != "" && v.Truth != "" {
		v.Right = e.Label == v.Truth
		v.Wrong = !v.Right && e.Label != ""
	}
	return v
}

// list reads a page of entries, and the cursor of the next one.
func (s *site) list(ctx context.Context, f store.EntryFilter, cursor string) (list []entryView, next string, err error) {
	if cursor != "" {
		if f.After, err = store.ParseTrialID(cursor); err != nil {
			return nil, "", errCursor
		}
	}
	f.Limit = pageSize
	rows, err := s.Store.Entries(ctx, f)
	if err != nil {
		return nil, "", err
	}
	if len(rows) == pageSize {
		next = rows[pageSize-1].ID.String()
	}
	return s.entries(ctx, rows), next, nil
}

// entries are what lists show of rows.
func (s *site) entries(ctx context.Context, rows []store.Entry) []entryView {
	list := make([]entryView, len(rows))
	named := s.namer(ctx)
	for i := range rows {
		list[i] = newEntryView(&rows[i], named(rows[i].Generation))
	}
	return list
}

// namer gives the names that the court of a generation has for labels. Cases that wait have none yet.
func (s *site) namer(ctx context.Context) func(generation int64) map[string]string {
	known := map[int64]map[string]string{0: nil}
	return func(generation int64) map[string]string {
		names, ok := known[generation]
		if !ok && s.Labels != nil {
			names, _ = s.Labels(ctx, generation) // labels without names are shown as they are
			known[generation] = names
		}
		return names
	}
}

// labelButton sets a label; the first nine have a key.
type labelButton struct {
	labelView
	Key int
	// Answer is the label that the court gave, Current the one that was set.
	Answer, Current bool
}

func (v *entryView) buttons() []labelButton {
	list := make([]labelButton, len(v.Labels))
	for i, l := range v.Labels {
		list[i] = labelButton{labelOf(v.Labels, l.ID), i + 1, v.Status != "" && l.ID == v.Label, v.Correction != 0 && l.ID == v.Truth}
	}
	return list
}

// listing is what pages with a list have beside it.
type listing struct {
	Text        string
	Filters     []filter
	Filtered    bool
	Next, First string
}

// newListing reads the search of an address. next is the cursor of the next page, empty on the last.
func newListing(r *http.Request, next string, filters ...filter) listing {
	q := r.URL.Query()
	l := listing{Text: q.Get("q"), Filters: filters, Filtered: q.Get("q") != ""}
	for _, f := range filters {
		l.Filtered = l.Filtered || q.Get(f.Name) != ""
	}
	if next != "" {
		l.Next = withQuery(r.URL, "cursor", next)
	}
	if q.Get("cursor") != "" {
		l.First = withQuery(r.URL, "cursor", "")
	}
	return l
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

// newFilter gives a choice of options, of which that in the query is selected.
func newFilter(q url.Values, name, title, all string, options ...option) filter {
	f, value := filter{name, title, append([]option{{"", all, false}}, options...)}, q.Get(name)
	known := false
	for i := range f.Options {
		f.Options[i].Selected = f.Options[i].Value == value
		known = known || f.Options[i].Selected
	}
	if !known {
		f.Options = append(f.Options, option{value, value, true})
	}
	return f
}

// texts are options that are shown as they are.
func texts[T ~string](list []T) []option {
	options := make([]option, len(list))
	for i, text := range list {
		options[i] = option{Value: string(text), Text: string(text)}
	}
	return options
}

func statusFilter(q url.Values) filter {
	return newFilter(q, "status", "Status", "every status", texts(trial.Statuses())...)
}

func repositoryFilter(q url.Values, repositories []string) filter {
	return newFilter(q, "repository", "Repository", "every repository", texts(repositories)...)
}
