// Package web serves the pages of the docket service: the inbox of cases that need a person, dockets, trials, modules, quality
// and settings. Pages read the store, and change it by the operations of package api, whose checks are those of the API.
//
// The server renders every page; all actions are plain form posts, and the script (static/app.js) only makes them quicker: keys,
// corrections without a new page, live progress. Texts of cases and modules are untrusted: package sanitize takes what acts or hides out of them,
// html/template escapes them, and no page needs an inline script or style, so that the Content-Security-Policy forbids both.
package web

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"

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
		{pattern: "GET /dockets/{id}", do: s.docket},
		{pattern: "POST /dockets/{id}/cancel", scope: auth.Submit, do: s.cancel},
		{pattern: "GET /trials/{id}", do: s.trial},
		{pattern: "GET /trials/{id}/brief", do: s.brief},
		{pattern: "GET /trials/{id}/documents/{n}", do: s.document},
		{pattern: "GET /modules", do: s.modules},
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

// How often a page that follows hears of changes at most, and how often a silent connection is kept awake.
const (
	quiet     = 300 * time.Millisecond
	keepAlive = 20 * time.Second
)

// stale says that what a page shows may be stale.
type stale struct {
	// Docket is the docket that changed; 0 where everything may have changed.
	Docket int64 `json:"docket,omitempty"`
	// Modules: generations changed. Corrections: a case was corrected.
	Modules     bool `json:"modules,omitempty"`
	Corrections bool `json:"corrections,omitempty"`
}

func staleBy(e store.Event) (out stale) {
	switch e.Kind {
	case store.EventDocket:
		out.Docket = e.ID
	case store.EventGeneration:
		out.Modules = true
	case store.EventCorrection:
		out.Corrections = true
	case store.EventResync:
		out.Modules, out.Corrections = true, true
	}
	return out
}

// changes says to a page that what it shows is stale, by server-sent events. The page then fetches itself again.
func (s *site) changes(w http.ResponseWriter, r *http.Request) error {
	docket := int64(atoi(r.URL.Query().Get("docket")))
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Accel-Buffering", "no")
	w.WriteHeader(http.StatusOK)
	out := httplimit.Writing(w)
	events := s.Store.Subscribe(r.Context())
	soon, awake := time.NewTicker(quiet), time.NewTicker(keepAlive)
	defer soon.Stop()
	defer awake.Stop()
	pending, changed := stale{}, true // the page may have been rendered before it followed
	for {
		text := ": awake\n\n"
		select {
		case e, ok := <-events:
			if !ok {
				return nil
			}
			if c := staleBy(e); docket == 0 || c.Docket == 0 || c.Docket == docket {
				pending, changed = stale{c.Docket, pending.Modules || c.Modules, pending.Corrections || c.Corrections}, true
			}
			continue
		case <-s.Stop:
			return nil
		case <-soon.C:
			if !changed {
				continue
			}
			data, err := json.Marshal(pending)
			if err != nil {
				return err
			}
			text = fmt.Sprintf("event: change\ndata: %s\n\n", data)
			pending, changed = stale{}, false
		case <-awake.C:
		}
		if _, err := io.WriteString(out, text); err != nil {
			return nil // the page is gone
		}
	}
}
