package work

import (
	"context"
	"log/slog"

	"go.opentelemetry.io/otel/attribute"

	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/record"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/service/store"
	"github.com/shadowcourt/shadowcourt/internal/service/telemetry"
)

// tryCase tries a case, in the trace of the request that submitted its docket. Its log line and its span have the id of the trial, and no text of
// the case: neither has the reason of a fault, which may quote one. The spans of its calls are below its own.
func (w *Worker) tryCase(ctx context.Context, c *store.Claim, court *host.Host) (*trial.Trial, *record.Trial, error) {
	id := c.ID().String()
	ctx = telemetry.With(ctx, telemetry.DocketID, slog.Int64Value(c.Docket.ID))
	ctx = telemetry.With(ctx, telemetry.TrialID, slog.StringValue(id))
	ctx, span := w.config.Tracing.Begin(w.config.Tracing.Continue(ctx, c.Docket.Traceparent), telemetry.Consumer, "trial")
	defer span.End()
	if span.On() {
		span.Set(attribute.String("shadowcourt.trial", id), attribute.Int64("shadowcourt.docket", c.Docket.ID), attribute.Int64("shadowcourt.generation", c.Generation))
		court = court.WithObserver(func(r host.CallRecord) { w.traceCall(ctx, &r) })
	}
	began := w.config.Now()
	t, recorded, err := court.TryRecorded(ctx, c.Case)
	switch {
	case ctx.Err() != nil:
		span.Fail("cancelled")
	case err != nil:
		span.Fail("the case can't be tried")
		w.config.Logger.WarnContext(ctx, "a case can't be tried; the fault of its trial says why")
	default:
		r := &t.Result
		if span.On() {
			span.Set(attribute.String("shadowcourt.status", string(r.Final.Status)), attribute.Int("shadowcourt.rounds", r.Rounds), attribute.Int("shadowcourt.remands", r.Remands))
		}
		w.config.Logger.InfoContext(ctx, "a case was tried", "status", r.Final.Status, "cause", r.Final.Cause, "generation", c.Generation,
			"milliseconds", w.config.Now().Sub(began).Milliseconds())
	}
	return t, recorded, err
}

// traceCall adds the span of a call that has just ended.
func (w *Worker) traceCall(ctx context.Context, r *host.CallRecord) {
	failure := ""
	if r.Err != nil {
		failure = "the call failed"
	}
	attributes := []attribute.KeyValue{
		attribute.String("shadowcourt.module", r.Module), attribute.String("shadowcourt.module.digest", r.Digest), attribute.String("shadowcourt.call", string(r.Call)),
		attribute.Int("shadowcourt.input.bytes", len(r.Input)), attribute.Int("shadowcourt.output.bytes", len(r.Output)),
	}
	if r.Node != "" {
		attributes = append(attributes, attribute.String("shadowcourt.node", r.Node))
	}
	if r.Persona != "" {
		attributes = append(attributes, attribute.String("shadowcourt.persona", r.Persona))
	}
	w.config.Tracing.Past(ctx, "call "+r.Module, w.config.Now(), r.Elapsed, failure, attributes...)
}
