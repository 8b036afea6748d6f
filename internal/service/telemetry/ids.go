package telemetry

import (
	"context"
	"log/slog"

	"go.opentelemetry.io/otel/trace"
)

// The names of ids in log lines.
const (
	RequestID = "request"
	DocketID  = "docket"
	TrialID   = "trial"
	traceID   = "trace_id"
)

type idsKey struct{}

// With gives a context whose log lines have an id: see [Handler]. One id of each name is kept.
func With(ctx context.Context, name string, id slog.Value) context.Context {
	before, _ := ctx.Value(idsKey{}).([]slog.Attr)
	ids := make([]slog.Attr, 0, len(before)+1)
	for _, a := range before {
		if a.Key != name {
			ids = append(ids, a)
		}
	}
	return context.WithValue(ctx, idsKey{}, append(ids, slog.Attr{Key: name, Value: id}))
}

// Handler adds the ids of contexts to log lines, and that of the trace that they belong to.
type Handler struct{ slog.Handler }

// Handle adds the ids that the line does not have itself.
func (h Handler) Handle(ctx context.Context, r slog.Record) error {
	ids, _ := ctx.Value(idsKey{}).([]slog.Attr)
	for _, id := range ids {
		if !has(&r, id.Key) {
			r.AddAttrs(id)
		}
	}
	if span := trace.SpanContextFromContext(ctx); span.IsValid() {
		r.AddAttrs(slog.String(traceID, span.TraceID().String()))
	}
	return h.Handler.Handle(ctx, r)
}

func has(r *slog.Record, key string) (found bool) {
	r.Attrs(func(a slog.Attr) bool {
		found = a.Key == key
		return !found
	})
	return found
}

// WithAttrs keeps the handler around.
func (h Handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return Handler{h.Handler.WithAttrs(attrs)}
}

// WithGroup keeps the handler around.
func (h Handler) WithGroup(name string) slog.Handler { return Handler{h.Handler.WithGroup(name)} }
