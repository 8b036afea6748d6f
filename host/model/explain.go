package model

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/internal/httplimit"
)

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
	case errors.As(err, &authority):
		f.detail = "TLS: " + text + ": have the variable SSL_CERT_FILE name a file with the certificate of its authority"
	case errors.As(err, &certificate), errors.As(err, &record), errors.As(err, &alert):
		f.detail = "TLS: " + text
	case strings.Contains(text, "server gave HTTP response to HTTPS client"):
		f.detail = "TLS: the server speaks plain HTTP"
	case strings.Contains(text, "server response headers exceeded"), strings.Contains(text, "response header list larger"):
		f.detail = fmt.Sprintf("the headers of the answer have more than %d bytes", maxHeaderBytes)
	case errors.As(err, &dns) && dns.IsNotFound:
		f.detail = "there is no such host: " + dns.Name
	case errors.Is(err, io.ErrUnexpectedEOF):
		f.detail, f.again = "the answer ended in the middle", true
	case errors.Is(err, io.EOF):
		f.detail, f.again = "the connection was closed before an answer"+e.perhapsTLS(), true
	case strings.Contains(text, "malformed"):
		f.detail, f.again = "the server does not answer in HTTP: "+text, true
	case errors.Is(err, syscall.ECONNRESET):
		f.detail, f.again = "no connection: "+text+e.perhapsTLS(), true
	default:
		f.detail, f.again = "no connection: "+text, true
	}
	f.detail = e.name + ": " + cut(f.detail, 400)
	return f
}

// perhapsTLS is what to look at where a server hangs up on plain HTTP.
func (e *endpoint) perhapsTLS() string {
	if strings.HasPrefix(e.given.URL, "http:") {
		return ": if the server speaks TLS, its url has to begin with https"
	}
	return ""
}

// proxyFor is the proxy, without its password, through which the requests to a URL go; empty for none.
func proxyFor(to string, proxy func(*http.Request) (*url.URL, error)) string {
	r, err := http.NewRequest(http.MethodPost, to, nil) //nolint:noctx // it is not sent
	if err != nil {
		return ""
	}
	through, err := proxy(r)
	if err != nil || through == nil {
		return ""
	}
	return oneLine(through.Scheme + "://" + through.Host)
}

// throughProxy names the proxy of a request that failed.
func (e *endpoint) throughProxy(f *failure) *failure {
	if e.proxy != "" {
		f.detail += " (through the proxy " + e.proxy + ")"
	}
	return f
}

// status says what a response reports instead of an answer; nil if it is one.
func (e *endpoint) status(response *http.Response) *failure {
	code := response.StatusCode
	if code == http.StatusSwitchingProtocols { // its body is the connection, which the end of the context does not close
		f := failed(e.name + ": the server switches to another protocol: check its url")
		f.free = true
		return f
	}
	if code/100 == 3 {
		where := "elsewhere"
		if to, err := response.Location(); err == nil {
			where = "to " + to.Scheme + "://" + to.Host
		}
		f := failed(fmt.Sprintf("%s: the server redirects %s, which is not followed: change its url", e.name, cut(oneLine(e.key.scrub(where)), 300)))
		f.free = true
		return f
	}
	if kind, _, err := mime.ParseMediaType(response.Header.Get("Content-Type")); code == http.StatusOK &&
		(err != nil || kind != "application/json" && !strings.HasSuffix(kind, "+json")) {
		return failed(cut(oneLine(e.key.scrub(fmt.Sprintf("%s: the answer is %q and not application/json: check its url", e.name, kind))), 400))
	}
	if code == http.StatusOK {
		return nil
	}
	body, _ := io.ReadAll(io.LimitReader(response.Body, maxFaultBytes)) // what was read says more than why the rest was not
	said := e.faultText(body)
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
	lower := strings.ToLower(said)
	f := failed(e.name + ": " + cut(oneLine(e.key.scrub(detail)), 600))
	f.free = true
	for _, sign := range []string{"context_length", "context length", "context size", "context window", "exceed_context", "prompt is too long", "maximum context"} {
		if code/100 == 4 && strings.Contains(lower, sign) {
			f.outcome = abi.CompletionTooLong
		}
	}
	f.again = code == http.StatusTooManyRequests || code >= 500
	wait, _ := httplimit.RetryAfter(response.Header.Get("Retry-After"), e.clock.Now())
	f.seconds = wait.Seconds()
	return f
}
