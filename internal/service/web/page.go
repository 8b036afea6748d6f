package web

import (
	"bytes"
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"html/template"
	"io/fs"
	"mime"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/shadowcourt/shadowcourt/internal/render"
	"github.com/shadowcourt/shadowcourt/internal/service/api"
	"github.com/shadowcourt/shadowcourt/internal/service/auth"
	"github.com/shadowcourt/shadowcourt/internal/service/store"
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
	v.Who, v.Now, v.Path = who, s.Now(), r.URL.RequestURI()
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
	case "cancel":
		v.Notice = "Cancelled the docket."
	case "revoke":
		v.Notice = "Revoked the token."
	}
}

// failure is the page of an error. Programs get the problem instead.
type failure struct {
	Status int
	Title  string
	Text   string
	// Faults are single ones, with their places.
	Faults []wire.Fault
}

// rejected answers a request with a problem, or with a page about it.
func (s *site) rejected(w http.ResponseWriter, r *http.Request, p *wire.Problem) {
	if !strings.Contains(r.Header.Get("Accept"), "text/html") {
		wire.WriteProblem(w, p)
		return
	}
	f := failure{p.Status, p.Title, p.Detail, p.Errors}
	switch {
	case p.Code == wire.Internal:
		f.Title, f.Text = "The page failed", "The server's log says why. Try again, or tell whoever runs the server."
	case p.Status == http.StatusNotFound:
		f.Title, f.Text = "There is no such page", "It was removed, or the address is wrong."
	case p.Status == http.StatusUnprocessableEntity || p.Status == http.StatusConflict:
		f.Title = "That is not possible"
	}
	if err := s.show(w, r, f.Status, &view{Page: "error", Title: f.Title, Data: f}); err != nil {
		s.Log.ErrorContext(r.Context(), "the page of an error failed", "error", err)
		http.Error(w, f.Title, f.Status)
	}
}

// invalid is an error whose text is for the person who asked.
func invalid(text string) error {
	return wire.NewProblem(http.StatusUnprocessableEntity, wire.Invalid, text)
}

var errForm = invalid("the form can't be read: it must be urlencoded and at most 1 MiB")

// number is the ID in the path.
func number(r *http.Request) (int64, error) {
	id, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
	if err != nil || id <= 0 {
		return 0, store.ErrNotFound
	}
	return id, nil
}

// act does something to what the path names, and then leads to a page.
func act(w http.ResponseWriter, r *http.Request, do func(ctx context.Context, id int64) error, then func(id int64) string) error {
	id, err := number(r)
	if err != nil {
		return err
	}
	if err := do(r.Context(), id); err != nil {
		return err
	}
	http.Redirect(w, r, then(id), http.StatusSeeOther)
	return nil
}

//go:embed static
var staticFiles embed.FS

// asset is a file of the pages. Its address has its digest, so that browsers may keep it for good.
type asset struct {
	url, kind string
	data      []byte
}

// assetList has them by name and by the last part of their address.
type assetList map[string]*asset

func (l assetList) url(name string) string { return l[name].url }

// assets reads the files. The style sheet begins with that of reports, which has the colours and the parts of a trial.
var assets = sync.OnceValue(func() assetList {
	list := assetList{}
	for _, name := range []string{"app.css", "app.js", "icon.svg"} {
		data, err := staticFiles.ReadFile("static/" + name)
		if err != nil {
			panic(err) // it is embedded
		}
		if name == "app.css" {
			data = append([]byte(render.TrialStyle()+render.AnswerStyle("proof")), data...)
		}
		sum := sha256.Sum256(data)
		extension := path.Ext(name)
		file := strings.TrimSuffix(name, extension) + "-" + hex.EncodeToString(sum[:6]) + extension
		list[name] = &asset{url: "/static/" + file, kind: mime.TypeByExtension(extension), data: data}
		list[file] = list[name]
	}
	return list
})

func (s *site) static(w http.ResponseWriter, r *http.Request) error {
	a := assets()[r.PathValue("name")]
	if a == nil {
		return store.ErrNotFound
	}
	w.Header().Set("Content-Type", a.kind)
	w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	_, _ = w.Write(a.data) // a reader that is gone
	return nil
}

// login is the page to sign in; package auth takes its form.
func (s *site) login(w http.ResponseWriter, r *http.Request) error {
	back := auth.ReturnPath(r.URL.Query().Get("return"))
	v := struct {
		Return, Failed string
		OIDC           string // the address to sign in by OpenID Connect; empty where nobody can
		Local          bool
	}{Return: back, Failed: r.URL.Query().Get("failed"), Local: s.Auth.HasLocal()}
	if s.Auth.HasOIDC() {
		v.OIDC = auth.OIDCPath + "?" + url.Values{"return": {back}}.Encode()
	}
	return s.show(w, r, http.StatusOK, &view{Page: "login", Title: "Sign in", Data: v})
}

// settingsView is the page of settings. Made is a token that was just made: no other page shows its secret again.
type settingsView struct {
	Tokens  []store.Token
	Made    api.AddTokenAnswer
	Scopes  []auth.Scope
	Version string
}

func (s *site) settings(w http.ResponseWriter, r *http.Request) error {
	return s.showSettings(w, r, api.AddTokenAnswer{})
}

func (s *site) showSettings(w http.ResponseWriter, r *http.Request, made api.AddTokenAnswer) (err error) {
	v := &settingsView{Made: made, Scopes: auth.AllScopes(), Version: s.Version}
	if auth.From(r.Context()).Can(auth.Operate) {
		if v.Tokens, err = s.Tokens(r.Context()); err != nil {
			return err
		}
	}
	return s.show(w, r, http.StatusOK, &view{Page: "settings", Section: "settings", Title: "Settings", Data: v})
}

func (s *site) addToken(w http.ResponseWriter, r *http.Request) error {
	if err := r.ParseForm(); err != nil {
		return errForm
	}
	made, err := s.AddToken(r.Context(), &api.AddTokenRequest{
		Name: strings.TrimSpace(r.PostForm.Get("name")), Scopes: r.PostForm["scope"],
		Repositories: strings.Fields(strings.ReplaceAll(r.PostForm.Get("repositories"), ",", " ")),
	})
	if err != nil {
		return err
	}
	return s.showSettings(w, r, made)
}

func (s *site) revokeToken(w http.ResponseWriter, r *http.Request) error {
	return act(w, r, s.RevokeToken, func(int64) string { return "/settings?did=revoke" })
}
