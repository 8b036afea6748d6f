package auth

import (
	"cmp"
	"context"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"github.com/shadowcourt/shadowcourt/internal/httplimit"
	"github.com/shadowcourt/shadowcourt/internal/service/wire"
)

// OIDC is the configuration of OpenID Connect. People are matched by rules: an address (ann@example.com), all addresses of a domain
// (@example.com), a group (group:ci), or everybody whom the issuer knows (*). Addresses count only where the issuer verified them.
type OIDC struct {
	Issuer   string // https, or http on loopback
	ClientID string
	Secret   string   // empty for a public client
	Allow    []string // who may submit and review; nobody else may sign in, but for those in Operate
	Operate  []string // who may do everything
	// Scopes are asked for beside openid, profile and email.
	Scopes []string
	// Client is used for requests to the issuer; nil: one with limits of time and size.
	Client *http.Client
}

// flowLife is how long a person may take to sign in at the issuer.
const flowLife = 10 * time.Minute

const flowCookie = "shadowcourt_oidc"

// maxIssuerAnswer bounds answers of the issuer.
const maxIssuerAnswer = 1 << 20

// provider is OpenID Connect with an issuer, whose configuration is read when it is first needed.
type provider struct {
	config   *OIDC
	callback string
	client   *http.Client

	fault atomic.Pointer[error] // of the last attempt to read its configuration; nil where there was none, or it succeeded

	mu       sync.Mutex
	verifier *oidc.IDTokenVerifier
	oauth    *oauth2.Config
}

// Check says what is missing or wrong, for a server with a public URL.
func (o *OIDC) Check(public *url.URL) error {
	issuer, err := url.Parse(o.Issuer)
	switch {
	case public == nil:
		return errors.New("OIDC needs the public URL of the server: the issuer sends people back there")
	case err != nil || issuer.Host == "" || issuer.Scheme != "https" && (issuer.Scheme != "http" || !httplimit.IsLoopback(issuer.Host)):
		return fmt.Errorf("OIDC issuer %q: use an https URL", o.Issuer)
	case o.ClientID == "":
		return errors.New("OIDC needs a client ID")
	case len(o.Allow)+len(o.Operate) == 0:
		return errors.New("OIDC needs a rule of who may sign in: an address, @domain, group:NAME or *")
	}
	for _, rule := range slices.Concat(o.Allow, o.Operate) {
		group, isGroup := strings.CutPrefix(rule, groupRule)
		_, domain, _ := strings.Cut(rule, "@")
		if rule != "*" && (isGroup && group == "" || !isGroup && domain == "") {
			return fmt.Errorf("OIDC rule %q: use an address, @domain, group:NAME or *", rule)
		}
	}
	return nil
}

func newProvider(config *OIDC, public *url.URL) (*provider, error) {
	if err := config.Check(public); err != nil {
		return nil, err
	}
	p := &provider{config: config, callback: public.JoinPath(CallbackPath).String(), client: config.Client}
	p.client = cmp.Or(p.client, &http.Client{Timeout: 10 * time.Second, Transport: bounded{http.DefaultTransport}})
	return p, nil
}

// bounded bounds the bodies of responses.
type bounded struct{ http.RoundTripper }

func (b bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := b.RoundTripper.RoundTrip(r)
	if err == nil {
		response.Body = struct {
			io.Reader
			io.Closer
		}{io.LimitReader(response.Body, maxIssuerAnswer), response.Body}
	}
	return response, err
}

// ready reads the issuer's configuration, once.
func (p *provider) ready(ctx context.Context) (*oauth2.Config, *oidc.IDTokenVerifier, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.oauth != nil {
		return p.oauth, p.verifier, nil
	}
	found, err := oidc.NewProvider(oidc.ClientContext(ctx, p.client), p.config.Issuer)
	if err != nil {
		p.fault.Store(&err)
		return nil, nil, err
	}
	p.fault.Store(nil)
	p.verifier = found.Verifier(&oidc.Config{ClientID: p.config.ClientID})
	p.oauth = &oauth2.Config{
		ClientID: p.config.ClientID, ClientSecret: p.config.Secret, Endpoint: found.Endpoint(), RedirectURL: p.callback,
		Scopes: append([]string{oidc.ScopeOpenID, "profile", "email"}, p.config.Scopes...),
	}
	return p.oauth, p.verifier, nil
}

// CheckIssuer reads the configuration of the OIDC issuer, unless it is known. Without OIDC there is nothing to check.
func (a *Authenticator) CheckIssuer(ctx context.Context) error {
	if a.oidc == nil {
		return nil
	}
	if _, _, err := a.oidc.ready(ctx); err != nil {
		return fmt.Errorf("OIDC issuer %s: %w", a.oidc.config.Issuer, err)
	}
	return nil
}

// IssuerFails says whether people can't sign in by OpenID Connect now: its issuer did not answer as it should when it was last asked.
func (a *Authenticator) IssuerFails() bool { return a.oidc != nil && a.oidc.fault.Load() != nil }

// flow is what the browser keeps while a person signs in at the issuer.
type flow struct {
	State    string `json:"s"` // the issuer sends it back
	Nonce    string `json:"n"` // the ID token has it
	Verifier string `json:"v"` // of PKCE
	Return   string `json:"r"`
	Expires  int64  `json:"e"`
}

func (a *Authenticator) flowCookie(r *http.Request) string { return a.nameOf(flowCookie, r) }

func unavailableIssuer(err error) *wire.Problem {
	return wire.NewProblem(http.StatusServiceUnavailable, wire.Unavailable, "the OIDC issuer does not answer as it should; try again, or sign in with a token").Because(err)
}

// startOIDC sends a person to the issuer.
func (a *Authenticator) startOIDC(w http.ResponseWriter, r *http.Request) {
	config, _, err := a.oidc.ready(r.Context())
	if err != nil {
		a.Reject(w, r, unavailableIssuer(err))
		return
	}
	var f flow
	for _, into := range []*string{&f.State, &f.Nonce, &f.Verifier} {
		if *into, err = newSecret(a.config.Random); err != nil {
			a.Reject(w, r, wire.AsProblem(err))
			return
		}
	}
	f.Return, f.Expires = ReturnPath(r.URL.Query().Get("return")), a.config.Now().Add(flowLife).Unix()
	if len(f.Return) > 1024 {
		f.Return = "/"
	}
	text, err := json.Marshal(f)
	if err != nil {
		a.Reject(w, r, wire.AsProblem(err))
		return
	}
	a.setCookie(w, r, a.flowCookie(r), base64.RawURLEncoding.EncodeToString(text), flowLife)
	http.Redirect(w, r, config.AuthCodeURL(f.State, oidc.Nonce(f.Nonce), oauth2.S256ChallengeOption(f.Verifier)), http.StatusSeeOther)
}

// flowOf gives what the browser kept, if it is of this sign-in.
func (a *Authenticator) flowOf(r *http.Request) (*flow, bool) {
	c, err := r.Cookie(a.flowCookie(r))
	if err != nil {
		return nil, false
	}
	text, err := base64.RawURLEncoding.DecodeString(c.Value)
	if err != nil {
		return nil, false
	}
	f := &flow{}
	if json.Unmarshal(text, f) != nil || !isSecret(f.State) || !isSecret(f.Nonce) || !isSecret(f.Verifier) {
		return nil, false
	}
	sent := r.URL.Query().Get("state")
	return f, subtle.ConstantTimeCompare([]byte(sent), []byte(f.State)) == 1 && a.config.Now().Unix() < f.Expires
}

// endOIDC is where the issuer sends a person back to.
func (a *Authenticator) endOIDC(w http.ResponseWriter, r *http.Request) {
	f, ok := a.flowOf(r)
	a.setCookie(w, r, a.flowCookie(r), "", 0) // it is used once
	if !ok {
		a.Reject(w, r, wire.NewProblem(http.StatusBadRequest, wire.Invalid, "this sign-in was not begun by this browser, or took too long; sign in again"))
		return
	}
	if code := r.URL.Query().Get("error"); code != "" {
		a.Reject(w, r, wire.NewProblem(http.StatusForbidden, wire.Forbidden, "the OIDC issuer let nobody sign in; its answer is in the server's log").
			Because(fmt.Errorf("issuer: %.100q", code)))
		return
	}
	person, fault := a.person(r.Context(), f, r.URL.Query().Get("code"))
	if fault != nil {
		a.Reject(w, r, fault)
		return
	}
	if err := a.begin(w, r, person, ""); err != nil {
		a.Reject(w, r, wire.NewProblem(http.StatusServiceUnavailable, wire.Unavailable, "no session can be kept now; try again").Because(err))
		return
	}
	http.Redirect(w, r, ReturnPath(f.Return), http.StatusSeeOther)
}

// person exchanges the code for an ID token, verifies it, and says what the person may do.
func (a *Authenticator) person(ctx context.Context, f *flow, code string) (*Identity, *wire.Problem) {
	config, verifier, err := a.oidc.ready(ctx)
	if err != nil {
		return nil, unavailableIssuer(err)
	}
	answer, err := config.Exchange(oidc.ClientContext(ctx, a.oidc.client), code, oauth2.VerifierOption(f.Verifier))
	if err != nil {
		return nil, wire.NewProblem(http.StatusForbidden, wire.Forbidden, "the OIDC issuer did not accept the code; sign in again").Because(errors.New("the code was not exchanged"))
	}
	raw, ok := answer.Extra("id_token").(string)
	if !ok {
		return nil, unavailableIssuer(errors.New("the issuer's answer has no ID token"))
	}
	token, err := verifier.Verify(oidc.ClientContext(ctx, a.oidc.client), raw)
	if err == nil && subtle.ConstantTimeCompare([]byte(token.Nonce), []byte(f.Nonce)) != 1 {
		err = errors.New("the ID token has another nonce")
	}
	if err != nil {
		return nil, wire.NewProblem(http.StatusForbidden, wire.Forbidden, "the ID token is not valid; sign in again").Because(err)
	}
	claims, err := a.oidc.claims(token)
	if err != nil {
		return nil, wire.NewProblem(http.StatusForbidden, wire.Forbidden, "the ID token can't be read").Because(err)
	}
	scopes := a.oidc.config.scopes(claims)
	if len(scopes) == 0 {
		return nil, wire.NewProblem(http.StatusForbidden, wire.Forbidden, "you are signed in at the issuer, and no rule of this server lets you in; ask who runs it")
	}
	return &Identity{Submitter: OIDCPrefix + token.Subject, Name: claims.name(token.Subject), Scopes: scopes}, nil
}

// groupRule begins a rule that matches a group.
const groupRule = "group:"

// claims are what rules look at.
type claims struct {
	Email    string
	Verified bool
	Groups   []string
}

// claims reads the claims of a verified ID token. Some issuers write email_verified as a string.
func (p *provider) claims(token *oidc.IDToken) (*claims, error) {
	var all map[string]json.RawMessage
	if err := token.Claims(&all); err != nil {
		return nil, err
	}
	c := &claims{}
	if raw, ok := all["email"]; ok {
		if err := json.Unmarshal(raw, &c.Email); err != nil {
			return nil, fmt.Errorf("claim email: %w", err)
		}
	}
	verified := string(all["email_verified"])
	c.Verified = verified == "true" || verified == `"true"`
	if raw, ok := all["groups"]; ok {
		if err := json.Unmarshal(raw, &c.Groups); err != nil {
			return nil, fmt.Errorf("claim groups is no list of names: %w", err)
		}
	}
	return c, nil
}

// name is what others see of a person.
func (c *claims) name(subject string) string {
	if c.Email != "" && c.Verified {
		return strings.ToLower(c.Email)
	}
	return subject
}

// scopes are what the rules let a person do; none: the person may not sign in.
func (o *OIDC) scopes(c *claims) []Scope {
	switch {
	case slices.ContainsFunc(o.Operate, c.matches):
		return AllScopes()
	case slices.ContainsFunc(o.Allow, c.matches):
		return []Scope{Submit, Review}
	}
	return nil
}

func (c *claims) matches(rule string) bool {
	if rule == "*" {
		return true
	}
	if group, ok := strings.CutPrefix(rule, groupRule); ok {
		return slices.Contains(c.Groups, group)
	}
	at := strings.LastIndexByte(c.Email, '@')
	if !c.Verified || at <= 0 {
		return false
	}
	if strings.HasPrefix(rule, "@") {
		return strings.EqualFold(c.Email[at:], rule)
	}
	return strings.EqualFold(c.Email, rule)
}
