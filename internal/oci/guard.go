package oci

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/net/publicsuffix"
	"oras.land/oras-go/v2/errdef"
	"oras.land/oras-go/v2/registry/remote/errcode"

	"github.com/shadowcourt/shadowcourt/internal/httplimit"
	"github.com/shadowcourt/shadowcourt/internal/moduleref"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
)

const (
	maxHeader    = 64 << 10
	maxRedirects = 5
	maxError     = 600 // bytes
	maxSecrets   = 256
	dialTime     = 10 * time.Second
	headerTime   = 30 * time.Second
)

// errRejected: a registry sent the client where it does not go.
var errRejected = errors.New("rejected")

// guard sends the requests to one registry, and where its answers lead.
//
// Plain http goes to loopback addresses alone, and only from a registry on one. Loopback addresses, link-local ones and those at which clouds
// tell machines their credentials are never reached from a registry elsewhere. Whatever carries credentials, or has a body, goes to the registry's
// own host and port, or by https to another host of the same registrable domain: the realm https://auth.docker.io is fine for registry-1.docker.io, and
// https://collect.example is not, nor is another customer's name below a public suffix. Behind a proxy, names are resolved by the proxy: then
// only addresses that are written as such are checked.
type guard struct {
	registry *url.URL
	inner    http.RoundTripper
	secrets  *secrets
}

func (g *guard) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := g.check(r); err != nil {
		return nil, err
	}
	if kind, value, ok := strings.Cut(r.Header.Get("Authorization"), " "); ok {
		g.secrets.add(value)
		if text, err := base64.StdEncoding.DecodeString(value); err == nil && strings.EqualFold(kind, "Basic") {
			_, password, _ := strings.Cut(string(text), ":")
			g.secrets.add(password)
		}
	}
	return g.inner.RoundTrip(r)
}

func (g *guard) check(r *http.Request) error {
	host, local := r.URL.Hostname(), loopback(g.registry.Host)
	reject := func(why string) error {
		return fmt.Errorf("%w: the registry %s leads to %s://%s: %s", errRejected, g.registry.Host, sanitize.Line(r.URL.Scheme), sanitize.Line(r.URL.Host), why)
	}
	switch {
	case r.URL.User != nil:
		return reject("an address with a user is not followed")
	case r.URL.Scheme != "https" && (r.URL.Scheme != "http" || !local || !loopback(r.URL.Host)):
		return reject("only https is used, and http between loopback addresses")
	case loopback(r.URL.Host) && !local || strings.HasSuffix(host, ".localhost"):
		return reject("loopback addresses are for registries on loopback")
	}
	if a, err := netip.ParseAddr(host); err == nil && !reachable(a, local) {
		return reject("it is an address of no registry")
	}
	secret := r.Header.Get("Authorization") != "" || r.Header.Get("Cookie") != "" || r.Body != nil && r.Body != http.NoBody
	own := r.URL.Scheme == g.registry.Scheme && r.URL.Host == g.registry.Host
	if secret && !own && !sameSite(g.registry, r.URL) {
		return reject("credentials and uploads go to the registry's own host and domain alone")
	}
	return nil
}

// reachable says whether a registry may be at an address, or lead there.
func reachable(a netip.Addr, local bool) bool {
	return httplimit.AllowedAddress(a, true) && (local || !a.Unmap().IsLoopback())
}

// sameSite says whether two addresses have the same host and port, or other hosts with the same domain below a public suffix. Another port of a
// host may be another user's.
func sameSite(at, other *url.URL) bool {
	a, b := at.Hostname(), other.Hostname()
	if strings.EqualFold(a, b) {
		return port(at) == port(other)
	}
	if net.ParseIP(a) != nil || net.ParseIP(b) != nil {
		return false
	}
	siteA, errA := publicsuffix.EffectiveTLDPlusOne(strings.ToLower(a))
	siteB, errB := publicsuffix.EffectiveTLDPlusOne(strings.ToLower(b))
	return errA == nil && errB == nil && siteA == siteB
}

func port(u *url.URL) string {
	if u.Port() != "" {
		return u.Port()
	}
	return map[string]string{"http": "80", "https": "443", "socks5": "1080", "socks5h": "1080"}[u.Scheme]
}

// newTransport makes connections for registries on loopback, or for others.
func newTransport(local bool) *http.Transport {
	var proxies sync.Map // the addresses of those that are used, which may be loopback ones
	plain := &net.Dialer{Timeout: dialTime}
	careful := &net.Dialer{Timeout: dialTime, ControlContext: httplimit.Control(func(a netip.Addr) bool { return reachable(a, local) })}
	return &http.Transport{
		Proxy: func(r *http.Request) (*url.URL, error) {
			u, err := http.ProxyFromEnvironment(r)
			if u != nil {
				proxies.Store(net.JoinHostPort(u.Hostname(), port(u)), true)
			}
			return u, err
		},
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			if _, ok := proxies.Load(address); ok {
				return plain.DialContext(ctx, network, address)
			}
			return careful.DialContext(ctx, network, address)
		},
		TLSHandshakeTimeout: dialTime, ResponseHeaderTimeout: headerTime, MaxResponseHeaderBytes: maxHeader, MaxConnsPerHost: 4,
		IdleConnTimeout: time.Minute, ForceAttemptHTTP2: true, DisableCompression: true,
	}
}

// secrets are what no error may quote.
type secrets struct {
	mu   sync.Mutex
	list []string
}

func (s *secrets) add(text string) {
	if text == "" {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	said := strconv.Quote(text)
	for _, form := range []string{text, url.QueryEscape(text), url.PathEscape(text), said[1 : len(said)-1]} {
		if !slices.Contains(s.list, form) {
			s.list = append(s.list, form)
		}
	}
	s.list = s.list[max(0, len(s.list)-maxSecrets):]
}

func (s *secrets) hide(text string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, secret := range s.list {
		text = strings.ReplaceAll(text, secret, "[secret]")
	}
	return text
}

// queryForm are the queries of addresses: those of redirects are often signed, and whoever has them can read the blob.
var queryForm = regexp.MustCompile(`\?[^\s"'<>]+`)

// failure is an error whose text has been made safe. What it wraps is for errors.Is and errors.As.
type failure struct {
	text string
	err  error
}

func (f *failure) Error() string { return f.text }

func (f *failure) Unwrap() error { return f.err }

func (f *failure) Is(target error) bool {
	status, _ := errors.AsType[*errcode.ErrorResponse](f.err)
	return target == ErrNotFound && (errors.Is(f.err, errdef.ErrNotFound) || status != nil && status.StatusCode == http.StatusNotFound)
}

// fail describes what went wrong with a reference. Nothing of credentials and of signed addresses is in it.
func (c *Client) fail(what string, r moduleref.Ref, err error) error {
	text := queryForm.ReplaceAllString(c.secrets.hide(err.Error()), "?…")
	text = sanitize.Cut(sanitize.Log(sanitize.Line(strings.ToValidUTF8(text, "?"))), maxError)
	return &failure{fmt.Sprintf("%s %s: %s", what, quoted(r.String()), text), err}
}

// unreachable says whether an error is of the way to a registry, or of one that can't answer now.
func unreachable(err error) bool {
	if errors.Is(err, errRejected) || errors.Is(err, httplimit.ErrBlocked) || errors.Is(err, context.Canceled) {
		return false
	}
	if status, ok := errors.AsType[*errcode.ErrorResponse](err); ok {
		return status.StatusCode >= http.StatusInternalServerError || status.StatusCode == http.StatusTooManyRequests
	}
	_, ok := errors.AsType[net.Error](err)
	return ok
}

// loopback says whether a host, with or without a port, is this machine: localhost, 127.0.0.0/8 or ::1.
func loopback(host string) bool {
	if at, err := netip.ParseAddrPort(host); err == nil {
		return at.Addr().Unmap().IsLoopback()
	}
	name, _, _ := strings.Cut(host, ":")
	if name == "localhost" {
		return true
	}
	a, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return err == nil && a.Unmap().IsLoopback()
}
