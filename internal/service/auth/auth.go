// Package auth identifies who sends a request, and limits what a request may be: tokens with scopes, sessions of people who signed in
// (with a token, by OpenID Connect, or with an address that whoever runs the server is given), protection against requests from other sites, security headers, and limits
// of sizes, times and rates.
//
// An [Authenticator] is middleware for net/http: [Authenticator.Handler] goes around everything that a server serves, [Authenticator.Require]
// around what needs a scope. Everything is safe for concurrent use.
package auth

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"time"

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
	// SessionLife is how long a session lasts; 0: 12 hours.
	SessionLife time.Duration
	// Rate is how many requests a second a client may send on average, Burst how many at once. 0: 100 and 400.
	Rate  float64
	Burst int
	// Rejected, if not nil, is told of each rejected request: the code of the problem.
	Rejected func(code string)
	Log      *slog.Logger // nil: nothing is logged
}

const defaultSessionLife = 12 * time.Hour

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
	case config.Rate < 0 || config.Burst < 0 || config.SessionLife < 0:
		return nil, errors.New("auth: limits must not be negative")
	}
	if config.SessionLife == 0 {
		config.SessionLife = defaultSessionLife
	}
	if config.Rate == 0 {
		config.Rate = 100
	}
	if config.Burst == 0 {
		config.Burst = 400
	}
	if config.Log == nil {
		config.Log = slog.New(slog.DiscardHandler)
	}
	a := &Authenticator{config: config, rates: newRates(config.Rate, config.Burst, config.Now), origins: http.NewCrossOriginProtection()}
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

// ShowRejections has people who ask for a page told by one why they are rejected. It is called before the first request.
func (a *Authenticator) ShowRejections(page func(http.ResponseWriter, *http.Request, *wire.Problem)) {
	a.page = page
}

// HasOIDC says whether people can sign in by OpenID Connect.
func (a *Authenticator) HasOIDC() bool { return a.oidc != nil }

// secure says whether the browser of a request uses https. The header of a proxy can only make cookies stricter.
func (a *Authenticator) secure(r *http.Request) bool {
	return r.TLS != nil || a.config.PublicURL != nil && a.config.PublicURL.Scheme == "https" || r.Header.Get("X-Forwarded-Proto") == "https"
}
