package web

import (
	"errors"
	"io"
	"mime/multipart"
	"net/http"
	"strconv"
	"strings"

	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/httplimit"
)

// docketView is a docket in a list, or on its page.
type docketView struct {
	Docket
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

func newDocketView(d Docket) docketView {
	v := docketView{Docket: d, Href: "/dockets/" + strconv.FormatInt(d.ID, 10), Done: share(d.Tried+d.Faults, d.Cases)}
	v.Running = d.State == StateReceiving || d.State == StateQueued || d.State == StateRunning
	at, counted := 0, 0
	all := max(d.Cases, 1)
	for _, status := range trial.Statuses() {
		open := d.OpenBy[status]
		for _, part := range []barPart{{Status: status, Count: d.ByStatus[status] - open}, {Status: status, Open: true, Count: open}} {
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
	q := r.URL.Query()
	list, err := s.config.Backend.Dockets(r.Context(), DocketsQuery{
		Text: strings.TrimSpace(q.Get("q")), Repository: q.Get("repository"), State: q.Get("state"), Cursor: q.Get("cursor"),
	})
	if err != nil {
		return err
	}
	states := []string{StateQueued, StateRunning, StateDone, StateFailed, StateCancelled}
	v := struct {
		Text        string
		Filters     []filter
		Filtered    bool
		Dockets     []docketView
		Next, First string
		MaxUpload   int
	}{
		Text: q.Get("q"), Filtered: q.Get("q") != "" || q.Get("repository") != "" || q.Get("state") != "", MaxUpload: int(s.config.MaxUpload),
		Filters: []filter{
			newFilter("repository", "Repository", "every repository", q.Get("repository"), texts(list.Repositories)...),
			newFilter("state", "State", "every state", q.Get("state"), texts(states)...),
		},
	}
	for i := range list.Dockets {
		v.Dockets = append(v.Dockets, newDocketView(list.Dockets[i]))
	}
	if list.Next != "" {
		v.Next = withQuery(r.URL, "cursor", list.Next)
	}
	if q.Get("cursor") != "" {
		v.First = withQuery(r.URL, "cursor", "")
	}
	return s.show(w, r, http.StatusOK, &view{Page: "dockets", Section: "dockets", Title: "Dockets", Live: -1, Data: v})
}

func (s *site) docket(w http.ResponseWriter, r *http.Request) error {
	id, err := number(r)
	if err != nil {
		return err
	}
	d, err := s.config.Backend.Docket(r.Context(), id)
	if err != nil {
		return err
	}
	q := r.URL.Query()
	list, err := s.config.Backend.Entries(r.Context(), id, EntriesQuery{Text: strings.TrimSpace(q.Get("q")), Status: q.Get("status"), Cursor: q.Get("cursor")})
	if err != nil {
		return err
	}
	v := struct {
		docketView
		Text        string
		Filters     []filter
		Filtered    bool
		Entries     []entryView
		Next, First string
		API         string
	}{
		docketView: newDocketView(*d), Text: q.Get("q"), Filtered: q.Get("q") != "" || q.Get("status") != "", Entries: entryViews(list.Entries),
		Filters: []filter{newFilter("status", "Status", "every status", q.Get("status"), statusOptions()...)},
		API:     "/api/v1/dockets/" + strconv.FormatInt(id, 10),
	}
	if list.Next != "" {
		v.Next = withQuery(r.URL, "cursor", list.Next)
	}
	if q.Get("cursor") != "" {
		v.First = withQuery(r.URL, "cursor", "")
	}
	page := &view{Page: "docket", Section: "dockets", Title: d.Name, Data: v}
	if v.Running {
		page.Live = id
	}
	return s.show(w, r, http.StatusOK, page)
}

// number is the ID in the path.
func number(r *http.Request) (int64, error) {
	id, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
	if err != nil || id <= 0 {
		return 0, ErrNotFound
	}
	return id, nil
}

// upload takes a report by a form. Its fields come before the file, so that the file can be read as it arrives.
func (s *site) upload(w http.ResponseWriter, r *http.Request) error {
	r.Body = httplimit.Streaming(w, r.Body, s.config.MaxUpload+httplimit.BodyBytes)
	parts, err := r.MultipartReader()
	if err != nil {
		return &UserError{"the form must be sent as multipart/form-data"}
	}
	var u Upload
	for {
		part, err := parts.NextPart()
		if errors.Is(err, io.EOF) {
			return &UserError{"no report was chosen"}
		}
		if err != nil {
			return &UserError{"the upload broke off; send it again"}
		}
		if part.FormName() == "report" && part.FileName() != "" {
			return s.submit(w, r, u, part)
		}
		if err := field(&u, part); err != nil {
			return err
		}
	}
}

func field(u *Upload, part *multipart.Part) error {
	const most = 1 << 10
	into := map[string]*string{"name": &u.Name, "repository": &u.Repository, "revision": &u.Revision, "format": &u.Format}[part.FormName()]
	if into == nil {
		return nil
	}
	text, err := io.ReadAll(io.LimitReader(part, most+1))
	if err != nil {
		return &UserError{"the upload broke off; send it again"}
	}
	if len(text) > most {
		return &UserError{part.FormName() + " may have at most 1 KiB"}
	}
	*into = strings.TrimSpace(string(text))
	return nil
}

func (s *site) submit(w http.ResponseWriter, r *http.Request, u Upload, file *multipart.Part) error {
	if u.Name == "" {
		u.Name = file.FileName()
	}
	u.Body = file
	id, err := s.config.Backend.Submit(r.Context(), u)
	if err != nil {
		return err
	}
	http.Redirect(w, r, "/dockets/"+strconv.FormatInt(id, 10), http.StatusSeeOther)
	return nil
}

func (s *site) cancel(w http.ResponseWriter, r *http.Request) error {
	id, err := number(r)
	if err != nil {
		return err
	}
	if err := s.config.Backend.Cancel(r.Context(), id); err != nil {
		return err
	}
	http.Redirect(w, r, "/dockets/"+strconv.FormatInt(id, 10)+"?did=cancel", http.StatusSeeOther)
	return nil
}
