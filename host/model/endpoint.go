package model

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// maxReplyBytes is the most of a provider's reply.
	maxReplyBytes = 8 << 20
	// maxHeaderBytes is the most of the headers of a reply.
	maxHeaderBytes = 64 << 10
	// maxFaultBytes of a reply that reports an error are read.
	maxFaultBytes = 64 << 10
	// The waits before retries: they double from the first to the longest, each less up to a half by chance.
	firstDelay, longestDelay = time.Second, 30 * time.Second
	// maxRetryAfter is the longest wait that a provider may ask for.
	maxRetryAfter = time.Minute
)

// endpoint is a provider with its limits: how often, how many at the same time, how long, and how much.
type endpoint struct {
	name   string
	given  *Provider
	key    Key
	noKey  string // why there is none
	proxy  string // that its requests go through
	clock  Clock
	random func() float64
	rate   *rate
	slots  chan struct{}
	client *http.Client
	api    provider
}

func newEndpoint(name string, given *Provider, c *Config) *endpoint {
	e := &endpoint{
		name: name, given: given, clock: c.Clock, random: c.Random, rate: newRate(given.Rate), slots: make(chan struct{}, given.Concurrency),
	}
	e.key, e.noKey = given.key(c.Getenv)
	transport := c.Transport
	if transport == nil {
		transport = newTransport(given.Concurrency, c.Proxy)
		e.proxy = proxyFor(given.URL, c.Proxy)
	}
	e.client = &http.Client{
		Transport:     &guard{endpoint: e, next: transport},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	if given.API == Anthropic {
		e.api = &anthropic{e}
	} else {
		e.api = &openAI{e}
	}
	return e
}

func newTransport(connections int, proxy func(*http.Request) (*url.URL, error)) *http.Transport {
	return &http.Transport{
		Proxy:                  proxy,
		ForceAttemptHTTP2:      true,
		MaxIdleConns:           connections,
		MaxIdleConnsPerHost:    connections,
		IdleConnTimeout:        90 * time.Second,
		TLSHandshakeTimeout:    30 * time.Second,
		MaxResponseHeaderBytes: maxHeaderBytes,
		TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12},
	}
}

// ask asks within the limits of the provider, and again where that may help. Before it makes a request again that the provider may charge
// for, it calls lost, whose failure ends it.
func (e *endpoint) ask(ctx context.Context, r *request, lost func(context.Context) *failure) (reply, *failure) {
	for attempt := 0; ; attempt++ {
		got, f := e.attempt(ctx, r)
		if f == nil {
			return got, nil
		}
		if ctx.Err() != nil {
			return got, f
		}
		if !f.again {
			return got, e.throughProxy(f)
		}
		if attempt == e.given.Retries {
			if attempt > 0 {
				f.detail += fmt.Sprintf(" (%d requests)", attempt+1)
			}
			return uncounted(), e.throughProxy(f)
		}
		wait := min(longestDelay, firstDelay<<attempt)
		wait -= time.Duration(e.random() * float64(wait) / 2)
		if f.seconds > maxRetryAfter.Seconds() {
			f.detail += fmt.Sprintf("; it asks to wait %.0f s, longer than %s", f.seconds, maxRetryAfter)
			return uncounted(), e.throughProxy(f)
		}
		wait = max(wait, time.Duration(f.seconds*float64(time.Second)))
		charged := f.charged
		if err := e.clock.Sleep(ctx, wait); err != nil {
			return uncounted(), whyEnded(ctx, charged)
		}
		if charged {
			if without := lost(ctx); without != nil {
				f.detail += "; it is not asked again: " + without.detail
				f.charged = false // counted
				return uncounted(), f
			}
		}
	}
}

// whyEnded is why a context ended, as a failure.
func whyEnded(ctx context.Context, charged bool) *failure {
	cause := context.Cause(ctx)
	if f, ok := errors.AsType[*failure](cause); ok {
		own := *f
		own.charged = charged
		return &own
	}
	f := failed(oneLine(cause.Error())) // the caller sees the context's error
	f.charged = charged
	return f
}

// attempt makes one request.
func (e *endpoint) attempt(ctx context.Context, r *request) (reply, *failure) {
	select {
	case e.slots <- struct{}{}:
		defer func() { <-e.slots }()
	case <-ctx.Done():
		return uncounted(), whyEnded(ctx, false)
	}
	if wait := e.rate.wait(e.clock.Now()); wait > 0 {
		if err := e.clock.Sleep(ctx, wait); err != nil {
			return uncounted(), whyEnded(ctx, false)
		}
	}
	var sent atomic.Bool
	traced := httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{WroteRequest: func(info httptrace.WroteRequestInfo) {
		if info.Err == nil {
			sent.Store(true)
		}
	}})
	within, cancel := context.WithCancelCause(traced)
	defer cancel(nil)
	stop := e.clock.AfterFunc(e.given.Timeout, func() {
		cancel(failed(fmt.Sprintf("%s: no answer within %s", e.name, e.given.Timeout)))
	})
	defer stop()
	got, err := e.api.ask(within, r)
	if err == nil {
		return got, nil
	}
	if within.Err() != nil {
		return uncounted(), whyEnded(within, sent.Load())
	}
	f, ok := errors.AsType[*failure](err)
	if !ok {
		f = e.explain(err)
	}
	f.charged = !f.free && sent.Load()
	if got == (reply{}) {
		got = uncounted()
	}
	return got, f
}

// guard stands between a client and the network: it bounds what comes back, follows no redirect, and gives everything that is no answer as
// a *failure.
type guard struct {
	endpoint *endpoint
	next     http.RoundTripper
}

// RoundTrip implements [http.RoundTripper].
func (g *guard) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := g.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }()
	if f := g.endpoint.status(response); f != nil {
		return nil, f
	}
	data, err := io.ReadAll(io.LimitReader(response.Body, maxReplyBytes+1))
	if err != nil {
		return nil, err
	}
	if len(data) > maxReplyBytes {
		return nil, failed(fmt.Sprintf("%s: the answer has more than %d bytes", g.endpoint.name, maxReplyBytes))
	}
	response.Body = io.NopCloser(bytes.NewReader(data))
	response.ContentLength = int64(len(data))
	return response, nil
}

// Clock is what timeouts, waits and limits of rates run by.
type Clock interface {
	Now() time.Time
	// Sleep waits, or ends early with the error of the context.
	Sleep(ctx context.Context, d time.Duration) error
	// AfterFunc calls a function after a time, unless it is stopped before.
	AfterFunc(d time.Duration, f func()) (stop func() bool)
}

type systemClock struct{}

func (systemClock) Now() time.Time { return time.Now() } //nolint:forbidigo // the default of an injected clock

func (systemClock) Sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (systemClock) AfterFunc(d time.Duration, f func()) func() bool { return time.AfterFunc(d, f).Stop }

func random() float64 { return rand.Float64() } //nolint:gosec // spreads retries

// rate limits how many requests begin in any minute.
type rate struct {
	mu    sync.Mutex
	begun []time.Time // a ring of the last requests
	next  int
}

func newRate(perMinute int) *rate { return &rate{begun: make([]time.Time, perMinute)} }

// wait is how long a request that is ready now has to wait; it counts as begun then.
func (r *rate) wait(now time.Time) time.Duration {
	if len(r.begun) == 0 {
		return 0
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	at := now
	if free := r.begun[r.next].Add(time.Minute); free.After(at) {
		at = free
	}
	r.begun[r.next] = at
	r.next = (r.next + 1) % len(r.begun)
	return at.Sub(now)
}
