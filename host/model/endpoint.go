package model

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/shadowcourt/shadowcourt/abi"
)

const (
	// maxReplyBytes is the most of a provider's reply.
	maxReplyBytes = 8 << 20
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
		transport = newTransport(given.Concurrency)
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

func newTransport(connections int) *http.Transport {
	return &http.Transport{
		Proxy:                  http.ProxyFromEnvironment,
		ForceAttemptHTTP2:      true,
		MaxIdleConns:           connections,
		MaxIdleConnsPerHost:    connections,
		IdleConnTimeout:        90 * time.Second,
		TLSHandshakeTimeout:    30 * time.Second,
		MaxResponseHeaderBytes: 64 << 10,
		TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12},
	}
}

// ask asks within the limits of the provider, and again where that may help.
func (e *endpoint) ask(ctx context.Context, r *request) (reply, error) {
	for attempt := 0; ; attempt++ {
		got, err := e.attempt(ctx, r)
		if err == nil {
			return got, nil
		}
		if ctx.Err() != nil {
			return reply{}, context.Cause(ctx)
		}
		f, ok := errors.AsType[*failure](err)
		if !ok {
			f = e.explain(err)
		}
		if !f.again {
			return got, f
		}
		if attempt == e.given.Retries {
			if attempt > 0 {
				f.detail += fmt.Sprintf(" (%d requests)", attempt+1)
			}
			return reply{}, f
		}
		wait := min(longestDelay, firstDelay<<attempt)
		wait -= time.Duration(e.random() * float64(wait) / 2)
		if f.seconds > maxRetryAfter.Seconds() {
			f.detail += fmt.Sprintf("; it asks to wait %.0f s, longer than %s", f.seconds, maxRetryAfter)
			return reply{}, f
		}
		wait = max(wait, time.Duration(f.seconds*float64(time.Second)))
		if err := e.clock.Sleep(ctx, wait); err != nil {
			return reply{}, context.Cause(ctx)
		}
	}
}

// attempt makes one request.
func (e *endpoint) attempt(ctx context.Context, r *request) (reply, error) {
	select {
	case e.slots <- struct{}{}:
		defer func() { <-e.slots }()
	case <-ctx.Done():
		return reply{}, ctx.Err()
	}
	if wait := e.rate.wait(e.clock.Now()); wait > 0 {
		if err := e.clock.Sleep(ctx, wait); err != nil {
			return reply{}, err
		}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stop := e.clock.AfterFunc(e.given.Timeout, func() {
		f := failed(fmt.Sprintf("%s: no answer within %s", e.name, e.given.Timeout))
		f.hopeless = false
		cancel(f)
	})
	defer stop()
	got, err := e.api.ask(ctx, r)
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return got, err
}

// explain says in a line what was wrong with a connection or with what came over it.
func (e *endpoint) explain(err error) *failure {
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		err = wrapped.Err
	}
	f := failed("")
	text := oneLine(e.key.scrub(err.Error()))
	var certificate *tls.CertificateVerificationError
	var record tls.RecordHeaderError
	var authority x509.UnknownAuthorityError
	var alert tls.AlertError
	var dns *net.DNSError
	switch {
	case errors.As(err, &certificate), errors.As(err, &record), errors.As(err, &authority), errors.As(err, &alert):
		f.detail = "TLS: " + text
	case strings.Contains(text, "server gave HTTP response to HTTPS client"):
		f.detail = "TLS: the server speaks plain HTTP"
	case errors.As(err, &dns) && dns.IsNotFound:
		f.detail = "there is no such host: " + dns.Name
	case errors.Is(err, io.ErrUnexpectedEOF):
		f.detail, f.again = "the answer ended in the middle", true
	case errors.Is(err, io.EOF):
		f.detail, f.again = "the connection was closed before an answer", true
	default:
		f.detail, f.again = "no connection: "+text, true
	}
	f.detail = e.name + ": " + cut(f.detail, 400)
	return f
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

// status says what a response reports instead of an answer; nil if it is one.
func (e *endpoint) status(response *http.Response) *failure {
	code := response.StatusCode
	if code/100 == 3 {
		where := "elsewhere"
		if to, err := response.Location(); err == nil {
			where = "to " + to.Scheme + "://" + to.Host
		}
		return failed(oneLine(e.key.scrub(fmt.Sprintf("%s: the server redirects %s, which is not followed: change its url", e.name, where))))
	}
	if kind, _, err := mime.ParseMediaType(response.Header.Get("Content-Type")); code == http.StatusOK &&
		(err != nil || kind != "application/json" && !strings.HasSuffix(kind, "+json")) {
		return failed(cut(oneLine(e.key.scrub(fmt.Sprintf("%s: the answer is %q and not application/json: check its url", e.name, kind))), 400))
	}
	if code == http.StatusOK {
		return nil
	}
	body, _ := io.ReadAll(io.LimitReader(response.Body, maxFaultBytes)) // what was read says more than why the rest was not
	said := faultText(body)
	detail := strings.TrimSpace(fmt.Sprintf("%d %s", code, http.StatusText(code)))
	switch code {
	case http.StatusUnauthorized, http.StatusForbidden:
		detail += ": the key is not accepted"
		if e.key.value() == "" {
			detail += ", since there is none: set key_env or key_file"
		}
	case http.StatusNotFound:
		detail += ": check the url and the name of the model"
	}
	if said != "" {
		detail += ": " + said
	}
	f := failed(e.name + ": " + cut(oneLine(e.key.scrub(detail)), 400))
	lower := strings.ToLower(said)
	for _, sign := range []string{"context_length", "context length", "context size", "context window", "exceed_context", "prompt is too long", "maximum context"} {
		if code/100 == 4 && strings.Contains(lower, sign) {
			f.outcome = abi.CompletionTooLong
		}
	}
	f.again = code == http.StatusTooManyRequests || code >= 500
	f.seconds = retryAfter(response.Header.Get("Retry-After"), e.clock.Now())
	return f
}

// retryAfter reads the seconds, or the date, from which a provider wants to be asked again; 0 if there is none.
func retryAfter(text string, now time.Time) float64 {
	if seconds, err := strconv.ParseFloat(text, 64); err == nil && seconds > 0 {
		return min(seconds, 1e9)
	}
	if at, err := http.ParseTime(text); err == nil && at.After(now) {
		return at.Sub(now).Seconds()
	}
	return 0
}
