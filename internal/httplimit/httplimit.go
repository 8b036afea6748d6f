// Package httplimit bounds how long requests may take: each is answered or closed within known times, whether its client has a token or
// not, sends only a part of it, sends it slowly, or does not read the answer.
//
// [Times.Server] makes a server with these limits. Handlers of ordinary requests use [Bound], those that take large bodies [Streaming], and
// those whose answers are written over a longer time [Writing]. Clients read how long a server asks them to wait with [RetryAfter], and
// dial no address that they must not reach with [Control].
package httplimit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

// Sizes.
const (
	// HeaderBytes bounds the headers of a request.
	HeaderBytes = 32 << 10
	// BodyBytes bounds the body of an ordinary request: one that carries neither dockets nor modules.
	BodyBytes = 1 << 20
)

// Times are the limits of a server. Zero fields have the values of [Default].
type Times struct {
	Header  time.Duration // until the headers are read, and until TLS is agreed on
	Idle    time.Duration // of a connection without a request
	Request time.Duration // until an ordinary request is read, and until an ordinary answer is read
	Unread  time.Duration // that the rest of a body has when the answer does not depend on it
	Stall   time.Duration // that a stream may stand still, in either direction
	Grace   time.Duration // that a client may keep a server waiting for a large body, beyond what Rate allows
	Rate    int64         // bytes a second at which a large body must come
}

// Default are the limits of a server that sets none.
func Default() Times {
	return Times{
		Header: 10 * time.Second, Idle: time.Minute, Request: 30 * time.Second, Unread: 5 * time.Second, Stall: 30 * time.Second,
		Grace: 10 * time.Second, Rate: 32 << 10,
	}
}

func (t Times) complete() Times {
	d := Default()
	return Times{
		Header: cmp.Or(t.Header, d.Header), Idle: cmp.Or(t.Idle, d.Idle), Request: cmp.Or(t.Request, d.Request), Unread: cmp.Or(t.Unread, d.Unread),
		Stall: cmp.Or(t.Stall, d.Stall), Grace: cmp.Or(t.Grace, d.Grace), Rate: cmp.Or(t.Rate, d.Rate),
	}
}

// Server makes a server of HTTP/1 with these limits.
func (t Times) Server(h http.Handler) *http.Server {
	t = t.complete()
	protocols := &http.Protocols{}
	protocols.SetHTTP1(true) // a connection has one request at a time, so that its limits are those of the request
	return &http.Server{
		Handler: t.Handler(h), ReadHeaderTimeout: t.Header, ReadTimeout: t.Request, IdleTimeout: t.Idle, MaxHeaderBytes: HeaderBytes, Protocols: protocols,
		ConnContext: connContext,
	}
}

// exchange is a request with its answer.
type exchange struct {
	http.ResponseWriter
	times   Times
	control *http.ResponseController
	read    atomic.Bool // the body was read to its end
	begun   bool        // the answer
}

// of gives the exchange of an answer. Without a server that has limits those of Default are for w.
func of(w http.ResponseWriter) *exchange {
	for inner := w; ; {
		switch t := inner.(type) {
		case *exchange:
			return t
		case interface{ Unwrap() http.ResponseWriter }:
			inner = t.Unwrap()
		default:
			return &exchange{ResponseWriter: w, times: Default(), control: http.NewResponseController(w)}
		}
	}
}

// Handler goes around everything that a server serves.
func (t Times) Handler(next http.Handler) http.Handler {
	t = t.complete()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		x := &exchange{ResponseWriter: w, times: t, control: http.NewResponseController(w)}
		empty := r.Body == nil || r.Body == http.NoBody
		x.read.Store(empty)
		switch {
		case empty:
			x.readDeadline(0)
		default:
			x.readDeadline(t.Request)
			r = r.WithContext(r.Context()) // a copy, whose body may be another
			r.Body = &body{r.Body, x}
			if r.Method != http.MethodGet && r.Method != http.MethodHead {
				break
			}
			// It means nothing, and a stream would never look at it: what is left of it could not be bounded while the stream goes on.
			if _, err := io.CopyN(io.Discard, r.Body, BodyBytes); !errors.Is(err, io.EOF) {
				http.Error(x, "the body of the request is too large, or did not come", http.StatusBadRequest)
				return
			}
		}
		next.ServeHTTP(x, r)
		if !x.begun {
			x.begin()
		}
	})
}

// readDeadline sets the deadline of reads; 0: none. A writer without deadlines, as tests have, has no connection that could stand still.
func (x *exchange) readDeadline(d time.Duration) { _ = x.control.SetReadDeadline(in(d)) }

func (x *exchange) writeDeadline(d time.Duration) error {
	if err := x.control.SetWriteDeadline(in(d)); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return err
	}
	return nil
}

func in(d time.Duration) time.Time {
	if d == 0 {
		return time.Time{}
	}
	return time.Now().Add(d) //nolint:forbidigo // deadlines of connections are by the kernel's clock
}

// begin bounds what is left when the answer is known: net/http reads the rest of a short body before it sends the answer.
func (x *exchange) begin() {
	x.begun = true
	if !x.read.Load() {
		x.readDeadline(x.times.Unread)
	}
	_ = x.writeDeadline(x.times.Request)
}

// WriteHeader begins the answer.
func (x *exchange) WriteHeader(status int) {
	if !x.begun {
		x.begin()
	}
	x.ResponseWriter.WriteHeader(status)
}

func (x *exchange) Write(p []byte) (int, error) {
	if !x.begun {
		x.begin()
	}
	return x.ResponseWriter.Write(p)
}

// Unwrap lets http.ResponseController reach the connection.
func (x *exchange) Unwrap() http.ResponseWriter { return x.ResponseWriter }

// SetReadDeadline does nothing: the limits are those of Times, whatever a library sets.
func (*exchange) SetReadDeadline(time.Time) error { return nil }

// Flush is for those who look for it.
func (x *exchange) Flush() { _ = x.control.Flush() }

// body notes when all of a body was read. From then on the request may take its time: net/http watches the connection, and a deadline
// that passes would end the request's context.
type body struct {
	io.ReadCloser
	x *exchange
}

func (b *body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if errors.Is(err, io.EOF) && !b.x.read.Swap(true) {
		b.x.readDeadline(0)
	}
	return n, err
}

// Limit goes around ordinary requests: see Bound.
func Limit(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		Bound(w, r)
		next.ServeHTTP(w, r)
	})
}

// Bound bounds the body of an ordinary request, and the time to read it and to answer.
func Bound(w http.ResponseWriter, r *http.Request) {
	x := of(w)
	x.readDeadline(x.times.Request)
	r.Body = http.MaxBytesReader(w, r.Body, BodyBytes)
}

// Streaming gives a body that is read over a longer time: of at most max bytes, which come at Times.Rate at least. A read beyond max gives
// a *http.MaxBytesError, one that the client keeps waiting for too long os.ErrDeadlineExceeded.
func Streaming(w http.ResponseWriter, body io.ReadCloser, maxBytes int64) io.ReadCloser {
	return &streaming{ReadCloser: http.MaxBytesReader(w, body, maxBytes), x: of(w)}
}

type streaming struct {
	io.ReadCloser
	x      *exchange
	got    int64
	waited time.Duration // for the client; what the server does meanwhile does not count
}

func (s *streaming) Read(p []byte) (int, error) {
	t := s.x.times
	left := t.Grace - s.waited + time.Duration(float64(s.got)/float64(t.Rate)*float64(time.Second))
	s.x.readDeadline(max(min(left, t.Stall), 1))
	begun := time.Now() //nolint:forbidigo // as for deadlines
	n, err := s.ReadCloser.Read(p)
	s.got += int64(n)
	s.waited += time.Since(begun)
	if errors.Is(err, io.EOF) {
		s.x.readDeadline(0) // MaxBytesReader may know the end before the body does
	}
	return n, err
}

// Writing gives the answer of a request that is written over a longer time: each write is flushed, and must be read within Times.Stall.
func Writing(w http.ResponseWriter) http.ResponseWriter {
	x := of(w)
	if x.read.Load() {
		x.readDeadline(0)
	}
	return &flushing{w, http.NewResponseController(w), x}
}

type flushing struct {
	http.ResponseWriter
	c *http.ResponseController
	x *exchange
}

// Unwrap lets http.ResponseController reach the connection.
func (f *flushing) Unwrap() http.ResponseWriter { return f.ResponseWriter }

// Flush is for those who look for it.
func (f *flushing) Flush() { _ = f.c.Flush() }

func (f *flushing) Write(p []byte) (int, error) {
	f.x.begun = true
	if err := f.x.writeDeadline(f.x.times.Stall); err != nil {
		return 0, err
	}
	n, err := f.ResponseWriter.Write(p)
	if err != nil {
		return n, err
	}
	if err := f.c.Flush(); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return n, err
	}
	return n, nil
}

// RetryAfter reads the header of that name: how long a server asks to wait, in seconds or until a date. ok is false where it is neither,
// or more than 1e9 s, which no server means.
func RetryAfter(header string, now time.Time) (wait time.Duration, ok bool) {
	const most = 1e9 // ten times as many overflow a time.Duration
	if seconds, err := strconv.ParseFloat(header, 64); err == nil && seconds >= 0 && seconds <= most {
		return time.Duration(seconds * float64(time.Second)), true
	}
	at, err := http.ParseTime(header)
	if err != nil {
		return 0, false
	}
	return max(at.Sub(now), 0), true
}

// ErrBlocked: the address that was to be dialled is not allowed.
var ErrBlocked = errors.New("is blocked")

func prefixes(list ...string) []netip.Prefix {
	out := make([]netip.Prefix, len(list))
	for i, text := range list {
		out[i] = netip.MustParsePrefix(text)
	}
	return out
}

// Addresses of no public service. The first are blocked always: link-local ones and others at which clouds tell machines their credentials,
// multicast, and what is reserved. The second are those of a machine itself and of private networks.
var (
	never = prefixes("0.0.0.0/8", "169.254.0.0/16", "168.63.129.16/32", "100.100.100.200/32", "192.0.0.192/32", "224.0.0.0/4", "240.0.0.0/4",
		"::/128", "fd20:ce::254/128", "::ffff:0:0:0/96", "fe80::/10", "fec0::/10", "fd00:ec2::254/128", "ff00::/8")
	private = prefixes("127.0.0.0/8", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "192.0.0.0/24", "198.18.0.0/15", "::1/128", "fc00::/7")
)

// Prefixes of IPv6 that a gateway translates to the IPv4 address in them: NAT64 (the last 32 bits) and 6to4 (behind the first 16). Teredo and
// IPv4-compatible addresses are in nobody's use.
var (
	nat64     = netip.MustParsePrefix("64:ff9b::/96")
	sixToFour = netip.MustParsePrefix("2002::/16")
	obsolete  = prefixes("2001::/32", "::/96", "64:ff9b:1::/48")
)

// AllowedAddress says whether a client that goes where others say may connect to an address: never to link-local ones and others at which clouds
// tell machines their credentials; to those of this machine and of private networks if allowPrivate.
func AllowedAddress(a netip.Addr, allowPrivate bool) bool {
	a = a.Unmap().WithZone("")
	in := func(list []netip.Prefix) bool {
		return slices.ContainsFunc(list, func(p netip.Prefix) bool { return p.Contains(a) })
	}
	if a.Is6() {
		b := a.As16()
		switch {
		case nat64.Contains(a):
			return AllowedAddress(netip.AddrFrom4([4]byte(b[12:])), allowPrivate)
		case sixToFour.Contains(a):
			return AllowedAddress(netip.AddrFrom4([4]byte(b[2:6])), allowPrivate)
		case in(obsolete) && !a.IsLoopback():
			return false
		}
	}
	return a.IsValid() && !in(never) && (allowPrivate || !in(private))
}

// Control is that of a net.Dialer which connects to allowed addresses alone. It sees the address that is really dialled, whatever a name
// resolved to before. Its error wraps [ErrBlocked].
func Control(allowed func(netip.Addr) bool) func(context.Context, string, string, syscall.RawConn) error {
	return func(_ context.Context, _, address string, _ syscall.RawConn) error {
		to, err := netip.ParseAddrPort(address)
		if err == nil && !allowed(to.Addr()) {
			err = fmt.Errorf("%s %w", to.Addr(), ErrBlocked)
		}
		return err
	}
}

// IsLoopback says whether a host, with or without a port, is localhost or an address of loopback.
func IsLoopback(hostport string) bool {
	host := hostport
	if h, _, err := net.SplitHostPort(hostport); err == nil {
		host = h
	}
	host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	if strings.EqualFold(host, "localhost") {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.Unmap().IsLoopback()
}
