// Package publish writes answers where people work: to code hosts, issue trackers and ReportPortal.
//
// Servers are not trusted: their answers are bounded, their redirects are not followed, and what errors quote of them is cut and sanitized. A
// token goes to its own server alone, in a header, and into no error.
package publish

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/shadowcourt/shadowcourt/internal/httplimit"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
)

// Limits of one request.
const (
	maxAnswer = 8 << 20 // bytes of an answer's body
	// maxValues of the JSON in it. A page of GitHub has at most 50,000: 50 issues with 100 labels and 10 assignees each. Without this limit, a page of
	// 8 MiB of "{}" takes 800 MB when it is decoded.
	maxValues  = 100_000
	maxHeader  = 64 << 10
	maxQuoted  = 300 // bytes of an answer in an error
	maxToken   = 16 << 10
	dialTime   = 10 * time.Second
	headerTime = 30 * time.Second
	wholeTime  = time.Minute
)

// errTooLarge says that an answer has more than [maxAnswer] bytes, or more values than any real one.
var errTooLarge = errors.New("the server's answer has more than 8 MiB, or more than 100000 values")

// Token is a secret. It prints as "[token]", however it is formatted.
type Token struct {
	text string
}

// String gives nothing away.
func (Token) String() string { return "[token]" }

// GoString gives nothing away.
func (Token) GoString() string { return "[token]" }

// MarshalText gives nothing away.
func (Token) MarshalText() ([]byte, error) { return []byte("[token]"), nil }

// Empty says that there is none.
func (t Token) Empty() bool { return t.text == "" }

// ReadToken reads a token from where a flag says it is: env:NAME or a file. An empty place stands for the first of the variables that is set; if
// none is, the token is empty. Nothing of a token gets into an error, not even where its text was given in place of a name.
func ReadToken(place string, variables ...string) (Token, error) {
	name, fromEnv := strings.CutPrefix(place, "env:")
	if place == "" {
		for _, v := range variables {
			if os.Getenv(v) != "" {
				name, fromEnv = v, true
				break
			}
		}
		if !fromEnv {
			return Token{}, nil
		}
	}
	var text string
	if fromEnv {
		if text = os.Getenv(name); text == "" {
			return Token{}, errors.New("the variable of the token is not set")
		}
	} else {
		f, err := os.Open(name)
		if err != nil {
			return Token{}, errors.New("the file of the token can't be read: use FILE, or env:NAME for a variable that holds it")
		}
		defer func() { _ = f.Close() }()
		data, err := io.ReadAll(io.LimitReader(f, maxToken+1))
		if err != nil {
			return Token{}, errors.New("the file of the token can't be read")
		}
		text = string(data)
	}
	text = strings.TrimSpace(text)
	if text == "" || len(text) > maxToken || strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return Token{}, errors.New("the token is empty, too long, or has characters that no token has")
	}
	return Token{text: text}, nil
}

// Server is where a client may go.
type Server struct {
	// Base is such as https://gitlab.example/api/v4. Plain http is for loopback addresses alone, unless Insecure.
	Base     *url.URL
	Insecure bool
	// Header has the token: "Authorization" with the Prefix "Bearer ", "PRIVATE-TOKEN" with none.
	Header, Prefix string
	Token          Token
	Agent          string // User-Agent

	wait func(context.Context, time.Duration) error // nil waits by the clock
}

// ParseServer reads the address of a server.
func ParseServer(base string, insecure bool) (*Server, error) {
	u, err := url.Parse(strings.TrimSuffix(base, "/"))
	switch {
	case err != nil || u.Host == "" || u.Opaque != "":
		return nil, fmt.Errorf("%q is not an address such as https://host.example/api", sanitize.Line(base))
	case u.User != nil:
		return nil, errors.New("an address has no user and no password: use a token")
	case u.RawQuery != "" || u.Fragment != "":
		return nil, fmt.Errorf("%q: an address has no query", sanitize.Line(base))
	case u.Scheme == "http" && !insecure && !httplimit.IsLoopback(u.Hostname()):
		return nil, fmt.Errorf("%q: use https, since the token must not go over the network in the clear", sanitize.Line(base))
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, fmt.Errorf("%q: use https", sanitize.Line(base))
	}
	return &Server{Base: u, Insecure: insecure}, nil
}

// hider replaces the token, as it is and as addresses have it: servers quote requests.
func (t Token) hider() *strings.Replacer {
	if t.Empty() {
		return strings.NewReplacer()
	}
	return strings.NewReplacer(t.text, "[token]", url.QueryEscape(t.text), "[token]", url.PathEscape(t.text), "[token]")
}

// statusError is an answer that is not a success. Its words name the request and the status, with the beginning of what the server said; its
// status is 429 for 403 where that is a limit.
type statusError struct {
	status int
	words  string
}

func (e *statusError) Error() string { return e.words }

// statusOf is the status of a [statusError]; 0 for another error.
func statusOf(err error) int {
	if e, ok := errors.AsType[*statusError](err); ok {
		return e.status
	}
	return 0
}

// api makes requests with JSON to a server, and to no other: it follows no redirect. It is safe for concurrent use.
type api struct {
	server *Server
	client *http.Client
	hide   *strings.Replacer
}

func newAPI(s *Server) *api {
	return &api{server: s, hide: s.Token.hider(), client: &http.Client{
		Timeout: wholeTime,
		Transport: &http.Transport{
			Proxy: http.ProxyFromEnvironment, DialContext: (&net.Dialer{Timeout: dialTime}).DialContext, TLSHandshakeTimeout: dialTime,
			ResponseHeaderTimeout: headerTime, MaxResponseHeaderBytes: maxHeader, MaxConnsPerHost: 4, IdleConnTimeout: time.Minute, ForceAttemptHTTP2: true,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// apiRequest is one of an [api].
type apiRequest struct {
	Method string
	// Path are the elements of the path below the server's base. Each is escaped.
	Path  []string
	Query url.Values
	// Send is the body, as a value for encoding/json; nil for none.
	Send any
}

// apiAnswer is what a server answers: at most [maxAnswer] bytes, without the token, which servers quote.
type apiAnswer struct {
	status int
	words  string // of the status
	header http.Header
	body   []byte
}

// call makes a request and reads the JSON of the answer into got, unless that is nil. What is no success, not JSON or not of got's form is an
// error that names the request. It waits as a server asks for with Retry-After and status 403 or 429: at most three times, a minute each.
func (a *api) call(ctx context.Context, r apiRequest, got any) error {
	at := a.server.Base.JoinPath()
	for _, element := range r.Path {
		if element == "" || element == "." || element == ".." {
			return fmt.Errorf("%q is not an element of a path", element)
		}
		at = at.JoinPath(url.PathEscape(element))
	}
	at.RawQuery = r.Query.Encode()
	name := r.Method + " /" + sanitize.Line(strings.TrimPrefix(at.Path, "/"))
	named := func(what string) error { return errors.New(sanitize.Log(name + ": " + what)) }
	var body []byte
	if r.Send != nil {
		var err error
		if body, err = json.Marshal(r.Send); err != nil {
			return err
		}
	}
	for tried := 0; ; tried++ {
		answer, err := a.send(ctx, r.Method, at.String(), body)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		after, asked := answer.retryAfter()
		switch {
		case asked && after <= maxWait && tried < maxRetries:
			if err := a.server.pause(ctx, after); err != nil {
				return err
			}
			continue
		case answer.status < 200 || answer.status > 299:
			e := &statusError{answer.status, named(sanitize.Line(answer.words)).Error()}
			if text := strings.Join(strings.Fields(string(answer.body[:min(len(answer.body), maxQuoted)])), " "); text != "" {
				e.words = sanitize.Log(e.words + ": " + sanitize.Line(strings.ToValidUTF8(text, "?")))
			}
			if e.status == http.StatusForbidden && (asked || answer.header.Get("X-RateLimit-Remaining") == "0") {
				e.status = http.StatusTooManyRequests
			}
			return e
		case got == nil:
			return nil
		case !isJSON(answer.header.Get("Content-Type")):
			return named(fmt.Sprintf("the answer is %q, not JSON", sanitize.Cut(sanitize.Line(a.hide.Replace(answer.header.Get("Content-Type"))), maxQuoted)))
		case sanitize.CountValues(answer.body) >= maxValues:
			return fmt.Errorf("%s: %w", name, errTooLarge)
		}
		if err := json.Unmarshal(answer.body, got); err != nil {
			return named("the answer has another form than the API describes: " + sanitize.Cut(sanitize.Line(err.Error()), maxQuoted))
		}
		return nil
	}
}

// send sends a request once.
func (a *api) send(ctx context.Context, method, at string, body []byte) (*apiAnswer, error) {
	request, err := http.NewRequestWithContext(ctx, method, at, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Accept", "application/json")
	request.Header.Set("User-Agent", a.server.Agent)
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	if !a.server.Token.Empty() {
		request.Header.Set(a.server.Header, a.server.Prefix+a.server.Token.text)
	}
	answer, err := a.client.Do(request)
	if err != nil {
		if wrapped, ok := errors.AsType[*url.Error](err); ok {
			err = wrapped.Err
		}
		if said := sanitize.Log(sanitize.Cut(sanitize.Line(a.hide.Replace(err.Error())), maxQuoted)); said != err.Error() {
			err = errors.New(said) // it quotes what is no HTTP
		}
		return nil, err
	}
	defer func() { _ = answer.Body.Close() }()
	data, err := io.ReadAll(io.LimitReader(answer.Body, maxAnswer+1))
	switch {
	case len(data) > maxAnswer && answer.StatusCode < 300:
		return nil, errTooLarge
	case err != nil && answer.StatusCode < 300:
		return nil, err
	}
	return &apiAnswer{answer.StatusCode, a.hide.Replace(answer.Status), answer.Header, []byte(a.hide.Replace(string(data)))}, nil
}

func isJSON(kind string) bool {
	media, _, err := mime.ParseMediaType(kind)
	return err == nil && (media == "application/json" || strings.HasSuffix(media, "+json"))
}

// Limits of waiting for a server that asks for it.
const (
	maxRetries = 3
	maxWait    = time.Minute
)

// retryAfter is the time that a server asks to wait.
func (a *apiAnswer) retryAfter() (time.Duration, bool) {
	if a.status != http.StatusForbidden && a.status != http.StatusTooManyRequests {
		return 0, false
	}
	return httplimit.RetryAfter(a.header.Get("Retry-After"), time.Now()) //nolint:forbidigo // the server's dates are by the world's clock
}

// pause waits for a time, or until the context ends.
func (s *Server) pause(ctx context.Context, d time.Duration) error {
	if s.wait != nil {
		return s.wait(ctx, d)
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}

// mostFailures in a row end the work: the server is gone, or rejects the token.
const mostFailures = 5

// failureCount counts requests that failed in a row. Its zero value is ready.
type failureCount struct{ inRow int }

// stopped says why nothing more is tried; nil to go on.
func (f *failureCount) stopped(ctx context.Context) error {
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case f.inRow >= mostFailures:
		return fmt.Errorf("not tried, after %d failures in a row", mostFailures)
	}
	return nil
}

// count counts what came of a request.
func (f *failureCount) count(err error) {
	if err == nil {
		f.inRow = 0
	} else {
		f.inRow++
	}
}
