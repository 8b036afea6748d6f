// Package client talks to the docket service: it submits dockets and reads their trials.
//
// A token goes to the server that the client was made for and nowhere else: no redirect is followed. What a server answers is read up to
// limits, and taken from one that may be broken or hostile. Requests that can be repeated are, after faults of the connection and when the
// service asks to wait.
package client

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/shadowcourt/shadowcourt/internal/service/wire"
)

// Config of a Client. Server must be set.
type Config struct {
	// Server is the address of the service, such as https://court.example.
	Server string
	// Address is the host and port to connect to; empty for those of Server.
	Address string
	// Token may be empty; then the service answers who has none.
	Token string
	// Program and its version, for the log of the service.
	Program string
	// Wait waits, and ends early with the context. Nil: by the machine's clock.
	Wait func(ctx context.Context, d time.Duration) error
	// Again, if not nil, is told why a request is sent again, and after what time.
	Again func(err error, after time.Duration)
}

// Client of a service. Safe for concurrent use.
type Client struct {
	config Config
	base   *url.URL
	http   *http.Client
}

// Times and sizes.
const (
	dialTime = 10 * time.Second
	// headTime is how long the head of an answer may take, once the request is sent: that of a large docket comes when all is stored.
	headTime = 2 * time.Minute
	// stallTime is how long an answer or an upload may stand still. A service says something every 10 s.
	stallTime = time.Minute
	// continueTime is how long the body of a docket waits for the service to say that it wants it.
	continueTime = 2 * time.Second
	maxHeader    = 64 << 10
	// maxAnswer bounds answers that are no streams.
	maxAnswer = 1 << 20
	// maxAttempts is how often a request is sent without any progress. The pauses between them add up to a minute.
	maxAttempts  = 9
	firstPause   = 500 * time.Millisecond
	longestPause = 15 * time.Second
	// longestWait is how long the client waits where the service says for how long.
	longestWait = time.Minute
)

// New makes a client. An error says what is wrong with the address.
func New(config Config) (*Client, error) {
	base, err := parse(config.Server)
	if err != nil {
		return nil, err
	}
	if config.Wait == nil {
		config.Wait = wait
	}
	transport := &http.Transport{
		Proxy: http.ProxyFromEnvironment, DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			return dial(ctx, network, cmp.Or(config.Address, address))
		}, TLSHandshakeTimeout: dialTime,
		ResponseHeaderTimeout: headTime, ExpectContinueTimeout: continueTime, MaxResponseHeaderBytes: maxHeader, ForceAttemptHTTP2: true,
		DisableCompression: true, // an answer takes as much memory as it has bytes
		MaxIdleConns:       4, IdleConnTimeout: time.Minute,
	}
	return &Client{config: config, base: base, http: &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}, nil
}

func parse(server string) (*url.URL, error) {
	u, err := url.Parse(server)
	switch {
	case err != nil || u.Host == "" || u.Hostname() == "" || u.Scheme != "https" && u.Scheme != "http":
		return nil, errors.New("use the address of a service, such as https://court.example")
	case u.User != nil:
		return nil, errors.New("leave user and password out of the address; `shadowcourt login` keeps a token")
	case u.RawQuery != "" || u.Fragment != "":
		return nil, errors.New("use an address without ? and #, such as https://court.example")
	}
	u.Path = strings.TrimRight(u.Path, "/")
	u.RawPath = ""
	return u, nil
}

// Origin is scheme, host and port of a server, in one form: what a token is kept for.
func Origin(server string) (string, error) {
	u, err := parse(server)
	if err != nil {
		return "", err
	}
	host, port := strings.ToLower(u.Hostname()), u.Port()
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	if port != "" && port != map[string]string{"https": "443", "http": "80"}[u.Scheme] {
		host += ":" + port
	}
	return u.Scheme + "://" + host, nil
}

// Server is the address of the service.
func (c *Client) Server() string { return c.base.String() }

func wait(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// request begins a request.
func (c *Client) request(ctx context.Context, method string, query url.Values, body io.Reader, path ...string) (*http.Request, error) {
	u := c.base.JoinPath(slices.Concat([]string{"api", "v1"}, path)...)
	u.RawQuery = query.Encode()
	r, err := http.NewRequestWithContext(ctx, method, u.String(), body)
	if err != nil {
		return nil, err
	}
	r.Header.Set("User-Agent", c.config.Program)
	if c.config.Token != "" {
		r.Header.Set("Authorization", "Bearer "+c.config.Token)
	}
	return r, nil
}

// do sends a request, and gives the answer if it is not a rejection.
func (c *Client) do(r *http.Request) (*http.Response, error) {
	response, err := c.http.Do(r)
	if err != nil {
		return nil, c.connection(r.Context(), err)
	}
	if response.StatusCode >= http.StatusOK && response.StatusCode < http.StatusMultipleChoices {
		return response, nil
	}
	defer func() { _ = response.Body.Close() }()
	return nil, c.rejection(response)
}

// wantsTLS is what servers answer without TLS where they speak it: those in Go and nginx, and Apache.
var wantsTLS = regexp.MustCompile(`(?i)HTTP request (was sent )?to (an )?HTTPS (server|port)|speaking plain HTTP to an SSL`)

// rejection is why a request was rejected.
func (c *Client) rejection(r *http.Response) *Error {
	e := &Error{Server: c.Server(), Problem: wire.Problem{Status: r.StatusCode}}
	if location, err := r.Location(); err == nil {
		e.Location = location.Scheme + "://" + location.Host + location.Path
	}
	text, err := io.ReadAll(io.LimitReader(r.Body, maxAnswer))
	if kind, _, notOne := mime.ParseMediaType(r.Header.Get("Content-Type")); notOne == nil && kind == wire.ProblemType {
		p := wire.Problem{}
		if err == nil && json.Unmarshal(text, &p) == nil && p.Code != "" {
			e.Problem = p
			e.Problem.Status = r.StatusCode
		}
	}
	e.TLS = e.Problem.Code == "" && r.StatusCode == http.StatusBadRequest && c.base.Scheme == "http" && wantsTLS.Match(text)
	if seconds, err := strconv.ParseInt(r.Header.Get("Retry-After"), 10, 32); err == nil && seconds > 0 {
		e.After = time.Duration(seconds) * time.Second
	}
	return e
}

// get reads an answer in JSON. It is asked for again where that may help; impatient asks once.
func (c *Client) get(ctx context.Context, impatient bool, to any, query url.Values, path ...string) error {
	return c.repeat(ctx, impatient, func(ctx context.Context, end stalled) (progress bool, err error) {
		r, err := c.request(ctx, http.MethodGet, query, nil, path...)
		if err != nil {
			return false, err
		}
		response, err := c.do(r)
		if err != nil {
			return false, err
		}
		defer func() { _ = response.Body.Close() }()
		return false, c.decode(ctx, end, response, to)
	})
}

// decode reads an answer in JSON.
func (c *Client) decode(ctx context.Context, end stalled, r *http.Response, to any) error {
	body := c.watched(ctx, end, r.Body)
	defer func() { _ = body.Close() }()
	text, err := io.ReadAll(io.LimitReader(body, maxAnswer+1))
	switch {
	case err != nil:
		return c.connection(ctx, err)
	case len(text) > maxAnswer:
		return c.foreign("its answer is too long")
	}
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		return c.foreign("its answer is no JSON")
	}
	if json.Unmarshal(bytes.TrimSpace(text), to) != nil {
		return c.foreign("its answer has another form")
	}
	return nil
}

// repeat sends a request until it succeeds, or can't. After progress the count of attempts begins again.
func (c *Client) repeat(ctx context.Context, impatient bool, send func(context.Context, stalled) (progress bool, err error)) error {
	for attempt := 1; ; attempt++ {
		progress, err := c.once(ctx, send)
		if err == nil {
			return nil
		}
		if progress {
			attempt = 1
		}
		after, again := pause(err, attempt)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if !again || attempt >= maxAttempts || impatient && !asksToWait(err) {
			return err
		}
		if c.config.Again != nil {
			c.config.Again(err, after)
		}
		if err := c.config.Wait(ctx, after); err != nil {
			return err
		}
	}
}

// once ends what is left of a request when it was answered.
func (c *Client) once(ctx context.Context, send func(context.Context, stalled) (bool, error)) (bool, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	return send(ctx, func() { cancel(errStalled) })
}

// pause says after what time a request may be sent again, if that may help.
func pause(err error, attempt int) (after time.Duration, again bool) {
	after = min(firstPause<<min(attempt-1, 10), longestPause)
	var rejected *Error
	var connection *ConnectionError
	switch {
	case errors.As(err, &rejected):
		switch rejected.Problem.Status {
		case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
			return max(after, rejected.After), rejected.After <= longestWait
		}
		return 0, false
	case errors.As(err, &connection):
		return after, !connection.Final
	}
	return 0, false
}

// asksToWait says whether the service is there, and says when it can answer.
func asksToWait(err error) bool {
	rejected, ok := errors.AsType[*Error](err)
	return ok && rejected.After > 0
}

// foreign says that whoever answers is no service.
func (c *Client) foreign(why string) error {
	return fmt.Errorf("%s is not a Shadowcourt service: %s", c.Server(), why)
}
