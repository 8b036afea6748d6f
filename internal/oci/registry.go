package oci

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
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

	v1 "github.com/opencontainers/image-spec/specs-go/v1"
	"golang.org/x/net/publicsuffix"
	"oras.land/oras-go/v2/errdef"
	"oras.land/oras-go/v2/registry"
	"oras.land/oras-go/v2/registry/remote"
	"oras.land/oras-go/v2/registry/remote/auth"
	"oras.land/oras-go/v2/registry/remote/credentials"
	"oras.land/oras-go/v2/registry/remote/errcode"
	"oras.land/oras-go/v2/registry/remote/retry"

	"github.com/shadowcourt/shadowcourt/internal/httplimit"
	"github.com/shadowcourt/shadowcourt/internal/moduleref"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
)

const (
	maxPages  = 16
	maxListed = 1024 // manifests in a list
	firstWait = 250 * time.Millisecond
)

// store is a place where manifests and blobs are. What it gives is bounded, and not verified.
type store interface {
	// manifest gives the one of a tag or a digest.
	manifest(ctx context.Context, name string) (v1.Descriptor, []byte, error)
	blob(ctx context.Context, d v1.Descriptor) ([]byte, error)
	// referrers are manifests that say they are about subject.
	referrers(ctx context.Context, subject v1.Descriptor) ([]v1.Descriptor, error)
	pushBlob(ctx context.Context, d v1.Descriptor, data []byte) error
	// pushManifest adds a manifest, with a tag unless that is empty.
	pushManifest(ctx context.Context, d v1.Descriptor, data []byte, tag string) error
}

// orasRef is the repository as the library has it. It maps docker.io to the host that serves it.
func orasRef(r moduleref.Ref) registry.Reference {
	return registry.Reference{Registry: r.Host(), Repository: r.Path()}
}

// nameOf is the tag or "latest".
func nameOf(r moduleref.Ref) string { return cmp.Or(r.Tag(), "latest") }

// remoteStore is a repository of a registry.
type remoteStore struct{ *remote.Repository }

// client makes the client of a registry. The library asks for credentials by the host of the registry alone, and takes challenges from it alone.
func (c *Client) client(r moduleref.Ref) *auth.Client {
	host := orasRef(r).Host()
	c.mu.Lock()
	defer c.mu.Unlock()
	if known := c.clients[host]; known != nil {
		return known
	}
	at := &url.URL{Scheme: "https", Host: host}
	if httplimit.IsLoopback(host) {
		at.Scheme = "http"
	}
	inner := c.config.Transport
	if inner == nil {
		inner = newTransport(httplimit.IsLoopback(host))
	}
	made := &auth.Client{
		Client: &http.Client{
			Timeout:   c.config.Request,
			Transport: &retry.Transport{Base: &guard{at, inner, &c.secrets}, Policy: c.policy},
			CheckRedirect: func(next *http.Request, via []*http.Request) error {
				if len(via) > maxRedirects {
					return fmt.Errorf("%w: more than %d redirects", errRejected, maxRedirects)
				}
				if !sameSite(at, next.URL) { // the library of the language compares hosts without their ports
					next.Header.Del("Authorization")
				}
				return nil
			},
		},
		Cache: auth.NewCache(), Credential: c.credential, ClientID: "shadowcourt",
	}
	made.SetUserAgent("shadowcourt")
	c.clients[host] = made
	return made
}

// credential is that of a registry, from Docker's configuration and its helpers. They are asked when a registry wants one.
func (c *Client) credential(ctx context.Context, host string) (auth.Credential, error) {
	open := func() (*credentials.DynamicStore, error) {
		return credentials.NewStoreFromDocker(credentials.StoreOptions{})
	}
	if c.config.DockerConfig != "" {
		open = func() (*credentials.DynamicStore, error) {
			return credentials.NewStore(c.config.DockerConfig, credentials.StoreOptions{})
		}
	}
	from, err := open()
	if err != nil {
		return auth.EmptyCredential, fmt.Errorf("docker's configuration: %w", err)
	}
	found, err := credentials.Credential(from)(ctx, host)
	for _, secret := range []string{found.Password, found.RefreshToken, found.AccessToken} {
		c.secrets.add(secret)
	}
	return found, err
}

// policy says when a request is sent again: after a wait that doubles, or as long as the server asks for, within limits.
func (c *Client) policy() retry.Policy {
	return &retry.GenericPolicy{
		Retryable: func(r *http.Response, err error) (bool, error) {
			if errors.Is(err, errRejected) || errors.Is(err, httplimit.ErrBlocked) {
				return false, err
			}
			return retry.DefaultPredicate(r, err)
		},
		Backoff: func(attempt int, r *http.Response) time.Duration {
			if r != nil {
				if wait, ok := httplimit.RetryAfter(r.Header.Get("Retry-After"), c.config.Clock()); ok {
					return wait
				}
			}
			return firstWait << attempt
		},
		MaxWait: c.config.RetryWait, MaxRetry: c.config.Retries,
	}
}

// remote is the repository of a reference, or the registry of one without a repository.
func (c *Client) remote(r moduleref.Ref) *remoteStore {
	client := c.client(r)
	c.mu.Lock()
	defer c.mu.Unlock()
	name := r.Repository()
	if known := c.repositories[name]; known != nil {
		return known
	}
	made := &remoteStore{&remote.Repository{
		Client: client, Reference: orasRef(r), PlainHTTP: httplimit.IsLoopback(orasRef(r).Host()), MaxMetadataBytes: maxManifest,
		ReferrerListMaxPages: maxPages,
		SkipReferrersGC:      true, // lists that were replaced stay: whoever may push need not be one who may delete
	}}
	c.repositories[name] = made
	return made
}

func (s *remoteStore) manifest(ctx context.Context, name string) (v1.Descriptor, []byte, error) {
	d, body, err := s.FetchReference(ctx, name)
	if err != nil {
		return d, nil, err
	}
	data, err := readAll(body, d, maxManifest)
	return d, data, err
}

func (s *remoteStore) blob(ctx context.Context, d v1.Descriptor) ([]byte, error) {
	body, err := s.Blobs().Fetch(ctx, d)
	if err != nil {
		return nil, err
	}
	return readAll(body, d, d.Size)
}

// readAll reads as much as a descriptor says, and a byte more where there is one, and closes the body.
func readAll(body io.ReadCloser, d v1.Descriptor, most int64) ([]byte, error) {
	defer func() { _ = body.Close() }()
	if d.Size > most {
		return nil, fmt.Errorf("%s has %d bytes, at most %d are taken", d.Digest, d.Size, most)
	}
	return io.ReadAll(io.LimitReader(body, d.Size+1))
}

func (s *remoteStore) referrers(ctx context.Context, subject v1.Descriptor) ([]v1.Descriptor, error) {
	var all []v1.Descriptor
	err := s.Referrers(ctx, subject, "", func(some []v1.Descriptor) error {
		if all = append(all, some...); len(all) >= maxListed {
			return errdef.ErrTooManyPages
		}
		return nil
	})
	if errors.Is(err, errdef.ErrTooManyPages) && len(all) > 0 {
		err = nil
	}
	return all[:min(len(all), maxListed)], err
}

func (s *remoteStore) pushBlob(ctx context.Context, d v1.Descriptor, data []byte) error {
	if there, err := s.Blobs().Exists(ctx, d); err != nil || there {
		return err
	}
	return s.Blobs().Push(ctx, d, bytes.NewReader(data))
}

func (s *remoteStore) pushManifest(ctx context.Context, d v1.Descriptor, data []byte, tag string) error {
	// The library then knows whether the registry has a list of referrers. Some have it, and do not say so when a manifest is pushed.
	if m, err := parseManifest(data); err == nil && m.Subject != nil {
		if _, err := s.referrers(ctx, *m.Subject); err != nil {
			return err
		}
	}
	if tag == "" {
		return s.Manifests().Push(ctx, d, bytes.NewReader(data))
	}
	return s.PushReference(ctx, d, bytes.NewReader(data), tag)
}

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
	host, local := r.URL.Hostname(), httplimit.IsLoopback(g.registry.Host)
	reject := func(why string) error {
		return fmt.Errorf("%w: the registry %s leads to %s://%s: %s", errRejected, g.registry.Host, sanitize.Line(r.URL.Scheme), sanitize.Line(r.URL.Host), why)
	}
	switch {
	case r.URL.User != nil:
		return reject("an address with a user is not followed")
	case r.URL.Scheme != "https" && (r.URL.Scheme != "http" || !local || !httplimit.IsLoopback(r.URL.Host)):
		return reject("only https is used, and http between loopback addresses")
	case httplimit.IsLoopback(r.URL.Host) && !local || strings.HasSuffix(host, ".localhost"):
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
	return cmp.Or(u.Port(), map[string]string{"http": "80", "https": "443", "socks5": "1080", "socks5h": "1080"}[u.Scheme])
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
