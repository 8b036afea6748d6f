package auth

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"time"

	"github.com/shadowcourt/shadowcourt/internal/service/store"
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
func (a *Authenticator) bySession(ctx context.Context, hash Hash) (*Identity, error) {
	s, err := a.config.Store.Session(ctx, hash.String())
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil //nolint:nilnil // nobody
	}
	if err != nil {
		return nil, err
	}
	who := &Identity{Submitter: s.Subject, Name: s.Name, Scopes: scopesOf(s.Scopes), Via: ViaSession}
	// A session ends with the token that it was begun with.
	if token := s.Data; token != "" && (a.config.Local == "" || token != HashOf(a.config.Local).String()) {
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
		s.Data = HashOf(token).String()
	}
	if err := a.config.Store.AddSession(r.Context(), HashOf(secret).String(), s); err != nil {
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
