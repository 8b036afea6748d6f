// Package auth identifies who sends a request, and limits what a request may be: tokens with scopes, sessions of people who signed in
// (with a token, by OpenID Connect, or with an address that whoever runs the server is given), protection against requests from other sites, security headers, and limits
// of sizes, times and rates.
//
// An [Authenticator] is middleware for net/http: [Authenticator.Handler] goes around everything that a server serves, [Authenticator.Require]
// around what needs a scope. Everything is safe for concurrent use.
package auth

import (
	"cmp"
	"container/list"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/shadowcourt/shadowcourt/internal/httplimit"
	"github.com/shadowcourt/shadowcourt/internal/service/store"
	"github.com/shadowcourt/shadowcourt/internal/service/wire"
)

// Config of an Authenticator. Store, Now and Random must be set.
type Config struct {
	Store  *store.Store // hashes of tokens and sessions
	Now    func() time.Time
	Random io.Reader // crypto/rand.Reader outside of tests
	// Local is the token of whoever runs the server, with every scope, as long as the server runs; empty: there is none.
	Local string
	// PublicURL is how people's browsers reach the server: needed behind a proxy and for OIDC. An https URL makes cookies Secure.
	PublicURL *url.URL
	OIDC      *OIDC // nil: people sign in with tokens
	// Rate is how many requests a second a client may send on average, Burst how many at once. 0: 100 and 400.
	Rate  float64
	Burst int
	// Rejected, if not nil, is called for each rejected request with the code of the problem.
	Rejected func(code string)
	Log      *slog.Logger // nil: nothing is logged
}

// sessionLife is how long a session lasts.
const sessionLife = 12 * time.Hour

// Authenticator identifies clients. Safe for concurrent use.
type Authenticator struct {
	config  Config
	rates   *rates
	origins *http.CrossOriginProtection
	oidc    *provider // nil without OIDC
	codes   codes
	page    func(http.ResponseWriter, *http.Request, *wire.Problem)
}

// New makes an Authenticator. With OIDC the configuration is read from the issuer, at the latest when the first person signs in.
func New(config Config) (*Authenticator, error) {
	switch {
	case config.Store == nil || config.Now == nil || config.Random == nil:
		return nil, errors.New("auth: store, clock and randomness must be set")
	case config.Local != "" && CheckToken(config.Local) != nil:
		return nil, fmt.Errorf("auth: the local token: %w", ErrNoToken)
	case config.Rate < 0 || config.Burst < 0:
		return nil, errors.New("auth: limits must not be negative")
	}
	config.Rate = cmp.Or(config.Rate, 100)
	config.Burst = cmp.Or(config.Burst, 400)
	config.Log = cmp.Or(config.Log, slog.New(slog.DiscardHandler))
	a := &Authenticator{config: config, rates: &rates{limit: rate.Limit(config.Rate), burst: config.Burst, now: config.Now, clients: map[string]*list.Element{}}, origins: http.NewCrossOriginProtection()}
	if config.PublicURL != nil {
		if err := a.origins.AddTrustedOrigin(config.PublicURL.Scheme + "://" + config.PublicURL.Host); err != nil {
			return nil, err
		}
	}
	if config.OIDC != nil {
		p, err := newProvider(config.OIDC, config.PublicURL)
		if err != nil {
			return nil, err
		}
		a.oidc = p
	}
	return a, nil
}

// ShowRejections sets how rejections are shown to people who ask for a page. It is called before the first request.
func (a *Authenticator) ShowRejections(page func(http.ResponseWriter, *http.Request, *wire.Problem)) {
	a.page = page
}

// HasOIDC says whether people can sign in by OpenID Connect.
func (a *Authenticator) HasOIDC() bool { return a.oidc != nil }

// secure says whether the browser of a request uses https. The header of a proxy can only make cookies stricter.
func (a *Authenticator) secure(r *http.Request) bool {
	return r.TLS != nil || a.config.PublicURL != nil && a.config.PublicURL.Scheme == "https" || r.Header.Get("X-Forwarded-Proto") == "https"
}

// ContentPolicy is the Content-Security-Policy of all responses that set none of their own: nothing from elsewhere, no inline scripts or
// styles, no frames.
const ContentPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; " +
	"manifest-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// Handler goes around everything that a server serves: it sets security headers, rejects requests that web pages of other sites send,
// identifies who sends a request, and limits its rate. Whether that is enough is decided by [Authenticator.Require].
func (a *Authenticator) Handler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a.headers(w, r)
		if err := a.origins.Check(r); err != nil {
			a.Reject(w, r, wire.NewProblem(http.StatusForbidden, wire.CrossOrigin, "the request comes from a page of another site").Because(err))
			return
		}
		// Credentials that were valid lately have a limit of their own. All others share that of their address, which is looked at before the
		// store is: guessing costs the store little, and those who guess behind a proxy disturb nobody who is known.
		credential, key := a.credential(r), clientKey(r)
		known := credential != "" && a.rates.knows(credential)
		if known {
			key = credential
		}
		if wait, ok := a.rates.take(key); !ok {
			a.Reject(w, r, wire.NewProblem(http.StatusTooManyRequests, wire.TooManyRequests, "too many requests; wait as Retry-After says").After(wait))
			return
		}
		who, fault := a.identify(r)
		switch valid := who != nil; {
		case valid && !known:
			a.rates.of(credential)
		case !valid && known:
			a.rates.forget(credential)
		}
		if fault != nil {
			a.Reject(w, r, fault)
			return
		}
		if who != nil {
			r = r.WithContext(With(r.Context(), who))
		}
		next.ServeHTTP(w, r)
	})
}

func (a *Authenticator) headers(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Security-Policy", ContentPolicy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=(), payment=(), usb=()")
	h.Set("Cache-Control", "no-store")                                  // static files set another
	if a.secure(r) && (r.TLS == nil || !httplimit.IsLoopback(r.Host)) { // browsers keep it for all ports of a name
		h.Set("Strict-Transport-Security", "max-age=31536000")
	}
}

// Check says whether whoever sends a request may do what a scope allows; without a scope, whether it is known who sends it.
func Check(who *Identity, scope Scope) *wire.Problem {
	switch {
	case who == nil:
		return unauthenticated("a token is needed: send it as Authorization: Bearer " + TokenPrefix + "..., or sign in")
	case len(who.Scopes) == 0 || scope != "" && !who.Can(scope):
		need := "any scope"
		if scope != "" {
			need = "the scope " + string(scope)
		}
		return wire.NewProblem(http.StatusForbidden, wire.Forbidden, "this needs "+need+", which "+who.Name+" does not have")
	}
	return nil
}

// Require goes around what needs a scope, or around what only needs to be known by whom it is asked for, with an empty scope. Somebody
// who asks for a page and is not known is sent to the page to sign in.
func (a *Authenticator) Require(scope Scope, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fault := Check(From(r.Context()), scope)
		switch {
		case fault == nil:
			next.ServeHTTP(w, r)
		case fault.Status == http.StatusUnauthorized && r.Method == http.MethodGet && wantsPage(r):
			http.Redirect(w, r, LoginPath+"?"+url.Values{"return": {r.URL.RequestURI()}}.Encode(), http.StatusSeeOther)
		default:
			a.Reject(w, r, fault)
		}
	})
}

func wantsPage(r *http.Request) bool { return strings.Contains(r.Header.Get("Accept"), "text/html") }

// Reject answers a request with a problem, or with a page about it, logs why, and counts it.
func (a *Authenticator) Reject(w http.ResponseWriter, r *http.Request, p *wire.Problem) {
	if a.config.Rejected != nil {
		a.config.Rejected(string(p.Code))
	}
	a.config.Log.InfoContext(r.Context(), "a request was rejected", "status", p.Status, "code", string(p.Code), "client", clientKey(r), "error", p)
	if a.page == nil || !wantsPage(r) || strings.HasPrefix(r.URL.Path, "/api/") {
		wire.WriteProblem(w, p)
		return
	}
	maps.Copy(w.Header(), p.GetHeaders())
	a.page(w, r, p)
}

// maxClients is how many clients have a limiter of their own; the one that was not heard of for longest is forgotten first.
const maxClients = 10_000

// rates limits clients, each by itself. Safe for concurrent use.
type rates struct {
	limit rate.Limit
	burst int
	now   func() time.Time

	mu      sync.Mutex
	clients map[string]*list.Element
	order   list.List // of *client, the last heard of in front
}

type client struct {
	key     string
	limiter *rate.Limiter
}

// take says whether a client may send a request now, and if not, after what time.
func (r *rates) take(key string) (wait time.Duration, ok bool) {
	now := r.now()
	reservation := r.of(key).ReserveN(now, 1)
	wait = reservation.DelayFrom(now)
	if wait > 0 {
		reservation.CancelAt(now)
	}
	return wait, wait == 0
}

func (r *rates) of(key string) *rate.Limiter {
	r.mu.Lock()
	defer r.mu.Unlock()
	if e, ok := r.clients[key]; ok {
		r.order.MoveToFront(e)
		return e.Value.(*client).limiter //nolint:forcetypeassert // the list has nothing else
	}
	if len(r.clients) >= maxClients {
		oldest := r.order.Back()
		delete(r.clients, r.order.Remove(oldest).(*client).key) //nolint:forcetypeassert // as above
	}
	c := &client{key, rate.NewLimiter(r.limit, r.burst)}
	r.clients[key] = r.order.PushFront(c)
	return c.limiter
}

// knows says whether a client has a limiter of its own.
func (r *rates) knows(key string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	_, ok := r.clients[key]
	return ok
}

func (r *rates) forget(key string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if e, ok := r.clients[key]; ok {
		r.order.Remove(e)
		delete(r.clients, key)
	}
}
