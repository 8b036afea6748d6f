package auth_test

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/shadowcourt/shadowcourt/internal/service/auth"
	"github.com/shadowcourt/shadowcourt/internal/service/store"
	"github.com/shadowcourt/shadowcourt/internal/testkit/check"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

// issuer is a small OpenID provider: discovery, keys, the authorization endpoint (at which the person of the field is signed in at once)
// and the token endpoint, with PKCE.
type issuer struct {
	*httptest.Server
	key *rsa.PrivateKey

	mu      sync.Mutex
	claims  map[string]any        // of the person, beside those of each token
	pending map[string]url.Values // authorization requests by code
	change  func(token map[string]any)
	signer  *rsa.PrivateKey // signs in place of key
	uses    int
}

const clientID, clientSecret = "shadowcourt", "the client's secret"

func newIssuer(t *testing.T) *issuer {
	t.Helper()
	key := must.Get(rsa.GenerateKey(rand.Reader, 2048))(t)
	i := &issuer{key: key, pending: map[string]url.Values{}, claims: map[string]any{"sub": "42", "email": "Ann@Example.com", "email_verified": true}}
	mux := http.NewServeMux()
	i.Server = httptest.NewServer(mux)
	t.Cleanup(i.Close)
	answer := func(w http.ResponseWriter, v any) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(v)
	}
	mux.HandleFunc("GET /.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, map[string]any{
			"issuer": i.URL, "authorization_endpoint": i.URL + "/authorize", "token_endpoint": i.URL + "/token", "jwks_uri": i.URL + "/keys",
			"id_token_signing_alg_values_supported": []string{"RS256"},
		})
	})
	mux.HandleFunc("GET /keys", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: &key.PublicKey, KeyID: "1", Algorithm: "RS256", Use: "sig"}}})
	})
	mux.HandleFunc("GET /authorize", func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		code := rand.Text()
		i.mu.Lock()
		i.pending[code] = q
		i.mu.Unlock()
		http.Redirect(w, r, q.Get("redirect_uri")+"?"+url.Values{"code": {code}, "state": {q.Get("state")}}.Encode(), http.StatusFound)
	})
	mux.HandleFunc("POST /token", func(w http.ResponseWriter, r *http.Request) {
		i.mu.Lock()
		defer i.mu.Unlock()
		asked, ok := i.pending[r.PostFormValue("code")]
		delete(i.pending, r.PostFormValue("code"))
		challenge := sha256.Sum256([]byte(r.PostFormValue("code_verifier")))
		user, password, _ := r.BasicAuth()
		password, _ = url.QueryUnescape(password)
		switch {
		case !ok, user != clientID || password != clientSecret,
			asked.Get("code_challenge_method") != "S256" || asked.Get("code_challenge") != base64.RawURLEncoding.EncodeToString(challenge[:]),
			r.PostFormValue("redirect_uri") != asked.Get("redirect_uri"):
			w.WriteHeader(http.StatusBadRequest)
			answer(w, map[string]any{"error": "invalid_grant"})
			return
		}
		i.uses++
		answer(w, map[string]any{"access_token": "x", "token_type": "Bearer", "id_token": i.token(t, asked.Get("nonce"))})
	})
	return i
}

func (i *issuer) token(t *testing.T, nonce string) string {
	t.Helper()
	claims := map[string]any{"iss": i.URL, "aud": clientID, "nonce": nonce, "iat": time.Now().Unix(), "exp": time.Now().Add(time.Hour).Unix()}
	maps.Copy(claims, i.claims)
	if i.change != nil {
		i.change(claims)
	}
	key := i.key
	if i.signer != nil {
		key = i.signer
	}
	signer := must.Get(jose.NewSigner(jose.SigningKey{Algorithm: jose.RS256, Key: jose.JSONWebKey{Key: key, KeyID: "1"}}, nil))(t)
	signed := must.Get(signer.Sign(must.Get(json.Marshal(claims))(t)))(t)
	return must.Get(signed.CompactSerialize())(t)
}

func oidcSite(t *testing.T, i *issuer, change func(*auth.OIDC)) *site {
	t.Helper()
	return newSite(t, func(server *httptest.Server, c *auth.Config) {
		c.PublicURL = &url.URL{Scheme: "http", Host: server.Listener.Addr().String()}
		c.OIDC = &auth.OIDC{Issuer: i.URL, ClientID: clientID, Secret: clientSecret, Allow: []string{"@example.com"}, Operate: []string{"group:operators"}}
		if change != nil {
			change(c.OIDC)
		}
	})
}

// signIn follows the redirects by hand, and gives the answer of the callback.
func signIn(t *testing.T, s *site, b *http.Client, edit func(callback *url.URL)) (int, string, string) {
	t.Helper()
	status, body, h := ask(t, b, "GET", s.URL+auth.OIDCPath+"?return=/review", nil, "")
	must.Equal(t, status, 303, body)
	if cookie := h.Get("Set-Cookie"); !strings.Contains(cookie, "HttpOnly") || !strings.Contains(cookie, "SameSite=Lax") {
		t.Errorf("cookie %q", cookie)
	}
	_, _, h = ask(t, b, "GET", h.Get("Location"), nil, "")
	callback := must.Get(url.Parse(h.Get("Location")))(t)
	if edit != nil {
		edit(callback)
	}
	status, body, h = ask(t, b, "GET", callback.String(), nil, "")
	return status, body, h.Get("Location")
}

func TestAccept_SV5_OIDCSignsPeopleIn(t *testing.T) {
	t.Parallel()
	i := newIssuer(t)
	s := oidcSite(t, i, nil)
	b := browser(t)
	status, body, location := signIn(t, s, b, nil)
	if status != 303 || location != "/review" {
		t.Fatalf("%d %s to %q", status, body, location)
	}
	if status, body, _ := ask(t, b, "GET", s.URL+"/review", nil, ""); status != 200 || body != "oidc:42 session" {
		t.Errorf("%d %s", status, body)
	}
	if status, _, _ := ask(t, b, "GET", s.URL+"/operate", nil, ""); status != 403 {
		t.Errorf("somebody who is no operator: %d", status)
	}
	check.Equal(t, must.Get(s.sessionOf(t, b))(t).Name, "ann@example.com", "named")
	i.claims["groups"] = []string{"x", "operators"}
	b = browser(t)
	signIn(t, s, b, nil)
	if status, body, _ := ask(t, b, "GET", s.URL+"/operate", nil, ""); status != 200 {
		t.Errorf("an operator: %d %s", status, body)
	}
}

func TestAccept_SV5_OIDCRejectsWhatIsNotOurs(t *testing.T) {
	t.Parallel()
	stranger := must.Get(rsa.GenerateKey(rand.Reader, 2048))(t)
	claim := func(name string, value any) func(*issuer) {
		return func(i *issuer) { i.change = func(c map[string]any) { c[name] = value } }
	}
	for name, tc := range map[string]struct {
		issuer func(*issuer)
		edit   func(*url.URL)
		want   int
	}{
		"another state":       {nil, func(u *url.URL) { setQuery(u, "state", rand.Text()) }, 400},
		"no state":            {nil, func(u *url.URL) { setQuery(u, "state", "") }, 400},
		"another code":        {nil, func(u *url.URL) { setQuery(u, "code", rand.Text()) }, 403},
		"an error":            {nil, func(u *url.URL) { setQuery(u, "error", "access_denied") }, 403},
		"another nonce":       {claim("nonce", "replayed"), nil, 403},
		"another audience":    {claim("aud", "somebody else"), nil, 403},
		"another issuer":      {claim("iss", "https://attacker.example"), nil, 403},
		"expired":             {claim("exp", 1000), nil, 403},
		"another key":         {func(i *issuer) { i.signer = stranger }, nil, 403},
		"another domain":      {claim("email", "ann@example.com.attacker.example"), nil, 403},
		"not verified":        {claim("email_verified", false), nil, 403},
		"verified as a word":  {claim("email_verified", "true"), nil, 303},
		"verification absent": {claim("email_verified", nil), nil, 403},
		"odd groups":          {claim("groups", 7), nil, 403},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			i := newIssuer(t)
			if tc.issuer != nil {
				tc.issuer(i)
			}
			s := oidcSite(t, i, nil)
			b := browser(t)
			status, body, _ := signIn(t, s, b, tc.edit)
			if _, err := s.sessionOf(t, b); status != tc.want || (status == 303) != (err == nil) {
				t.Errorf("%d %s, session: %v", status, body, err)
			}
		})
	}
}

func setQuery(u *url.URL, name, value string) {
	q := u.Query()
	q.Set(name, value)
	u.RawQuery = q.Encode()
}

func TestAccept_SV5_OIDCIsBoundToTheBrowserAndTheTime(t *testing.T) {
	t.Parallel()
	i := newIssuer(t)
	s := oidcSite(t, i, nil)
	victim := browser(t)
	// Somebody sends a link with a callback of their own to another browser.
	_, _, h := ask(t, browser(t), "GET", s.URL+auth.OIDCPath, nil, "")
	_, _, h = ask(t, nil, "GET", h.Get("Location"), nil, "")
	callback := h.Get("Location")
	status, _, _ := ask(t, victim, "GET", callback, nil, "")
	if _, err := s.sessionOf(t, victim); status != 400 || err == nil {
		t.Errorf("another browser: %d", status)
	}
	status, _, _ = signIn(t, s, victim, func(*url.URL) { s.clock.move(11 * time.Minute) })
	check.Equal(t, status, 400, "too late")
	// A callback is used once.
	b := browser(t)
	var used string
	if status, body, _ := signIn(t, s, b, func(u *url.URL) { used = u.String() }); status != 303 {
		t.Fatalf("%d %s", status, body)
	}
	if status, _, _ := ask(t, b, "GET", used, nil, ""); status != 400 {
		t.Errorf("used again: %d", status)
	}
}

func TestAccept_SV5_AnIssuerThatIsDownIsNoDeadEnd(t *testing.T) {
	t.Parallel()
	i := newIssuer(t)
	s := oidcSite(t, i, nil)
	i.Close()
	if status, body, _ := ask(t, nil, "GET", s.URL+auth.OIDCPath, nil, ""); status != 503 || !strings.Contains(body, "token") {
		t.Errorf("%d %s", status, body)
	}
	if status, _, _ := ask(t, nil, "GET", s.URL+"/any", with("Authorization", "Bearer "+s.add(t, "ci", auth.Submit)), ""); status != 200 {
		t.Errorf("with a token: %d", status)
	}
}

func TestOIDCNeedsRulesAndHTTPS(t *testing.T) {
	t.Parallel()
	whole := auth.OIDC{Issuer: "https://issuer.example", ClientID: "x", Allow: []string{"*"}}
	for name, change := range map[string]func(*auth.OIDC, *auth.Config){
		"no rule":       func(o *auth.OIDC, _ *auth.Config) { o.Allow = nil },
		"an odd rule":   func(o *auth.OIDC, _ *auth.Config) { o.Operate = []string{"everybody"} },
		"no domain":     func(o *auth.OIDC, _ *auth.Config) { o.Allow = []string{"@"} },
		"no group":      func(o *auth.OIDC, _ *auth.Config) { o.Allow = []string{"group:"} },
		"http":          func(o *auth.OIDC, _ *auth.Config) { o.Issuer = "http://issuer.example" },
		"no client":     func(o *auth.OIDC, _ *auth.Config) { o.ClientID = "" },
		"no public URL": func(_ *auth.OIDC, c *auth.Config) { c.PublicURL = nil },
	} {
		o := whole
		c := auth.Config{Store: &store.Store{}, Now: time.Now, Random: rand.Reader, OIDC: &o, PublicURL: &url.URL{Scheme: "https", Host: "court.example"}}
		change(&o, &c)
		if _, err := auth.New(c); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}
