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

	"go.opentelemetry.io/otel/attribute"

	"github.com/shadowcourt/shadowcourt/internal/service/telemetry"
	"github.com/shadowcourt/shadowcourt/internal/service/wire"
)

type routeKey struct{}

// foundRoute notes which route a request takes, for its span: a path is what the client makes of it.
func foundRoute(ctx context.Context, pattern string) {
	if route, ok := ctx.Value(routeKey{}).(*string); ok {
		*route = pattern
	}
}

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

// observed gives each request an ID and a span, logs and measures it, and answers for a handler that panics. Queries and bodies are not
// logged.
func (s *Service) observed(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id := rand.Text()[:16]
		ctx := telemetry.With(s.config.Tracing.FromRequest(r), telemetry.RequestID, slog.StringValue(id))
		ctx, span := s.config.Tracing.Begin(ctx, telemetry.Server, area(r.URL.Path))
		route := ""
		if span.On() {
			ctx = context.WithValue(ctx, routeKey{}, &route)
		}
		r = r.WithContext(ctx) //nolint:contextcheck // it is made from the request's
		w.Header().Set("X-Request-Id", id)
		out := &written{ResponseWriter: w}
		begun := time.Now() //nolint:forbidigo // a duration for people, by the monotonic clock
		defer func() {      //nolint:contextcheck // the context is the request's
			fault := recover()
			aborted := errors.Is(asError(fault), http.ErrAbortHandler)
			if fault != nil && !aborted {
				s.config.Log.ErrorContext(r.Context(), "a handler failed", "path", r.URL.Path, "panic", fmt.Sprintf("%T", fault), "stack", string(debug.Stack()))
				if out.status == 0 {
					wire.WriteProblem(out, wire.NewProblem(http.StatusInternalServerError, wire.Internal, "the server failed; its log says why"))
				}
			}
			took := time.Since(begun)
			s.metrics.request(r.Method, area(r.URL.Path), out.status, took)
			endRequest(span, r, id, route, out.status)
			s.config.Log.InfoContext(r.Context(), "request", "method", r.Method, "path", r.URL.Path, "status", out.status, "milliseconds", took.Milliseconds())
			if aborted {
				panic(http.ErrAbortHandler)
			}
		}()
		next.ServeHTTP(out, r)
	})
}

// endRequest ends the span of a request, by the names that OpenTelemetry has for HTTP.
func endRequest(span telemetry.Span, r *http.Request, id, route string, status int) {
	if span.On() {
		method := knownMethod(r.Method)
		_, path, _ := strings.Cut(route, " ")
		if path != "" {
			span.Rename(method + " " + path)
		}
		span.Set(attribute.String("http.request.method", method), attribute.String("http.route", path),
			attribute.Int("http.response.status_code", status), attribute.String("shadowcourt.request", id))
		if status >= http.StatusInternalServerError {
			span.Fail(http.StatusText(status))
		}
	}
	span.End()
}

// knownMethod is a method that the service has, or other: few words, whatever is sent.
func knownMethod(method string) string {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodDelete:
		return method
	}
	return "other"
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
