package auth

import (
	"errors"
	"io"
	"net/http"
	"time"
)

// Limits of a server, beside those of single routes.
const (
	// HeaderBytes bounds the headers of a request, HeaderTime the time until they are read.
	HeaderBytes = 32 << 10
	HeaderTime  = 10 * time.Second
	// IdleTime is how long a connection without a request stays open.
	IdleTime = 2 * time.Minute
	// BodyBytes and RequestTime bound ordinary requests: those that carry neither dockets nor modules, and answer with no stream.
	BodyBytes   = 1 << 20
	RequestTime = 30 * time.Second
	// StallTime is how long a stream may stand still, in either direction.
	StallTime = 30 * time.Second
)

// Limit goes around ordinary requests: see Bound.
func Limit(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		Bound(w, r)
		next.ServeHTTP(w, r)
	})
}

// Bound bounds the body of an ordinary request, and the time to read it and to write the answer.
func Bound(w http.ResponseWriter, r *http.Request) {
	setDeadlines(w, RequestTime)
	r.Body = http.MaxBytesReader(w, r.Body, BodyBytes)
}

func setDeadlines(w http.ResponseWriter, d time.Duration) {
	c := http.NewResponseController(w)
	at := time.Now().Add(d) //nolint:forbidigo // deadlines of connections are by the kernel's clock
	// A writer without deadlines, as tests have, has no connection that could stand still.
	_ = c.SetReadDeadline(at)
	_ = c.SetWriteDeadline(at)
}

// Streaming bounds a body that is read over a longer time: to max bytes, and each read to StallTime. A read beyond max gives a
// *http.MaxBytesError.
func Streaming(w http.ResponseWriter, body io.ReadCloser, maxBytes int64) io.ReadCloser {
	return &stalling{ReadCloser: http.MaxBytesReader(w, body, maxBytes), w: w}
}

type stalling struct {
	io.ReadCloser
	w http.ResponseWriter
}

func (s *stalling) Read(p []byte) (int, error) {
	setDeadlines(s.w, StallTime)
	n, err := s.ReadCloser.Read(p)
	if err != nil {
		noReadDeadline(s.w)
	}
	return n, err
}

// noReadDeadline lets a request whose body is read go on: net/http watches the connection, and a deadline that passes would end the
// request's context.
func noReadDeadline(w http.ResponseWriter) {
	_ = http.NewResponseController(w).SetReadDeadline(time.Time{})
}

// Writing bounds each write of a stream to StallTime, and flushes it: for answers that are written over a longer time.
func Writing(w http.ResponseWriter) io.Writer {
	noReadDeadline(w)
	return &flushing{w, http.NewResponseController(w)}
}

type flushing struct {
	w http.ResponseWriter
	c *http.ResponseController
}

func (f *flushing) Write(p []byte) (int, error) {
	if err := f.c.SetWriteDeadline(time.Now().Add(StallTime)); err != nil && !errors.Is(err, http.ErrNotSupported) { //nolint:forbidigo // by the kernel's clock
		return 0, err
	}
	n, err := f.w.Write(p)
	if err != nil {
		return n, err
	}
	if err := f.c.Flush(); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return n, err
	}
	return n, nil
}
