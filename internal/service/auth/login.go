package auth

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/shadowcourt/shadowcourt/internal/service/wire"
)

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
		if err := a.config.Store.RemoveSession(r.Context(), HashOf(c.Value).String()); err != nil {
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
