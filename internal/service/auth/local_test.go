package auth_test

import (
	"crypto/rand"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/shadowcourt/shadowcourt/internal/service/auth"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

// newLocal starts a site whose owner has a token, which it gives.
func newLocal(t *testing.T, change func(*auth.Config)) (*site, string) {
	t.Helper()
	token := must.Get(auth.NewToken(rand.Reader))(t)
	return newSite(t, func(_ *httptest.Server, c *auth.Config) {
		c.Local = token
		if change != nil {
			change(c)
		}
	}), token
}

// address asks for an address that signs in once.
func (s *site) address(t *testing.T, token string) string {
	t.Helper()
	status, body, _ := ask(t, nil, "POST", s.URL+auth.AddressPath, with("Authorization", "Bearer "+token), "")
	var answer struct {
		Address string `json:"address"`
	}
	if status != 201 || json.Unmarshal([]byte(body), &answer) != nil || !strings.HasPrefix(answer.Address, auth.OncePath+"?code=") {
		t.Fatalf("%d %s", status, body)
	}
	return s.URL + answer.Address
}

// An address signs in one browser, once and in time; afterwards it gives nothing to anybody.
func TestAccept_FZ2_AnAddressSignsInOnce(t *testing.T) {
	t.Parallel()
	s, token := newLocal(t, nil)
	address := s.address(t, token)
	open := func(b *http.Client, address, wantTo string, wantCookie bool) {
		t.Helper()
		status, body, h := ask(t, b, "GET", address, with("Accept", "text/html"), "")
		if status != 303 || h.Get("Location") != wantTo || (h.Get("Set-Cookie") != "") != wantCookie {
			t.Errorf("%d to %q, cookie %q: %s", status, h.Get("Location"), h.Get("Set-Cookie"), body)
		}
		if h.Get("Referrer-Policy") != "same-origin" || h.Get("Cache-Control") != "no-store" {
			t.Errorf("the address may be told to others: %v", h)
		}
	}
	const failed = "/login?failed=address"
	open(nil, s.URL+auth.OncePath, failed, false)
	open(nil, s.URL+auth.OncePath+"?code="+strings.Repeat("A", 43), failed, false)
	if status, _, h := ask(t, nil, "HEAD", address, nil, ""); status != 303 || h.Get("Set-Cookie") != "" {
		t.Errorf("a look at the address signs in: %d", status)
	}
	first := browser(t)
	open(first, address, "/", true)
	if status, body, _ := ask(t, first, "GET", s.URL+"/operate", nil, ""); status != 200 || body != "local session" {
		t.Errorf("%d %s", status, body)
	}
	open(nil, address, failed, false) // used by somebody else
	open(first, address, "/", false)  // loaded again by who used it
	late := s.address(t, token)       // not used in time
	s.clock.move(auth.CodeLife)       //
	open(browser(t), late, failed, false)
	var list []string
	for range 20 {
		list = append(list, s.address(t, token))
	}
	open(nil, list[0], failed, false) // the oldest end first
	open(nil, list[19], "/", true)
	restarted, _ := newLocal(t, func(c *auth.Config) { c.Store = s.store; c.Now = s.clock.now })
	u := must.Get(url.Parse(s.URL))(t)
	for _, c := range first.Jar.Cookies(u) {
		c.Name = strings.Replace(c.Name, u.Port(), restarted.URL[strings.LastIndexByte(restarted.URL, ':')+1:], 1)
		if status, _, _ := ask(t, nil, "GET", restarted.URL+"/any", with("Cookie", c.String()), ""); status != 401 {
			t.Errorf("the session outlives the local token: %d", status)
		}
	}
	s.clock.move(12 * time.Hour)
	if status, _, _ := ask(t, first, "GET", s.URL+"/any", nil, ""); status != 401 {
		t.Errorf("the session has no end: %d", status)
	}
}

// Nobody but the owner's programs gets an address to sign in, and no other site makes a browser get one.
func TestAccept_FZ2_OnlyTheLocalTokenGivesAddresses(t *testing.T) {
	t.Parallel()
	s, token := newLocal(t, nil)
	operator := s.add(t, "op", auth.Operate)
	b := browser(t)
	ask(t, b, "GET", s.address(t, token), nil, "")
	for name, tc := range map[string]struct {
		client *http.Client
		header http.Header
		want   int
	}{
		"nobody":            {nil, nil, 401},
		"another token":     {nil, with("Authorization", "Bearer "+operator), 403},
		"a guess":           {nil, with("Authorization", "Bearer "+token[:46]+"_"), 401},
		"a session of ours": {b, nil, 403},
		"another site":      {b, with("Sec-Fetch-Site", "cross-site", "Authorization", "Bearer "+token), 403},
	} {
		if token[46] == '_' && name == "a guess" {
			continue
		}
		if status, body, _ := ask(t, tc.client, "POST", s.URL+auth.AddressPath, tc.header, ""); status != tc.want || strings.Contains(body, "code=") {
			t.Errorf("%s: %d %s", name, status, body)
		}
	}
	without := newSite(t, nil)
	if status, body, _ := ask(t, nil, "POST", without.URL+auth.AddressPath, with("Authorization", "Bearer "+without.add(t, "op", auth.Operate)), ""); status == 201 {
		t.Errorf("a server without a local token: %s", body)
	}
}

// The local token is not in the store and signs in at the form, too; services at other ports have sessions of their own.
func TestAccept_FZ2_SessionsOfSeveralServices(t *testing.T) {
	t.Parallel()
	b := browser(t)
	var sites []*site
	for range 2 {
		s, token := newLocal(t, nil)
		if status, _, _ := login(t, b, s.URL, token, ""); status != 303 {
			t.Fatalf("%d", status)
		}
		sites = append(sites, s)
	}
	for _, s := range sites {
		if status, body, _ := ask(t, b, "GET", s.URL+"/operate", nil, ""); status != 200 || body != "local session" {
			t.Errorf("%d %s", status, body)
		}
	}
}

// Where it is known how browsers reach the server, the address is there.
func TestAccept_FZ2_AddressesArePublic(t *testing.T) {
	t.Parallel()
	s, token := newLocal(t, func(c *auth.Config) { c.PublicURL = &url.URL{Scheme: "https", Host: "court.example"} })
	_, body, _ := ask(t, nil, "POST", s.URL+auth.AddressPath, with("Authorization", "Bearer "+token), "")
	if !strings.Contains(body, `"https://court.example/login/once?code=`) {
		t.Error(body)
	}
}
