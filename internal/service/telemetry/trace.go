// Package telemetry has what the log lines and the traces of the docket service have in common: the ids of what a context is about, and
// spans that go to a collector over OTLP/HTTP as the standard environment variables of OpenTelemetry say.
//
// Neither has texts of dockets: ids, names of modules, statuses and counts alone.
package telemetry

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// Tracing makes spans. A nil one makes none, at no cost.
type Tracing struct {
	provider *sdktrace.TracerProvider
	tracer   trace.Tracer
}

// scope names this program's spans.
const scope = "github.com/shadowcourt/shadowcourt"

// New gives a tracing that sends spans to an exporter in the background. The environment variables OTEL_SERVICE_NAME,
// OTEL_RESOURCE_ATTRIBUTES, OTEL_TRACES_SAMPLER, OTEL_BSP_* and OTEL_SPAN_* change it, as OpenTelemetry documents them.
func New(ctx context.Context, exporter sdktrace.SpanExporter, version string) (*Tracing, error) {
	about, err := resource.New(ctx, resource.WithTelemetrySDK(),
		resource.WithAttributes(attribute.String("service.name", "shadowcourt"), attribute.String("service.version", version)), resource.WithFromEnv())
	if err != nil {
		return nil, err
	}
	provider := sdktrace.NewTracerProvider(sdktrace.WithBatcher(exporter), sdktrace.WithResource(about))
	return &Tracing{provider: provider, tracer: provider.Tracer(scope, trace.WithInstrumentationVersion(version))}, nil
}

// Close sends the spans that wait, until the context ends.
func (t *Tracing) Close(ctx context.Context) error {
	if t == nil {
		return nil
	}
	return t.provider.Shutdown(ctx)
}

// Kinds of spans.
const (
	Internal = trace.SpanKindInternal
	Server   = trace.SpanKindServer   // answers a request
	Producer = trace.SpanKindProducer // puts something into the queue
	Consumer = trace.SpanKindConsumer // works on something of the queue
)

// Begin begins a span below that of the context; without a tracing it is one that keeps nothing.
func (t *Tracing) Begin(ctx context.Context, kind trace.SpanKind, name string) (context.Context, trace.Span) {
	if t == nil {
		return ctx, trace.SpanFromContext(ctx)
	}
	return t.tracer.Start(ctx, name, trace.WithSpanKind(kind))
}

// Past adds a span that has ended just now below that of the context.
func (t *Tracing) Past(ctx context.Context, name string, end time.Time, took time.Duration, failure string, attributes ...attribute.KeyValue) {
	if t == nil {
		return
	}
	_, span := t.tracer.Start(ctx, name, trace.WithTimestamp(end.Add(-took)), trace.WithAttributes(attributes...))
	if failure != "" {
		span.SetStatus(codes.Error, failure)
	}
	span.End(trace.WithTimestamp(end))
}

// traceparent is the header of the W3C recommendation "Trace Context".
const traceparent = "traceparent"

// Traceparent gives the span of a context as text, for whoever continues its trace elsewhere; empty for none.
func (t *Tracing) Traceparent(ctx context.Context) string {
	if t == nil {
		return ""
	}
	carrier := propagation.MapCarrier{}
	propagation.TraceContext{}.Inject(ctx, carrier)
	return carrier.Get(traceparent)
}

// Continue gives a context below the span that a text of [Tracing.Traceparent] names. A text that is none changes nothing.
func (t *Tracing) Continue(ctx context.Context, parent string) context.Context {
	if t == nil || parent == "" {
		return ctx
	}
	return propagation.TraceContext{}.Extract(ctx, propagation.MapCarrier{traceparent: parent})
}

// FromRequest gives a context below the span that the client of a request names in its header.
func (t *Tracing) FromRequest(r *http.Request) context.Context {
	if t == nil {
		return r.Context()
	}
	return t.Continue(r.Context(), r.Header.Get(traceparent))
}

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
