package web

import (
	"errors"
	"log/slog"
	"net/http"
	"time"

	"github.com/shadowcourt/shadowcourt/internal/httplimit"
	"github.com/shadowcourt/shadowcourt/internal/service/auth"
	"github.com/shadowcourt/shadowcourt/internal/service/wire"
)

// Config of the pages. Backend, Auth and Now must be set.
type Config struct {
	Backend Backend
	Auth    *auth.Authenticator
	Now     func() time.Time
	// MaxUpload is the most bytes of an upload; 0: 64 MiB.
	MaxUpload int64
	// Version of the program, shown in the settings.
	Version string
	// Stop ends the streams of pages that follow the server, so that it can shut down. Nil: they end with their requests.
	Stop <-chan struct{}
	// Log gets errors that a page only calls internal; nil: nothing is logged.
	Log *slog.Logger
}

const defaultMaxUpload = 64 << 20

// New serves the pages, and answers every other path with one that says that there is none. The caller puts Auth.Handler around
// it, and registers Auth beside it, which takes the forms to sign in and out.
func New(config Config) (http.Handler, error) {
	if config.Backend == nil || config.Auth == nil || config.Now == nil {
		return nil, errors.New("web: backend, auth and clock must be set")
	}
	if config.MaxUpload == 0 {
		config.MaxUpload = defaultMaxUpload
	}
	if config.Log == nil {
		config.Log = slog.New(slog.DiscardHandler)
	}
	s := &site{config: config, pages: parsePages()}
	config.Auth.ShowRejections(func(w http.ResponseWriter, r *http.Request, p *wire.Problem) { s.fail(w, r, p) })
	mux := http.NewServeMux()
	for _, r := range s.routes() {
		h := s.handler(r.do)
		if !r.stream {
			h = httplimit.Limit(h)
		}
		if !r.open {
			h = s.require(r.scope, h)
		}
		mux.Handle(r.pattern, h)
	}
	return mux, nil
}

// site holds what all pages share. Safe for concurrent use.
type site struct {
	config Config
	pages  pages
}

// route is a page or an action with the scope that it needs.
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
		{pattern: "POST /modules/{id}/activate", scope: auth.Everywhere, do: s.activate},
		{pattern: "POST /activations/{id}/abandon", scope: auth.Everywhere, do: s.abandon},
		{pattern: "GET /quality", do: s.quality},
		{pattern: "GET /quality/refit", do: s.refit},
		{pattern: "POST /quality/refit", scope: auth.Everywhere, do: s.startRefit},
		{pattern: "POST /quality/refit/take", scope: auth.Everywhere, do: s.takeRefit},
		{pattern: "GET /settings", do: s.settings},
		{pattern: "POST /settings/tokens", scope: auth.Operate, do: s.addToken},
		{pattern: "POST /settings/tokens/{id}/revoke", scope: auth.Operate, do: s.revokeToken},
		{pattern: "GET " + auth.LoginPath, open: true, do: s.login},
		{pattern: "GET /changes", stream: true, do: s.changes},
		{pattern: "GET /static/{name}", open: true, do: s.static},
		{pattern: "/", open: true, do: func(http.ResponseWriter, *http.Request) error { return ErrNotFound }},
	}
}
