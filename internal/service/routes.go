package service

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/shadowcourt/shadowcourt/internal/httplimit"
	"github.com/shadowcourt/shadowcourt/internal/service/api"
	"github.com/shadowcourt/shadowcourt/internal/service/auth"
	"github.com/shadowcourt/shadowcourt/internal/service/store"
	"github.com/shadowcourt/shadowcourt/internal/service/web"
	"github.com/shadowcourt/shadowcourt/internal/service/wire"
)

// routes put everything together that the process answers.
func (s *Service) routes() (http.Handler, error) {
	c := &s.config
	a, err := auth.New(auth.Config{
		Store: c.Store, Now: c.Now, Random: c.Random, Local: c.Local, PublicURL: c.PublicURL, OIDC: c.OIDC, Rate: c.Rate,
		Burst: int(4 * c.Rate), Rejected: s.metrics.reject, Log: c.Log,
	})
	if err != nil {
		return nil, err
	}
	s.auth = a
	inner := http.NewServeMux()
	inner.Handle("GET /metrics", a.Require("", httplimit.Limit(s.unlimited(s.metrics.handler()))))
	if c.Role != RoleWorker {
		s.people(inner, a)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("ok\n")) })
	mux.HandleFunc("GET /readyz", s.readyz)
	mux.Handle("/", a.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if who := auth.From(r.Context()); who != nil {
			httplimit.Known(r.Context(), who.Submitter)
		}
		inner.ServeHTTP(w, r)
	})))
	return s.observed(mux), nil
}

// unlimited rejects those who are limited to repositories: what follows is about all.
func (s *Service) unlimited(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if auth.From(r.Context()).Limited() {
			s.auth.Reject(w, r, wire.NewProblem(http.StatusForbidden, wire.Forbidden, "metrics are about all repositories; this needs a token without a limit to some"))
			return
		}
		next.ServeHTTP(w, r)
	})
}

// readyz says whether the process is ready: it has begun, and the database answers and can be written.
func (s *Service) readyz(w http.ResponseWriter, r *http.Request) {
	if !s.ready.Load() {
		wire.WriteProblem(w, wire.NewProblem(http.StatusServiceUnavailable, wire.Unavailable, "the process begins or ends"))
		return
	}
	if err := s.config.Store.Ping(r.Context()); err != nil {
		s.config.Log.WarnContext(r.Context(), "the database does not answer", "error", err)
		wire.WriteProblem(w, wire.NewProblem(http.StatusServiceUnavailable, wire.Unavailable, "the database does not answer"))
		return
	}
	if err := s.config.Store.Writable(r.Context()); err != nil { // the store logs why
		wire.WriteProblem(w, wire.NewProblem(http.StatusServiceUnavailable, wire.Unavailable, store.ErrFull.Error()))
		return
	}
	_, _ = w.Write([]byte("ready\n"))
	if s.auth.IssuerFails() { // programs need none
		_, _ = w.Write([]byte("nobody can sign in by OpenID Connect: the issuer does not answer as it should; the log says why\n"))
	}
}

// checkIssuer asks the OIDC issuer at the start, so that a wrong address shows; one that is down for a minute stops nothing.
func (s *Service) checkIssuer(ctx context.Context) {
	const most = 20 * time.Second
	asking, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	if err := s.auth.CheckIssuer(asking); err != nil && ctx.Err() == nil {
		s.config.Log.WarnContext(ctx, "nobody can sign in by OpenID Connect: the issuer does not answer as it should; is --oidc-issuer right?", "error", err)
	}
}

// people adds the API and the pages.
func (s *Service) people(mux *http.ServeMux, a *auth.Authenticator) {
	c := &s.config
	operations := api.New(api.Config{
		Store: c.Store, Now: c.Now, Random: c.Random, Version: c.Version, MaxUpload: c.MaxUpload, ProofKeys: c.ProofKeys, Labels: s.labels.of, CheckGeneration: s.checkGeneration, Accepts: s.accepts, Unaccepted: s.unaccepted,
		Rejected: s.metrics.reject, Log: c.Log, Tracing: c.Tracing, Stop: s.stop,
	})
	known := strict{http.NewServeMux()}
	operations.Register(known.ServeMux)
	mux.Handle("/api/", known)
	mux.Handle("/openapi.json", known)
	mux.Handle("/", routed(web.New(web.Config{Operations: operations, Auth: a})))
	a.Register(mux)
}

// routed notes the routes of a mux.
func routed(mux *http.ServeMux) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, pattern := mux.Handler(r)
		foundRoute(r.Context(), pattern)
		mux.ServeHTTP(w, r)
	})
}

// strict answers requests that no operation takes with problems.
type strict struct{ *http.ServeMux }

func (m strict) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if _, pattern := m.Handler(r); pattern != "" {
		foundRoute(r.Context(), pattern)
		m.ServeMux.ServeHTTP(w, r)
		return
	}
	var allowed []string
	for _, method := range []string{http.MethodDelete, http.MethodGet, http.MethodPost} {
		other := r.Clone(r.Context())
		other.Method = method
		if _, pattern := m.Handler(other); pattern != "" {
			allowed = append(allowed, method)
		}
	}
	if len(allowed) == 0 {
		wire.WriteProblem(w, wire.NewProblem(http.StatusNotFound, wire.NotFound, "there is no such path; /openapi.json describes all"))
		return
	}
	if slices.Contains(allowed, http.MethodGet) {
		allowed = append(allowed, http.MethodHead)
	}
	w.Header().Set("Allow", strings.Join(allowed, ", "))
	wire.WriteProblem(w, wire.NewProblem(http.StatusMethodNotAllowed, wire.MethodNotAllowed, "this path takes "+strings.Join(allowed, ", ")))
}
