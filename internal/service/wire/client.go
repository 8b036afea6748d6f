package wire

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// ClientConfig of a Client. Server must be set.
type ClientConfig struct {
	// Server is the address of the service, such as https://court.example.
	Server string
	// Address is the host and port to connect to; empty for those of Server.
	Address string
	// Token may be empty; then the service answers who has none.
	Token string
	// Program and its version, for the log of the service.
	Program string
	// Wait waits before a request is sent again, and ends early with the context. Nil: by the machine's clock.
	Wait func(ctx context.Context, d time.Duration) error
	// Stall is how long a connection may stand still; 0: a minute. A service that has nothing to say says so every 10 s. Behind what was written it
	// is twice as long: the answer to a large docket comes when all of it is stored. A whole answer, or a line of a stream, may take five times as
	// long, and an upload what it needs at uploadRate.
	Stall time.Duration
	// Again, if not nil, is told why a request is sent again, and after what time.
	Again func(err error, after time.Duration)
}

// Client of a service. Safe for concurrent use.
type Client struct {
	config ClientConfig
	base   *url.URL
	http   *http.Client
}

// Times and sizes.
const (
	dialTime  = 10 * time.Second
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
	// uploadRate is how many bytes a second a service takes at least.
	uploadRate = 32 << 10
)

// errSlow is why a request ends of which a part comes now and then, and no whole.
var errSlow = errors.New("no whole answer came in time")

// patience is how long a whole answer, or a line of one, may take.
func (c *Client) patience() time.Duration { return 5 * cmp.Or(c.config.Stall, stallTime) }

// NewClient makes a client. An error says what is wrong with the address.
func NewClient(config ClientConfig) (*Client, error) {
	base, err := parse(config.Server)
	if err != nil {
		return nil, err
	}
	if config.Wait == nil {
		config.Wait = wait
	}
	transport := &http.Transport{
		Proxy: http.ProxyFromEnvironment, DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			conn, err := (&net.Dialer{Timeout: dialTime}).DialContext(ctx, network, cmp.Or(config.Address, address))
			return &connection{Conn: conn, stall: cmp.Or(config.Stall, stallTime), read: make(chan struct{})}, err
		}, TLSHandshakeTimeout: dialTime, ExpectContinueTimeout: continueTime, MaxResponseHeaderBytes: maxHeader, ForceAttemptHTTP2: true,
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
		return nil, c.lost(r.Context(), err)
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
	e := &Error{Server: c.Server(), Problem: Problem{Status: r.StatusCode}}
	if location, err := r.Location(); err == nil {
		e.Location = location.Scheme + "://" + location.Host + location.Path
	}
	text, err := io.ReadAll(io.LimitReader(r.Body, maxAnswer))
	if kind, _, notOne := mime.ParseMediaType(r.Header.Get("Content-Type")); notOne == nil && kind == ProblemType {
		p := Problem{}
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
	return c.repeat(ctx, impatient, func() (progress bool, err error) {
		r, err := c.request(ctx, http.MethodGet, query, nil, path...)
		if err != nil {
			return false, err
		}
		_, err = c.answer(r, to)
		return false, err
	})
}

// answer sends a request, and reads the answer in JSON.
func (c *Client) answer(r *http.Request, to any) (status int, err error) {
	ctx, stop := context.WithTimeoutCause(r.Context(), c.patience()+time.Duration(r.ContentLength/uploadRate)*time.Second, errSlow)
	defer stop()
	r = r.WithContext(ctx)
	response, err := c.do(r)
	if err != nil {
		return 0, err
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer+1))
	switch {
	case err != nil:
		return 0, c.lost(ctx, err)
	case len(text) > maxAnswer:
		return 0, c.foreign("its answer is too long")
	}
	if kind, _, err := mime.ParseMediaType(response.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		return 0, c.foreign("its answer is no JSON")
	}
	if json.Unmarshal(bytes.TrimSpace(text), to) != nil {
		return 0, c.foreign("its answer has another form")
	}
	return response.StatusCode, nil
}

// repeat sends a request until it succeeds, or can't. After progress the count of attempts begins again.
func (c *Client) repeat(ctx context.Context, impatient bool, send func() (progress bool, err error)) error {
	for attempt := 1; ; attempt++ {
		progress, err := send()
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
		if rejected, ok := errors.AsType[*Error](err); impatient && (!ok || rejected.After == 0) {
			return err // a service that is there says when it can answer
		}
		if !again || attempt >= maxAttempts {
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

// pause says after what time a request may be sent again, if that may help.
func pause(err error, attempt int) (after time.Duration, again bool) {
	after = min(firstPause<<min(attempt-1, 10), longestPause)
	if lost, ok := errors.AsType[*ConnectionError](err); ok {
		return after, !lost.Final
	}
	if rejected, ok := errors.AsType[*Error](err); ok {
		switch rejected.Problem.Status {
		case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
			return max(after, rejected.After), rejected.After <= longestWait
		}
	}
	return 0, false
}

// foreign says that whoever answers is no service.
func (c *Client) foreign(why string) error {
	return fmt.Errorf("%s is not a Shadowcourt service: %s", c.Server(), why)
}

// answerTime is how long an answer is read after a write failed, where the server does not end it.
const answerTime = 2 * time.Second

// connection is one that ends when it stands still for some time, and that tells of a failed write when all is read. A server that rejects
// a docket may close its connection while the docket is sent; net/http would drop the connection at the failed write, with an answer that
// was already received.
type connection struct {
	net.Conn
	stall time.Duration
	once  sync.Once
	read  chan struct{} // closed when nothing more can be read
}

func (c *connection) in(n time.Duration) time.Time {
	return time.Now().Add(n * c.stall) //nolint:forbidigo,durationcheck // a number of times; deadlines of connections are by the kernel's clock
}

func (c *connection) ended() { c.once.Do(func() { close(c.read) }) }

// Read notes the end of what can be read. net/http sets no deadlines.
func (c *connection) Read(p []byte) (int, error) {
	_ = c.SetReadDeadline(c.in(1))
	n, err := c.Conn.Read(p)
	if err != nil {
		c.ended()
	}
	return n, err
}

// Write waits after an error, until all is read or the connection is closed.
func (c *connection) Write(p []byte) (int, error) {
	_, _ = c.SetWriteDeadline(c.in(1)), c.SetReadDeadline(c.in(2))
	n, err := c.Conn.Write(p)
	if err != nil {
		timer := time.NewTimer(answerTime)
		defer timer.Stop()
		select {
		case <-c.read:
		case <-timer.C:
		}
	}
	return n, err
}

// Close closes the connection, and ends the waiting of a write.
func (c *connection) Close() error {
	c.ended()
	return c.Conn.Close()
}

// Error is an answer of a server that rejects a request.
type Error struct {
	Server string
	// Problem says why. Its Code is empty where something else than a service answered.
	Problem Problem
	// Docket is what people call the docket that was rejected; empty for other requests.
	Docket string
	// After is when the server says that the request may be sent again; 0 where it does not.
	After time.Duration
	// Location is where a redirect leads, without its query.
	Location string
	// TLS says that the server speaks https alone, and was asked without.
	TLS bool
}

// Error says what the service says, each fault on a line.
func (e *Error) Error() string {
	var b strings.Builder
	p := &e.Problem
	switch {
	case e.Location != "" && p.Status >= 300 && p.Status < 400:
		fmt.Fprintf(&b, "%s redirects to %s, which gets no token from here; if that is your service, use its address", e.Server, e.Location)
	case e.TLS:
		fmt.Fprintf(&b, "%s: this service speaks https; use %s", e.Server, strings.Replace(e.Server, "http:", "https:", 1))
	case p.Code == "" && p.Status >= http.StatusInternalServerError:
		fmt.Fprintf(&b, "%s: status %d, and not from a Shadowcourt service: is what stands before it working?", e.Server, p.Status)
	case p.Code == "":
		fmt.Fprintf(&b, "%s is not a Shadowcourt service: it answers with status %d", e.Server, p.Status)
	default:
		fmt.Fprintf(&b, "%s: %s (%s)", e.Server, cmp.Or(p.Detail, http.StatusText(p.Status)), p.Code)
	}
	switch p.Status {
	case http.StatusUnauthorized:
		fmt.Fprintf(&b, "; `shadowcourt login %s` keeps a token", e.Server)
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		if e.After > 0 {
			fmt.Fprintf(&b, "; try again in %s", e.After)
		}
	}
	for _, line := range e.Faults() {
		b.WriteString("\n" + line)
	}
	return b.String()
}

// Faults gives each fault on a line, with its place as where dockets are read on this machine.
func (e *Error) Faults() []string {
	var list []string
	for _, f := range e.Problem.Errors {
		path := f.Path
		if line, ok := strings.CutPrefix(path, "line "); ok && e.Docket != "" {
			path = e.Docket + ":" + line
		}
		if path != "" {
			path += ": "
		}
		text := path + f.Message
		if f.Code != "" {
			text += " (" + f.Code + ")"
		}
		list = append(list, text)
	}
	if n := e.Problem.Omitted; n > 0 {
		list = append(list, fmt.Sprintf("and %d more", n))
	}
	return list
}

// Rejected says whether the server will reject the same request again: the request is wrong, or nobody may send it.
func (e *Error) Rejected() bool {
	return e.Problem.Status < http.StatusInternalServerError && e.Problem.Status != http.StatusTooManyRequests && e.Problem.Status != http.StatusRequestTimeout
}

// ConnectionError says that a server could not be reached, or that its answer broke off.
type ConnectionError struct {
	Server string
	// Final says that it is of no use to try again.
	Final bool
	Err   error
}

func (e *ConnectionError) Error() string { return e.Server + ": " + e.Err.Error() }

// Unwrap gives the cause.
func (e *ConnectionError) Unwrap() error { return e.Err }

// lost says what a fault of the connection means.
func (c *Client) lost(ctx context.Context, err error) error {
	slow := errors.Is(context.Cause(ctx), errSlow)
	if ctx.Err() != nil && !slow {
		return ctx.Err()
	}
	e := &ConnectionError{Server: c.Server()}
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err // it repeats the address with the path
	}
	var untrusted *tls.CertificateVerificationError
	var noTLS tls.RecordHeaderError
	var dns *net.DNSError
	switch {
	case slow:
		e.Err = errSlow
	case errors.As(err, &untrusted):
		e.Final, e.Err = true, fmt.Errorf("its certificate is not trusted: %w; SSL_CERT_FILE names a file with the certificate of your authority", untrusted.Err)
	case errors.As(err, &noTLS), strings.Contains(err.Error(), "server gave HTTP response to HTTPS client"): // net/http has no type for it
		e.Final, e.Err = true, errors.New("it answers without TLS; is its address http://?")
	case errors.As(err, &dns) && dns.IsNotFound:
		e.Final, e.Err = true, fmt.Errorf("there is no such host: %w", err)
	case errors.Is(err, os.ErrDeadlineExceeded):
		e.Err = errors.New("the connection stood still for too long")
	case errors.Is(err, syscall.ECONNREFUSED):
		e.Err = fmt.Errorf("no connection: %w; is the service running?", err)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		e.Err = errors.New("the connection was closed before the answer was complete")
	default:
		e.Err = err
	}
	return e
}
