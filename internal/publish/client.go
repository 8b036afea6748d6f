// Package publish writes answers where people work: to code hosts, issue trackers and ReportPortal.
//
// Servers are not trusted: their answers are bounded, their redirects are not followed, and what errors quote of them is cut and sanitized. A
// token goes to its own server alone, in a header, and into no error.
package publish

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

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
	case u.Scheme == "http" && !insecure && !loopback(u.Hostname()):
		return nil, fmt.Errorf("%q: use https, since the token must not go over the network in the clear", sanitize.Line(base))
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, fmt.Errorf("%q: use https", sanitize.Line(base))
	}
	return &Server{Base: u, Insecure: insecure}, nil
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// Client makes requests to the server alone, within the limits. It is safe for concurrent use.
func (s *Server) Client() *http.Client {
	return &http.Client{
		Timeout: wholeTime,
		Transport: &transport{server: s, hide: s.Token.hider(), inner: &http.Transport{
			Proxy: http.ProxyFromEnvironment, DialContext: (&net.Dialer{Timeout: dialTime}).DialContext, TLSHandshakeTimeout: dialTime,
			ResponseHeaderTimeout: headerTime, MaxResponseHeaderBytes: maxHeader, MaxConnsPerHost: 4, IdleConnTimeout: time.Minute, ForceAttemptHTTP2: true,
		}},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

type transport struct {
	server *Server
	hide   *strings.Replacer
	inner  *http.Transport
}

func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Scheme != t.server.Base.Scheme || r.URL.Host != t.server.Base.Host {
		return nil, fmt.Errorf("a request to %s, which is not the server %s", sanitize.Line(r.URL.Host), t.server.Base.Host)
	}
	r = r.Clone(r.Context())
	if !t.server.Token.Empty() {
		r.Header.Set(t.server.Header, t.server.Prefix+t.server.Token.text)
	}
	if t.server.Agent != "" {
		r.Header.Set("User-Agent", t.server.Agent)
	}
	answer, err := t.inner.RoundTrip(r)
	if err != nil { // it quotes what is no HTTP
		if said := sanitize.Log(sanitize.Cut(sanitize.Line(t.hide.Replace(err.Error())), maxQuoted)); said != err.Error() {
			err = errors.New(said)
		}
		return nil, err
	}
	// Clients quote status, headers and bodies in their errors.
	answer.Status = t.hide.Replace(answer.Status)
	for _, values := range answer.Header {
		for i := range values {
			values[i] = t.hide.Replace(values[i])
		}
	}
	body, failed := io.ReadAll(&bounded{answer.Body, maxAnswer})
	_ = answer.Body.Close()
	if failed == nil && answer.StatusCode < 300 && values(body) > maxValues {
		body, failed = nil, errTooLarge
	}
	text := t.hide.Replace(string(body))
	answer.ContentLength = int64(len(text))
	if failed != nil {
		answer.ContentLength = -1
	}
	answer.Body = io.NopCloser(io.MultiReader(strings.NewReader(text), broken{failed}))
	return answer, nil
}

// values bounds from above how many values are in a text of JSON.
func values(text []byte) int {
	n, quoted := 1, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case !quoted && (c == ',' || c == '[' || c == '{'):
			n++
		}
	}
	return n
}

// hider replaces the token, as it is and as addresses have it: servers quote requests.
func (t Token) hider() *strings.Replacer {
	if t.Empty() {
		return strings.NewReplacer()
	}
	return strings.NewReplacer(t.text, "[token]", url.QueryEscape(t.text), "[token]", url.PathEscape(t.text), "[token]")
}

// broken is the end of a body that could not be read to its end; a nil error is a usual end.
type broken struct{ err error }

func (b broken) Read([]byte) (int, error) {
	if b.err != nil {
		return 0, b.err
	}
	return 0, io.EOF
}

// CloseIdleConnections closes the connections that are kept.
func (t *transport) CloseIdleConnections() { t.inner.CloseIdleConnections() }

// bounded fails at the byte behind the most, so that a cut answer is not taken for a whole one.
type bounded struct {
	io.ReadCloser

	left int64
}

func (b *bounded) Read(p []byte) (int, error) {
	if int64(len(p)) > b.left+1 {
		p = p[:b.left+1]
	}
	n, err := b.ReadCloser.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return n, errTooLarge
	}
	return n, err
}

// statusError is an answer that is not a success.
type statusError struct {
	status int
	words  string
}

// Error names the request and the status, with the beginning of what the server said.
func (e *statusError) Error() string { return e.words }

// failedAnswer describes an answer that is not a success, by a [statusError].
func failedAnswer(r *http.Response) error {
	said, _ := io.ReadAll(io.LimitReader(r.Body, maxQuoted))
	words := fmt.Sprintf("%s %s: %s", r.Request.Method, sanitize.Line(r.Request.URL.Path), sanitize.Line(r.Status))
	if text := strings.Join(strings.Fields(string(said)), " "); text != "" {
		words += ": " + sanitize.Line(strings.ToValidUTF8(text, "?"))
	}
	return &statusError{r.StatusCode, sanitize.Log(words)}
}

// Wait waits for a time, or until the context ends.
func Wait(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}
