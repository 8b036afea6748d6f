package auth

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/shadowcourt/shadowcourt/internal/service/store"
	"github.com/shadowcourt/shadowcourt/internal/service/wire"
)

const sessionCookie = "shadowcourt_session"

func (a *Authenticator) cookieName(r *http.Request) string { return a.nameOf(sessionCookie, r) }

// nameOf is the name of a cookie. With https the prefix binds it to this host: no other host of the same domain can set it. Browsers send
// cookies to all ports of a host, so that services at several ports need cookies of their own.
func (a *Authenticator) nameOf(cookie string, r *http.Request) string {
	if port := (&url.URL{Host: r.Host}).Port(); port != "" {
		cookie += "_" + port
	}
	if a.secure(r) {
		return "__Host-" + cookie
	}
	return cookie
}

// bySession gives who has a session, or nil where it is unknown or over.
func (a *Authenticator) bySession(ctx context.Context, hash string) (*Identity, error) {
	s, err := a.config.Store.Session(ctx, hash)
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil //nolint:nilnil // nobody
	}
	if err != nil {
		return nil, err
	}
	who := &Identity{Submitter: s.Subject, Name: s.Name, Scopes: scopesOf(s.Scopes), Via: ViaSession}
	// A session ends with the token that it was begun with.
	if token := s.Data; token != "" && !a.isLocal(token) {
		t, err := a.validToken(ctx, token)
		if t == nil || err != nil {
			return nil, err
		}
		who.Repositories = t.Repositories
	}
	return who, nil
}

// begin begins a session of somebody who signed in, and has the browser keep its ID. Each sign-in gets an ID of its own, so that nobody can
// prepare one. token was used to sign in; empty for OIDC.
func (a *Authenticator) begin(w http.ResponseWriter, r *http.Request, who *Identity, token string) error {
	secret, err := newSecret(a.config.Random)
	if err != nil {
		return err
	}
	s := store.Session{Subject: who.Submitter, Name: who.Name, Scopes: Words(who.Scopes), Expires: a.config.Now().Add(sessionLife)}
	if token != "" {
		s.Data = HashOf(token)
	}
	if err := a.config.Store.AddSession(r.Context(), HashOf(secret), s); err != nil {
		return err
	}
	a.setCookie(w, r, a.cookieName(r), secret, sessionLife)
	return nil
}

// setCookie sets a cookie that scripts can't read, and that requests from other sites have only when a person follows a link.
func (a *Authenticator) setCookie(w http.ResponseWriter, r *http.Request, name, value string, life time.Duration) {
	c := &http.Cookie{ //nolint:gosec // Secure as far as the server is reached by https
		Name: name, Value: value, Path: "/", MaxAge: int(life / time.Second),
		HttpOnly: true, Secure: a.secure(r), SameSite: http.SameSiteLaxMode,
	}
	if life <= 0 {
		c.MaxAge = -1
	}
	http.SetCookie(w, c)
}

// The paths of signing in. The page at LoginPath (GET) is the caller's: a form that posts the fields "token" and "return" to LoginPath, and a
// link to OIDCPath with the parameter "return" where HasOIDC.
const (
	LoginPath    = "/login"
	LogoutPath   = "/logout"
	OIDCPath     = "/login/oidc"
	CallbackPath = "/login/callback"
)

// maxForm bounds the body of a form to sign in.
const maxForm = 8 << 10

// Register adds what signing in and out needs to a mux: POST LoginPath and LogoutPath, with OIDC the two steps
// of it, and with a local token what its owner needs for a browser.
func (a *Authenticator) Register(mux *http.ServeMux) {
	mux.HandleFunc("POST "+LoginPath, a.login)
	mux.HandleFunc("POST "+LogoutPath, a.logout)
	if a.HasLocal() {
		mux.HandleFunc("POST "+AddressPath, a.giveAddress)
		mux.HandleFunc("GET "+OncePath, a.once)
	}
	if a.oidc != nil {
		mux.HandleFunc("GET "+OIDCPath, a.startOIDC)
		mux.HandleFunc("GET "+CallbackPath, a.endOIDC)
	}
}

// login begins a session for somebody who has a token. A wrong one leads back to the page, with failed=1.
func (a *Authenticator) login(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	if err := r.ParseForm(); err != nil {
		a.Reject(w, r, wire.NewProblem(http.StatusBadRequest, wire.Invalid, "the form can't be read: it must be urlencoded and at most 8 KiB").Because(err))
		return
	}
	token, back := strings.TrimSpace(r.PostForm.Get("token")), ReturnPath(r.PostForm.Get("return"))
	who, fault := a.byToken(r.Context(), token)
	switch {
	case fault != nil && fault.Status != http.StatusUnauthorized:
		a.Reject(w, r, fault)
		return
	case fault != nil:
		if a.config.Rejected != nil {
			a.config.Rejected(string(fault.Code))
		}
		a.config.Log.InfoContext(r.Context(), "a token to sign in was rejected", "client", clientKey(r))
		http.Redirect(w, r, LoginPath+"?"+url.Values{"failed": {"1"}, "return": {back}}.Encode(), http.StatusSeeOther)
		return
	}
	if err := a.begin(w, r, who, token); err != nil {
		a.Reject(w, r, wire.NewProblem(http.StatusServiceUnavailable, wire.Unavailable, "no session can be kept now; try again").Because(err))
		return
	}
	http.Redirect(w, r, back, http.StatusSeeOther) //nolint:gosec // ReturnPath gives paths of this server alone
}

// logout ends the session.
func (a *Authenticator) logout(w http.ResponseWriter, r *http.Request) {
	name := a.cookieName(r)
	if c, err := r.Cookie(name); err == nil && isSecret(c.Value) {
		if err := a.config.Store.RemoveSession(r.Context(), HashOf(c.Value)); err != nil {
			a.Reject(w, r, wire.NewProblem(http.StatusServiceUnavailable, wire.Unavailable, "the session can't be ended now; try again").Because(err))
			return
		}
	}
	a.setCookie(w, r, name, "", 0)
	http.Redirect(w, r, LoginPath, http.StatusSeeOther)
}

// ReturnPath is the path to go to after signing in: one of this server, or "/" for anything else.
func ReturnPath(path string) string {
	u, err := url.Parse(path)
	switch {
	case err != nil, u.Scheme != "" || u.Host != "" || u.User != nil, !strings.HasPrefix(path, "/"):
		return "/"
	case strings.HasPrefix(path, "//") || strings.ContainsAny(path, "\\\r\n\t") || strings.HasPrefix(u.Path, "//"):
		return "/" // browsers take these for addresses of other hosts
	}
	return path
}

// The paths by which whoever runs the server signs in a browser.
const (
	// AddressPath makes an address that signs in a browser once, for requests with the local token.
	AddressPath = LoginPath + "/address"
	// OncePath is the path of such an address; its parameter "code" is good once.
	OncePath = LoginPath + "/once"
)

// CodeLife is how long an address that signs in a browser once is good. Browsers, terminals and proxies keep addresses for longer.
const CodeLife = time.Hour

// maxCodes is how many such addresses are good at a time; the oldest ends first.
const maxCodes = 16

// codes are those of addresses that sign in a browser. Safe for concurrent use.
type codes struct {
	mu   sync.Mutex
	list []code // the oldest first
}

// code is kept by its hash, so that how long a comparison takes does not depend on the codes that exist.
type code struct {
	hash    string
	expires time.Time
}

func (c *codes) add(secret string, now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.list) >= maxCodes {
		c.list = c.list[1:]
	}
	c.list = append(c.list, code{HashOf(secret), now.Add(CodeLife)})
}

// use says whether a code is good, and ends it.
func (c *codes) use(secret string, now time.Time) bool {
	hash := HashOf(secret)
	c.mu.Lock()
	defer c.mu.Unlock()
	i := slices.IndexFunc(c.list, func(c code) bool { return c.hash == hash })
	if i < 0 {
		return false
	}
	expires := c.list[i].expires
	c.list = slices.Delete(c.list, i, i+1)
	return now.Before(expires)
}

// localIdentity is whoever runs the server.
func localIdentity() *Identity {
	return &Identity{Submitter: LocalName, Name: LocalName, Scopes: AllScopes(), Via: ViaLocal}
}

// isLocal says whether a hash is that of the local token. Hashes are compared, so that the time does not depend on it.
func (a *Authenticator) isLocal(hash string) bool {
	return a.config.Local != "" && hash == HashOf(a.config.Local)
}

// HasLocal says whether whoever runs the server has the local token.
func (a *Authenticator) HasLocal() bool { return a.config.Local != "" }

// SignInAddress makes an address that signs in a browser once as whoever runs the server: a path of this server, or a whole URL where it
// is known how browsers reach it.
func (a *Authenticator) SignInAddress() (string, error) {
	secret, err := newSecret(a.config.Random)
	if err != nil {
		return "", err
	}
	a.codes.add(secret, a.config.Now())
	address := url.URL{Path: OncePath, RawQuery: url.Values{"code": {secret}}.Encode()}
	if a.config.PublicURL != nil {
		address.Scheme, address.Host = a.config.PublicURL.Scheme, a.config.PublicURL.Host
	}
	return address.String(), nil
}

// giveAddress answers whoever has the local token with an address to sign in.
func (a *Authenticator) giveAddress(w http.ResponseWriter, r *http.Request) {
	who := From(r.Context())
	if fault := Check(who, Operate); fault != nil {
		a.Reject(w, r, fault)
		return
	}
	if who.Via != ViaLocal {
		a.Reject(w, r, wire.NewProblem(http.StatusForbidden, wire.Forbidden, "only the local token of the server gives such an address; sign in with yours"))
		return
	}
	address, err := a.SignInAddress()
	if err != nil {
		a.Reject(w, r, wire.AsProblem(err))
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusCreated)
	_ = json.NewEncoder(w).Encode(map[string]string{"address": address}) // a reader that is gone
}

// once begins a session for a browser that has an address to sign in. Afterwards the address leads to the first page for who is signed in,
// so that it may be loaded again, and to the page to sign in for all others.
func (a *Authenticator) once(w http.ResponseWriter, r *http.Request) {
	secret := r.URL.Query().Get("code")
	if r.Method == http.MethodGet && isSecret(secret) && a.codes.use(secret, a.config.Now()) {
		if err := a.begin(w, r, localIdentity(), a.config.Local); err != nil {
			a.Reject(w, r, wire.NewProblem(http.StatusServiceUnavailable, wire.Unavailable, "no session can be kept now; get another address").Because(err))
			return
		}
		http.Redirect(w, r, "/", http.StatusSeeOther)
		return
	}
	if From(r.Context()) != nil {
		http.Redirect(w, r, "/", http.StatusSeeOther)
		return
	}
	a.config.Log.InfoContext(r.Context(), "an address to sign in was rejected", "client", clientKey(r))
	http.Redirect(w, r, LoginPath+"?failed=address", http.StatusSeeOther)
}
