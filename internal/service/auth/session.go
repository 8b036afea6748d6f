package auth

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"time"
)

// Session is what is kept of a person who signed in.
type Session struct {
	Hash      Hash // of the cookie's value
	Submitter string
	Name      string
	Scopes    []Scope
	Created   time.Time
	Expires   time.Time
	// Token is the hash of the token that was used to sign in: its session ends with it. Zero for OIDC.
	Token Hash
}

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
	s, err := a.config.Store.AuthSession(ctx, hash)
	if errors.Is(err, ErrUnknown) {
		return nil, nil //nolint:nilnil // nobody
	}
	if err != nil {
		return nil, err
	}
	if !a.config.Now().Before(s.Expires) {
		return nil, nil //nolint:nilnil // nobody
	}
	who := &Identity{Submitter: s.Submitter, Name: s.Name, Scopes: sorted(s.Scopes), Via: ViaSession}
	if s.Token != (Hash{}) && !a.isLocal(s.Token) {
		t, err := a.validToken(ctx, s.Token)
		if t == nil || err != nil {
			return nil, err
		}
		who.Repositories = t.Repositories
	}
	return who, nil
}

// begin begins a session, and has the browser keep its ID. Each sign-in gets an ID of its own, so that nobody can prepare one.
func (a *Authenticator) begin(w http.ResponseWriter, r *http.Request, s Session) error {
	secret, err := newSecret(a.config.Random)
	if err != nil {
		return err
	}
	s.Hash, s.Created = HashOf(secret), a.config.Now()
	s.Expires = s.Created.Add(a.config.SessionLife)
	if err := a.config.Store.AddSession(r.Context(), &s); err != nil {
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
