package client

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"time"

	"github.com/shadowcourt/shadowcourt/internal/service/wire"
)

// Error is an answer of a server that rejects a request.
type Error struct {
	Server string
	// Problem says why. Its Code is empty where something else than a service answered.
	Problem wire.Problem
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
		text := p.Detail
		if text == "" {
			text = http.StatusText(p.Status)
		}
		fmt.Fprintf(&b, "%s: %s (%s)", e.Server, text, p.Code)
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

// connection says what a fault of the connection means.
func (c *Client) connection(ctx context.Context, err error) error {
	e := &ConnectionError{Server: c.Server()}
	if ctx.Err() != nil {
		if e.Err = context.Cause(ctx); errors.Is(e.Err, errStalled) {
			return e
		}
		return ctx.Err()
	}
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err // it repeats the address with the path
	}
	var untrusted *tls.CertificateVerificationError
	var noTLS tls.RecordHeaderError
	var dns *net.DNSError
	switch {
	case errors.As(err, &untrusted):
		e.Final, e.Err = true, fmt.Errorf("its certificate is not trusted: %w; SSL_CERT_FILE names a file with the certificate of your authority", untrusted.Err)
	case errors.As(err, &noTLS), strings.Contains(err.Error(), "server gave HTTP response to HTTPS client"): // net/http has no type for it
		e.Final, e.Err = true, errors.New("it answers without TLS; is its address http://?")
	case errors.As(err, &dns) && dns.IsNotFound:
		e.Final, e.Err = true, fmt.Errorf("there is no such host: %w", err)
	case errors.Is(err, syscall.ECONNREFUSED):
		e.Err = fmt.Errorf("no connection: %w; is the service running?", err)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		e.Err = errors.New("the connection was closed before the answer was complete")
	default:
		e.Err = err
	}
	return e
}

var errStalled = errors.New("nothing came for a minute")
