package web

import (
	"bytes"
	"embed"
	"errors"
	"html/template"
	"io/fs"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/shadowcourt/shadowcourt/internal/service/auth"
	"github.com/shadowcourt/shadowcourt/internal/service/wire"
)

//go:embed templates/*.tmpl
var templateFiles embed.FS

// pages are the templates by page, each with the layout around it.
type pages map[string]*template.Template

func parsePages() pages {
	layout := template.Must(template.New("").Funcs(functions()).ParseFS(templateFiles, "templates/layout.tmpl", "templates/parts.tmpl"))
	names, err := fs.Glob(templateFiles, "templates/page_*.tmpl")
	if err != nil {
		panic(err) // the pattern is a constant
	}
	list := pages{}
	for _, name := range names {
		page := name[len("templates/page_") : len(name)-len(".tmpl")]
		list[page] = template.Must(template.Must(layout.Clone()).ParseFS(templateFiles, name))
	}
	return list
}

// view is what the layout shows around a page.
type view struct {
	// Page is the template, Section the entry of the navigation that is current.
	Page, Section, Title string
	Who                  *auth.Identity
	// CanReview, CanSubmit and CanOperate say what the person may do.
	CanReview, CanSubmit, CanOperate bool
	// CanSwap says whether they may change modules, which are those of all repositories.
	CanSwap             bool
	SignedIn            bool
	Now                 time.Time
	Path                string
	Style, Script, Icon string
	// Notice is what came of an action, Undo the correction that can be taken back.
	Notice string
	Undo   int64
	// Live is the docket that the page follows, -1 for everything; 0 follows nothing.
	Live int64
	Data any
}

// show renders a page. A request for a fragment gets that part of it alone.
func (s *site) show(w http.ResponseWriter, r *http.Request, status int, v *view) error {
	who := auth.From(r.Context())
	v.Who, v.Now, v.Path = who, s.config.Now(), r.URL.RequestURI()
	v.CanReview, v.CanSubmit, v.CanOperate = who.Can(auth.Review), who.Can(auth.Submit), who.Can(auth.Operate)
	v.CanSwap = who.Can(auth.Everywhere)
	v.SignedIn = who != nil && who.Via == auth.ViaSession
	v.Style, v.Script, v.Icon = assets().url("app.css"), assets().url("app.js"), assets().url("icon.svg")
	if v.Notice == "" {
		v.notice(r)
	}
	name := "layout"
	if fragment := r.Header.Get("X-Fragment"); fragment != "" && s.pages[v.Page].Lookup("fragment-"+fragment) != nil {
		name = "fragment-" + fragment
	}
	var b bytes.Buffer
	if err := s.pages[v.Page].ExecuteTemplate(&b, name, v); err != nil {
		return err
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Vary", "X-Fragment, Cookie")
	w.WriteHeader(status)
	_, _ = w.Write(b.Bytes()) // a reader that is gone
	return nil
}

// notice reads from the address what came of the action before. It can only say things of this list.
func (v *view) notice(r *http.Request) {
	q := r.URL.Query()
	count := func(name string) int { n, _ := strconv.Atoi(q.Get(name)); return max(n, 0) } // an odd number counts as 0
	switch q.Get("did") {
	case "correct":
		v.Notice = "Corrected " + plural(count("cases"), "case", "cases") + "."
		v.Undo, _ = strconv.ParseInt(q.Get("undo"), 10, 64) // without a number there is no button
	case "undo":
		v.Notice = "Took the correction of " + plural(count("cases"), "case", "cases") + " back."
	case "propose":
		v.Notice = "Added the generation. It is not current yet."
	case "cancel":
		v.Notice = "Cancelled the docket."
	case "revoke":
		v.Notice = "Revoked the token."
	}
}

// handler answers errors of a page with a page.
func (s *site) handler(do func(http.ResponseWriter, *http.Request) error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := do(w, r); err != nil {
			s.fail(w, r, err)
		}
	})
}

// require is auth's, with a page for people who lack a scope.
func (s *site) require(scope auth.Scope, next http.Handler) http.Handler {
	guarded := s.config.Auth.Require(scope, next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if who := auth.From(r.Context()); who != nil && auth.Check(who, scope) != nil {
			s.fail(w, r, auth.Check(who, scope))
			return
		}
		guarded.ServeHTTP(w, r)
	})
}

// failure is the page of an error. Programs get a problem instead.
type failure struct {
	Status int
	Title  string
	Text   string
	// Faults are single ones, with their places.
	Faults []wire.Fault
}

func (s *site) fail(w http.ResponseWriter, r *http.Request, err error) {
	f := failure{Status: http.StatusInternalServerError, Title: "The page failed", Text: "The server's log says why. Try again, or tell whoever runs the server."}
	var user *UserError
	var fault *wire.Problem
	switch {
	case r.Context().Err() != nil:
		return // nobody reads the answer
	case errors.Is(err, ErrNotFound):
		f = failure{Status: http.StatusNotFound, Title: "There is no such page", Text: "It was removed, or the address is wrong."}
	case errors.As(err, &user):
		f = failure{Status: http.StatusUnprocessableEntity, Title: "That is not possible", Text: user.Text}
	case errors.As(err, &fault):
		f = failure{Status: fault.Status, Title: fault.Title, Text: fault.Detail, Faults: fault.Errors}
		if f.Status == http.StatusUnprocessableEntity || f.Status == http.StatusConflict {
			f.Title = "That is not possible"
		}
	}
	if f.Status >= http.StatusInternalServerError {
		s.config.Log.ErrorContext(r.Context(), "a page failed", "path", r.URL.Path, "error", err)
	}
	if !strings.Contains(r.Header.Get("Accept"), "text/html") {
		wire.WriteProblem(w, wire.NewProblem(f.Status, codeOf(f.Status, fault), f.Text))
		return
	}
	if err := s.show(w, r, f.Status, &view{Page: "error", Title: f.Title, Data: f}); err != nil {
		s.config.Log.ErrorContext(r.Context(), "the page of an error failed", "error", err)
		http.Error(w, f.Title, f.Status)
	}
}

func codeOf(status int, p *wire.Problem) wire.Code {
	switch {
	case p != nil:
		return p.Code
	case status == http.StatusNotFound:
		return wire.NotFound
	case status < http.StatusInternalServerError:
		return wire.Invalid
	}
	return wire.Internal
}
