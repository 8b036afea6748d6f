package web

import (
	"errors"
	"io"
	"mime/multipart"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/shadowcourt/shadowcourt/internal/httplimit"
)

// generationView is a generation in the list, or on its page.
type generationView struct {
	Generation
	Href string
	// Rollback says that it is older than the current one.
	Rollback bool
	Rows     []flipView
}

// flipView sets what both courts say of a case side by side.
type flipView struct {
	Flip
	Row       entryView
	Candidate labelView
	// ToRight and FromRight say what became of a known answer.
	ToRight, FromRight bool
}

func newGenerationView(g Generation, current int64) generationView {
	v := generationView{Generation: g, Href: "/modules/" + strconv.FormatInt(g.ID, 10), Rollback: g.ID < current}
	for _, f := range g.Flips {
		row := flipView{Flip: f, Row: newEntryView(f.Entry), Candidate: labelOf(f.Entry.Labels, f.Label)}
		if truth := f.Entry.Truth; truth != "" {
			row.ToRight, row.FromRight = f.Label == truth && f.Entry.Label != truth, f.Entry.Label == truth && f.Label != truth
		}
		v.Rows = append(v.Rows, row)
	}
	return v
}

// modulesView is the page of modules.
type modulesView struct {
	Current     int64
	Generations []generationView
	Now         *generationView
	Candidates  []generationView
	Workers     []Worker
	Latest      *Activation
}

func (s *site) modulesView(r *http.Request) (*modulesView, error) {
	m, err := s.config.Backend.Modules(r.Context())
	if err != nil {
		return nil, err
	}
	v := &modulesView{Current: m.Current, Workers: m.Workers, Latest: m.Latest}
	for i := range m.Generations {
		g := newGenerationView(m.Generations[i], m.Current)
		v.Generations = append(v.Generations, g)
		if g.Current {
			v.Now = &g
		}
		if g.Candidate && g.Current {
			v.Candidates = append(v.Candidates, g)
		}
	}
	return v, nil
}

func (s *site) modules(w http.ResponseWriter, r *http.Request) error {
	v, err := s.modulesView(r)
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
	v, err := s.modulesView(r)
	if err != nil {
		return nil, nil, err
	}
	i := slices.IndexFunc(v.Generations, func(g generationView) bool { return g.ID == id })
	if i < 0 {
		return nil, nil, ErrNotFound
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
	id, err := number(r)
	if err != nil {
		return err
	}
	if err := s.config.Backend.Activate(r.Context(), id); err != nil {
		return err
	}
	http.Redirect(w, r, "/modules", http.StatusSeeOther)
	return nil
}

// abandon ends an activation that is pending.
func (s *site) abandon(w http.ResponseWriter, r *http.Request) error {
	id, err := number(r)
	if err != nil {
		return err
	}
	if err := s.config.Backend.Abandon(r.Context(), id); err != nil {
		return err
	}
	http.Redirect(w, r, "/modules", http.StatusSeeOther)
	return nil
}

// Limits of an upload of modules.
const (
	maxModules     = 32
	maxModuleBytes = 64 << 20
)

// propose takes modules by a form. A file's name without .wasm is the module's name.
func (s *site) propose(w http.ResponseWriter, r *http.Request) error {
	r.Body = httplimit.Streaming(w, r.Body, maxModules*maxModuleBytes)
	parts, err := r.MultipartReader()
	if err != nil {
		return &UserError{"the form must be sent as multipart/form-data"}
	}
	p := Proposal{}
	for {
		part, err := parts.NextPart()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return &UserError{"the upload broke off; send it again"}
		}
		if err := p.take(part); err != nil {
			return err
		}
	}
	if len(p.Modules) == 0 {
		return &UserError{"no module was chosen: choose one or more .wasm files"}
	}
	id, err := s.config.Backend.Propose(r.Context(), p)
	if err != nil {
		return err
	}
	http.Redirect(w, r, "/modules/"+strconv.FormatInt(id, 10)+"?did=propose", http.StatusSeeOther)
	return nil
}

// take reads a field or a file of the form.
func (p *Proposal) take(part *multipart.Part) error {
	const mostNote = 4 << 10
	switch part.FormName() {
	case "module":
		if part.FileName() == "" {
			return nil
		}
		data, err := io.ReadAll(io.LimitReader(part, maxModuleBytes+1))
		switch {
		case err != nil:
			return &UserError{"the upload broke off; send it again"}
		case len(data) > maxModuleBytes:
			return &UserError{part.FileName() + " has more than 64 MiB"}
		case len(p.Modules) == maxModules:
			return &UserError{"more than 32 modules at once"}
		}
		p.Modules = append(p.Modules, NamedModule{strings.TrimSuffix(path.Base(part.FileName()), ".wasm"), data})
	case "note", "candidate", "share":
		data, err := io.ReadAll(io.LimitReader(part, mostNote+1))
		switch {
		case err != nil:
			return &UserError{"the upload broke off; send it again"}
		case len(data) > mostNote:
			return &UserError{"the note may have at most 4 KiB"}
		}
		return p.set(part.FormName(), strings.TrimSpace(string(data)))
	}
	return nil
}

func (p *Proposal) set(name, value string) error {
	switch name {
	case "note":
		p.Note = value
	case "candidate":
		p.Candidate = value != ""
	case "share":
		percent, err := strconv.ParseFloat(value, 64)
		if err != nil || !(percent > 0) || percent > 100 {
			return &UserError{"the share of a candidate must be a percentage above 0 and at most 100"}
		}
		p.Share = percent / 100
	}
	return nil
}
