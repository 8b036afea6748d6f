package auth

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"

	"github.com/shadowcourt/shadowcourt/internal/service/wire"
)

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

// code is kept by its hash, so that how long a comparison takes tells nothing of the codes that exist.
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

// isLocal says whether a hash is that of the local token. Hashes are compared, so that the time tells nothing of it.
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
