package service

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strings"
	"time"

	"github.com/shadowcourt/shadowcourt/host/service/problem"
)

type requestKey struct{}

// requestIDs puts the ID of the request into what is logged of it.
type requestIDs struct{ slog.Handler }

// Handle adds the ID.
func (h requestIDs) Handle(ctx context.Context, r slog.Record) error {
	if id, ok := ctx.Value(requestKey{}).(string); ok {
		r.AddAttrs(slog.String("request", id))
	}
	return h.Handler.Handle(ctx, r)
}

// WithAttrs keeps the handler around.
func (h requestIDs) WithAttrs(attrs []slog.Attr) slog.Handler {
	return requestIDs{h.Handler.WithAttrs(attrs)}
}

// WithGroup keeps the handler around.
func (h requestIDs) WithGroup(name string) slog.Handler { return requestIDs{h.Handler.WithGroup(name)} }

// written notes the status of an answer.
type written struct {
	http.ResponseWriter
	status int
}

func (w *written) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *written) Write(p []byte) (int, error) {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	return w.ResponseWriter.Write(p)
}

// Unwrap lets http.ResponseController reach the connection.
func (w *written) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// Flush is for those who look for it.
func (w *written) Flush() { _ = http.NewResponseController(w.ResponseWriter).Flush() }

// observed gives each request an ID, logs and measures it, and answers for a handler that panics. Queries and bodies are not logged.
func (s *Service) observed(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id := rand.Text()[:16]
		r = r.WithContext(context.WithValue(r.Context(), requestKey{}, id))
		w.Header().Set("X-Request-Id", id)
		out := &written{ResponseWriter: w}
		begun := time.Now() //nolint:forbidigo // a duration for people, by the monotonic clock
		defer func() {      //nolint:contextcheck // the context is the request's
			fault := recover()
			aborted := errors.Is(asError(fault), http.ErrAbortHandler)
			if fault != nil && !aborted {
				s.config.Log.ErrorContext(r.Context(), "a handler failed", "path", r.URL.Path, "panic", fmt.Sprintf("%T", fault), "stack", string(debug.Stack()))
				if out.status == 0 {
					problem.Write(out, problem.New(http.StatusInternalServerError, problem.Internal, "the server failed; its log says why"))
				}
			}
			took := time.Since(begun)
			s.metrics.request(r.Method, area(r.URL.Path), out.status, took)
			s.config.Log.InfoContext(r.Context(), "request", "method", r.Method, "path", r.URL.Path, "status", out.status, "milliseconds", took.Milliseconds())
			if aborted {
				panic(http.ErrAbortHandler)
			}
		}()
		next.ServeHTTP(out, r)
	})
}

func asError(fault any) error {
	err, _ := fault.(error)
	return err
}

// area is what a path is counted under: few words, whatever is asked for.
func area(path string) string {
	switch {
	case strings.HasPrefix(path, "/api/"):
		return "api"
	case path == "/healthz" || path == "/readyz" || path == "/metrics":
		return "health"
	}
	return "pages"
}
