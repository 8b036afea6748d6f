// Package web serves the pages of the docket service: the inbox of cases that need a person, dockets, trials, modules, quality
// and settings. Pages read the store, and change it by the operations of package api, whose checks are those of the API.
//
// The server renders every page; all actions are plain form posts, and the script (static/app.js) only makes them quicker: keys,
// corrections without a new page, live progress. Texts of cases and modules are untrusted: package sanitize takes what acts or hides out of them,
// html/template escapes them, and no page needs an inline script or style, so that the Content-Security-Policy forbids both.
package web

import (
	"net/http"

	"github.com/shadowcourt/shadowcourt/internal/httplimit"
	"github.com/shadowcourt/shadowcourt/internal/service/api"
	"github.com/shadowcourt/shadowcourt/internal/service/auth"
	"github.com/shadowcourt/shadowcourt/internal/service/store"
)

// Config of the pages. Operations and Auth must be set.
type Config struct {
	*api.Operations
	Auth *auth.Authenticator
}

// New serves the pages, and answers every other path with one that says that there is none. The caller puts Auth.Handler around
// it, and registers Auth beside it, which takes the forms to sign in and out.
func New(config Config) *http.ServeMux {
	s := &site{Config: config, pages: parsePages()}
	config.Auth.ShowRejections(s.rejected)
	mux := http.NewServeMux()
	for _, r := range s.routes() {
		h := http.Handler(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
			if err := r.do(w, req); err != nil && req.Context().Err() == nil {
				s.rejected(w, req, s.Reject(req.Context(), err))
			}
		}))
		if !r.stream {
			h = httplimit.Limit(h)
		}
		if !r.open {
			h = config.Auth.Require(r.scope, h)
		}
		mux.Handle(r.pattern, h)
	}
	return mux
}

// site holds what all pages share. Safe for concurrent use.
type site struct {
	Config
	pages pages
}

// route is a page or an action. Actions need their scope before a body is read; the operations check it again.
type route struct {
	pattern string
	scope   auth.Scope // "": any
	open    bool       // without signing in
	stream  bool       // it bounds its body and its times itself
	do      func(http.ResponseWriter, *http.Request) error
}

func (s *site) routes() []route {
	return []route{
		{pattern: "GET /{$}", do: s.inbox},
		{pattern: "GET /inbox/group", do: s.members},
		{pattern: "POST /corrections", scope: auth.Review, do: s.correct},
		{pattern: "POST /corrections/undo", scope: auth.Review, do: s.undo},
		{pattern: "GET /dockets", do: s.dockets},
		{pattern: "POST /dockets", scope: auth.Submit, stream: true, do: s.upload},
		{pattern: "GET /dockets/{id}", do: s.docket},
		{pattern: "POST /dockets/{id}/cancel", scope: auth.Submit, do: s.cancel},
		{pattern: "GET /trials/{id}", do: s.trial},
		{pattern: "GET /trials/{id}/brief", do: s.brief},
		{pattern: "GET /trials/{id}/documents/{n}", do: s.document},
		{pattern: "GET /modules", do: s.modules},
		{pattern: "POST /modules", scope: auth.Everywhere, stream: true, do: s.propose},
		{pattern: "GET /modules/{id}", do: s.generation},
		{pattern: "GET /modules/{id}/activate", scope: auth.Everywhere, do: s.confirm},
		{pattern: "POST /modules/{id}/activate", scope: auth.Everywhere, stream: true, do: s.activate},
		{pattern: "GET /quality", do: s.quality},
		{pattern: "GET /settings", do: s.settings},
		{pattern: "POST /settings/tokens", scope: auth.Operate, do: s.addToken},
		{pattern: "POST /settings/tokens/{id}/revoke", scope: auth.Operate, do: s.revokeToken},
		{pattern: "GET " + auth.LoginPath, open: true, do: s.login},
		{pattern: "GET /changes", stream: true, do: s.changes},
		{pattern: "GET /static/{name}", open: true, do: s.static},
		{pattern: "/", open: true, do: func(http.ResponseWriter, *http.Request) error { return store.ErrNotFound }},
	}
}
