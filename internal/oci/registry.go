package oci

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	v1 "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2/errdef"
	"oras.land/oras-go/v2/registry"
	"oras.land/oras-go/v2/registry/remote"
	"oras.land/oras-go/v2/registry/remote/auth"
	"oras.land/oras-go/v2/registry/remote/credentials"
	"oras.land/oras-go/v2/registry/remote/retry"

	"github.com/shadowcourt/shadowcourt/internal/httplimit"
	"github.com/shadowcourt/shadowcourt/internal/moduleref"
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
	if loopback(host) {
		at.Scheme = "http"
	}
	inner := c.config.Transport
	if inner == nil {
		inner = newTransport(loopback(host))
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
		Client: client, Reference: orasRef(r), PlainHTTP: loopback(orasRef(r).Host()), MaxMetadataBytes: maxManifest,
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
