package auth_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/shadowcourt/shadowcourt/internal/httplimit"
	"github.com/shadowcourt/shadowcourt/internal/service/auth"
	"github.com/shadowcourt/shadowcourt/internal/service/store"
	"github.com/shadowcourt/shadowcourt/internal/service/wire"
	"github.com/shadowcourt/shadowcourt/internal/testkit/check"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

// ask sends a request and gives status, body and headers.
func ask(t *testing.T, client *http.Client, method, address string, header http.Header, body string) (int, string, http.Header) {
	t.Helper()
	r := must.Get(http.NewRequestWithContext(t.Context(), method, address, strings.NewReader(body)))(t)
	for name, values := range header {
		if name == "Host" {
			r.Host = values[0]
			continue
		}
		r.Header[name] = values
	}
	if client == nil {
		client = &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	}
	response, err := client.Do(r)
	must.Do(t, err)
	defer func() { _ = response.Body.Close() }()
	text := must.Get(io.ReadAll(response.Body))(t)
	return response.StatusCode, string(text), response.Header
}

// status is ask for a page, of which only the status counts.
func status(t *testing.T, client *http.Client, address string, header ...string) int {
	t.Helper()
	got, _, _ := ask(t, client, "GET", address, with(header...), "")
	return got
}

// login signs in by the form.
func login(t *testing.T, client *http.Client, site, token, back string, header ...string) (int, string, http.Header) {
	t.Helper()
	return ask(t, client, "POST", site+"/login", with(append(header, "Content-Type", "application/x-www-form-urlencoded")...), url.Values{"token": {token}, "return": {back}}.Encode())
}

func with(pairs ...string) http.Header {
	h := http.Header{}
	for i := 0; i < len(pairs); i += 2 {
		h.Add(pairs[i], pairs[i+1])
	}
	return h
}

func TestAccept_SV5_WrongCredentialsAreRejectedEverywhere(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	valid := s.add(t, "ci", auth.Submit)
	revoked, id := s.keep(t, store.Token{Submitter: "old", Scopes: []string{"submit"}})
	must.Do(t, s.store.RevokeToken(t.Context(), id))
	expired, _ := s.keep(t, store.Token{Submitter: "late", Scopes: []string{"submit"}, Expires: s.clock.now()})
	last := valid[:len(valid)-1] + "A"
	if last == valid {
		last = valid[:len(valid)-1] + "E"
	}
	for name, values := range map[string][]string{
		"another token": {"Bearer " + last}, "revoked": {"Bearer " + revoked}, "expired": {"Bearer " + expired}, "no prefix": {"Bearer " + strings.TrimPrefix(valid, auth.TokenPrefix)},
		"its hash": {"Bearer " + auth.TokenPrefix + auth.HashOf(valid)[:43]}, "basic": {"Basic " + valid}, "empty": {""}, "bearer alone": {"Bearer"},
		"two": {"Bearer " + valid, "Bearer " + valid}, "with a blank behind": {"Bearer " + valid + "x"}, "long": {"Bearer " + strings.Repeat("a", 20_000)},
	} {
		status, body, _ := ask(t, nil, "GET", s.URL+"/any", http.Header{"Authorization": values}, "")
		if status != 401 || strings.Contains(body, valid) {
			t.Errorf("%s: %d %s", name, status, body)
		}
	}
	check.Equal(t, s.codes.get(string(wire.Unauthenticated)), 11, "rejections were counted")
}

func TestAccept_SV5_RequestsFromOtherSitesAreRejected(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	token := s.add(t, "op", auth.Operate)
	for name, tc := range map[string]struct {
		method string
		header http.Header
		want   int
	}{
		"a program":             {"POST", nil, 200},
		"our own page":          {"POST", with("Sec-Fetch-Site", "same-origin", "Origin", s.URL), 200},
		"another site":          {"POST", with("Sec-Fetch-Site", "cross-site", "Origin", "https://attacker.example"), 403},
		"another port":          {"POST", with("Sec-Fetch-Site", "same-site", "Origin", "http://127.0.0.1:1"), 403},
		"an older browser":      {"POST", with("Origin", "https://attacker.example"), 403},
		"no origin":             {"POST", with("Origin", "null"), 403},
		"deleting":              {"DELETE", with("Sec-Fetch-Site", "cross-site"), 403},
		"reading by a link":     {"GET", with("Sec-Fetch-Site", "cross-site"), 200},
		"an older browser ours": {"POST", with("Origin", s.URL), 200},
	} {
		header := tc.header.Clone()
		if header == nil {
			header = with()
		}
		header.Set("Authorization", "Bearer "+token)
		status, body, answer := ask(t, nil, tc.method, s.URL+"/operate", header, "")
		check.Equal(t, status, tc.want, name, body)
		check.Equal(t, answer.Get("Access-Control-Allow-Origin"), "", name, "other origins may read the answer")
	}
}

func TestAccept_SV5_SecurityHeaders(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	for _, path := range []string{"/", "/any", "/nowhere"} {
		_, _, h := ask(t, nil, "GET", s.URL+path, nil, "")
		policy := h.Get("Content-Security-Policy")
		for _, part := range []string{"default-src 'none'", "script-src 'self'", "frame-ancestors 'none'", "base-uri 'none'", "form-action 'self'"} {
			check.Contains(t, policy, part, path, "policy")
		}
		if strings.Contains(policy, "unsafe") {
			t.Errorf("%s: policy %q", path, policy)
		}
		for name, want := range map[string]string{
			"X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY", "Cross-Origin-Opener-Policy": "same-origin", "Cache-Control": "no-store",
		} {
			check.Equal(t, h.Get(name), want, path, name)
		}
		check.Equal(t, h.Get("Strict-Transport-Security"), "", path, "promises https without it")
	}
}

func TestAccept_SV5_SessionsOfTokens(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	token := s.add(t, "ann", auth.Review)
	b := browser(t)
	page := with("Accept", "text/html,*/*")
	status, _, h := ask(t, b, "GET", s.URL+"/review?x=1", page, "")
	if want := "/login?return=%2Freview%3Fx%3D1"; status != 303 || h.Get("Location") != want {
		t.Fatalf("a stranger: %d to %q", status, h.Get("Location"))
	}
	status, _, h = login(t, b, s.URL, "sct_wrong", "/review")
	if status != 303 || h.Get("Location") != "/login?failed=1&return=%2Freview" || h.Get("Set-Cookie") != "" {
		t.Errorf("a wrong token: %d to %q", status, h.Get("Location"))
	}
	status, _, h = login(t, b, s.URL, " "+token+"\n", "/review?x=1")
	cookie := h.Get("Set-Cookie")
	if status != 303 || h.Get("Location") != "/review?x=1" {
		t.Fatalf("signing in: %d to %q", status, h.Get("Location"))
	}
	for _, part := range []string{"HttpOnly", "SameSite=Lax", "Path=/", "Max-Age=43200"} {
		check.Contains(t, cookie, part, "cookie")
	}
	if strings.Contains(cookie, token) || strings.Contains(cookie, "Secure") {
		t.Errorf("cookie %q", cookie)
	}
	value, _, _ := strings.Cut(cookie[strings.IndexByte(cookie, '=')+1:], ";")
	if _, err := s.store.Session(t.Context(), value); err == nil {
		t.Error("the cookie is what the store keeps")
	}
	if status, body, _ := ask(t, b, "GET", s.URL+"/review", page, ""); status != 200 || body != "ann session" {
		t.Errorf("signed in: %d %s", status, body)
	}
	if status, _, _ := ask(t, b, "GET", s.URL+"/operate", page, ""); status != 403 {
		t.Errorf("a scope that the token does not have: %d", status)
	}
	// Signing out ends the session for everybody who has the cookie.
	other := *b
	if status, _, _ := ask(t, b, "POST", s.URL+"/logout", nil, ""); status != 303 {
		t.Errorf("signing out: %d", status)
	}
	if status, _, _ := ask(t, &other, "GET", s.URL+"/review", nil, ""); status != 401 {
		t.Errorf("signed out: %d", status)
	}
}

func TestAccept_SV5_SessionsEnd(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	signIn := func() (*http.Client, int64) {
		token, id := s.keep(t, store.Token{Submitter: "ann", Scopes: []string{"review"}})
		b := browser(t)
		login(t, b, s.URL, token, "")
		must.Equal(t, status(t, b, s.URL+"/review"), 200, "signed in")
		return b, id
	}
	b, id := signIn()
	must.Do(t, s.store.RevokeToken(t.Context(), id))
	check.Equal(t, status(t, b, s.URL+"/review"), 401, "the token was revoked")
	b, _ = signIn()
	s.clock.move(12*time.Hour - time.Second)
	check.Equal(t, status(t, b, s.URL+"/review"), 200, "before its end")
	s.clock.move(time.Second)
	check.Equal(t, status(t, b, s.URL+"/review"), 401, "after its end")
}

func TestAccept_SV5_SecureCookiesBehindHTTPS(t *testing.T) {
	t.Parallel()
	s := newSite(t, func(_ *httptest.Server, c *auth.Config) {
		c.PublicURL = &url.URL{Scheme: "https", Host: "court.example"}
	})
	token := s.add(t, "ann", auth.Review)
	status, body, h := login(t, nil, s.URL, token, "", "Origin", "https://court.example", "Sec-Fetch-Site", "same-origin")
	if c := h.Get("Set-Cookie"); status != 303 || !strings.HasPrefix(c, "__Host-shadowcourt_session_") || !strings.Contains(c, "Secure") {
		t.Errorf("%d %s cookie %q", status, body, c)
	}
	if h.Get("Strict-Transport-Security") == "" {
		t.Error("no Strict-Transport-Security")
	}
}

func TestAccept_SV5_RatesAreLimitedByClient(t *testing.T) {
	t.Parallel()
	s := newSite(t, func(_ *httptest.Server, c *auth.Config) { c.Rate, c.Burst = 1, 10 })
	token, other := s.add(t, "ci", auth.Submit), s.add(t, "other", auth.Submit)
	guess := must.Get(auth.NewToken(strings.NewReader(strings.Repeat("guess", 20))))(t)
	wants := func(what, token string, times, want int) {
		t.Helper()
		for range times {
			check.Equal(t, status(t, nil, s.URL+"/any", "Authorization", "Bearer "+token), want, what)
		}
	}
	wants("valid", token, 1, 200)
	wants("valid", other, 1, 200)
	wants("guessing", guess, 8, 401)
	wants("guessing more", guess, 10, 429)
	if _, _, h := ask(t, nil, "GET", s.URL+"/any", with("Authorization", "Bearer "+guess), ""); h.Get("Retry-After") != "1" {
		t.Errorf("Retry-After %q", h.Get("Retry-After"))
	}
	// Those who are known are not disturbed, each with a limit of its own.
	wants("a known token from the same address", token, 10, 200)
	wants("beyond its burst", token, 1, 429)
	wants("another one", other, 1, 200)
	s.clock.move(2 * time.Second)
	wants("later", token, 1, 200)
}

func TestAccept_SV5_BodiesAndHeadersAreBounded(t *testing.T) {
	t.Parallel()
	s := newSite(t, func(server *httptest.Server, _ *auth.Config) { server.Config.MaxHeaderBytes = httplimit.HeaderBytes })
	if status, body, _ := login(t, nil, s.URL, strings.Repeat("a", 1<<20), ""); status != 400 {
		t.Errorf("a large form: %d %s", status, body)
	}
	if status, _, _ := ask(t, nil, "GET", s.URL+"/", with("X-Long", strings.Repeat("a", 1<<17)), ""); status != 431 {
		t.Errorf("a large header: %d", status)
	}
}

func TestReturnPathsStayOnThisServer(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{
		"": "/", "/dockets?state=done#x": "/dockets?state=done#x", "//attacker.example": "/", "https://attacker.example/": "/", "/\\attacker.example": "/",
		"javascript:alert(1)": "/", "dockets": "/", "/%2F%2Fattacker": "/%2F%2Fattacker", "/a\r\nX: y": "/", "/\t/attacker.example": "/",
	} {
		if got := auth.ReturnPath(path); got != want && (got != "/" || path != "/%2F%2Fattacker") {
			t.Errorf("%q: %q", path, got)
		}
	}
}

func TestTokensAndScopesAreChecked(t *testing.T) {
	t.Parallel()
	got, err := auth.ParseScopes("review, submit,review")
	if err != nil || !slices.Equal(got, []auth.Scope{auth.Submit, auth.Review}) {
		t.Errorf("%v %v", got, err)
	}
	for _, text := range []string{"", "admin", "submit,", "Submit"} {
		if _, err := auth.ParseScopes(text); err == nil {
			t.Errorf("%q is accepted", text)
		}
	}
	if token, err := auth.NewToken(bytes.NewReader(bytes.Repeat([]byte{7}, 32))); err != nil || auth.CheckToken(token) != nil || len(token) != 47 {
		t.Errorf("%q %v", token, err)
	}
	if _, err := auth.NewToken(bytes.NewReader(make([]byte, 31))); err == nil {
		t.Error("31 bytes are enough")
	}
}
