package auth

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
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
	s := store.Session{Subject: who.Submitter, Name: who.Name, Scopes: Words(who.Scopes), Expires: a.config.Now().Add(a.config.SessionLife)}
	if token != "" {
		s.Data = HashOf(token)
	}
	if err := a.config.Store.AddSession(r.Context(), HashOf(secret), s); err != nil {
		return err
	}
	a.setCookie(w, r, a.cookieName(r), secret, a.config.SessionLife)
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
