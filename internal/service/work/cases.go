package work

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"

	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/record"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/run"
	"github.com/shadowcourt/shadowcourt/internal/service/store"
	"github.com/shadowcourt/shadowcourt/internal/service/telemetry"
)

const (
	// firstPause and mostPause bound how long a job that failed waits.
	firstPause = 100 * time.Millisecond
	mostPause  = 10 * time.Second
	// mostHeld is the longest pause before a database that could not be written is tried again.
	mostHeld = 2 * time.Second
	// slotPause is how long a case waits for those of other queues. Then it goes behind the others of its own: the time of a job is limited.
	slotPause = 5 * time.Second
	// longestCase is the most that one attempt takes, and what one takes at once that may run experiments.
	longestCase = 50 * time.Minute
)

// caseWorker tries cases.
type caseWorker struct {
	river.WorkerDefaults[store.CaseArgs]
	worker *Worker
}

// Timeout is how long an attempt may take, and after what time a case whose worker was killed is tried by another one. Each attempt has twice the
// time of the one before: few trials take long, and none is given up for that.
func (c caseWorker) Timeout(job *river.Job[store.CaseArgs]) time.Duration {
	first := c.worker.config.CaseTime
	return max(first, min(first<<min(max(job.Attempt-1, 0), 10), longestCase))
}

// Work tries a case, unless that was done already.
func (c caseWorker) Work(ctx context.Context, job *river.Job[store.CaseArgs]) error {
	config := &c.worker.config
	claim, err := config.Store.BeginCase(ctx, job.Args)
	if errors.Is(err, store.ErrEnded) {
		return nil
	}
	if err != nil {
		return err
	}
	var done Done
	var o *store.Outcome
	if job.Attempt > store.MaxAttempts {
		o, done.Fault = &store.Outcome{Fault: claim.Untried()}, true
	} else if o, err = c.worker.try(ctx, claim, &done); err != nil {
		return err
	}
	// While the database can't be written it holds the trial, and goes on when there is room again.
	err = config.Store.KeepTrying(ctx, firstPause, mostHeld, func() error { return config.Store.CompleteCase(ctx, claim, c.worker.id, o) })
	if errors.Is(err, store.ErrEnded) {
		return nil // what is kept is another's
	}
	if err == nil && config.OnCase != nil {
		config.OnCase(done)
	}
	return err
}

// NextRetry is when a job that failed is tried again, by River's clock.
func (w *Worker) NextRetry(job *rivertype.JobRow) time.Time {
	return time.Now().Add(min(firstPause<<min(max(job.Attempt-1, 0), 10), mostPause)) //nolint:forbidigo // as River
}

// HandleError tells of a job that failed and is tried again.
func (w *Worker) HandleError(ctx context.Context, job *rivertype.JobRow, err error) *river.ErrorHandlerResult {
	if !errors.Is(err, store.ErrFull) && !errors.Is(err, context.Canceled) { // of the first the store tells, and the other is no fault
		w.config.Logger.WarnContext(ctx, "a job is tried again", "kind", job.Kind, "job", job.ID, "attempt", job.Attempt, "error", err)
	}
	return nil
}

// HandlePanic is HandleError for a panic.
func (w *Worker) HandlePanic(ctx context.Context, job *rivertype.JobRow, fault any, trace string) *river.ErrorHandlerResult {
	w.config.Logger.ErrorContext(ctx, "a job panicked, and is tried again", "kind", job.Kind, "job", job.ID, "attempt", job.Attempt, "panic", fmt.Sprintf("%T", fault), "stack", trace)
	return nil
}

// try tries a case that has no verdict yet.
func (w *Worker) try(ctx context.Context, c *store.Claim, done *Done) (*store.Outcome, error) {
	h, release, err := w.fleet.get(ctx, w.fleet.key(c))
	if err != nil {
		return nil, fmt.Errorf("open generation %d for %s: %w", c.Generation, c.Docket.Format, err)
	}
	defer release()
	seen := bookKey{c.Docket.Casebook, c.Docket.Repository}
	if seen.revision == 0 {
		seen.repository = "" // nothing is known of any: one entry for all, so that they don't drive casebooks off the shelf
	}
	book, returnBook, err := w.books.get(ctx, seen)
	if err != nil {
		return nil, err
	}
	defer returnBook()
	court := h.host
	if book != nil {
		court = court.WithCasebook(run.Casebook(book))
	}
	config, err := h.configuration(ctx, court, seen)
	if err != nil {
		return nil, err
	}
	o := &store.Outcome{Configuration: config.digest}
	if done.Known, err = w.config.Store.Known(ctx, c, config.digest); err != nil || done.Known {
		return o, err
	}
	busy := time.NewTimer(slotPause)
	defer busy.Stop()
	select {
	case w.slots <- struct{}{}:
		defer func() { <-w.slots }()
	case <-busy.C:
		return nil, river.JobSnooze(0)
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	began := w.config.Now()
	t, recorded, err := w.tryCase(ctx, c, court)
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil:
		o.Fault, done.Fault = err.Error(), true
		return o, nil
	}
	t.Result.Timings = nil // results depend on the case alone
	done.Took = w.config.Now().Sub(began)
	done.Result = &t.Result
	o.Verdict = &store.NewVerdict{Digest: c.Digest, Trial: t, Took: done.Took}
	if w.config.Key != nil && recorded != nil { // else the host records nothing
		o.Record, err = w.record(court, config.parts, recorded)
	}
	return o, err
}

// record signs the record of a trial.
func (w *Worker) record(court *host.Host, parts []record.Part, t *record.Trial) ([]byte, error) {
	header, err := court.RecordHeader(parts)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	writer, err := record.Begin(&out, w.config.Key, header)
	if err == nil {
		err = writer.Append(t)
	}
	if err == nil {
		err = writer.Finish()
	}
	return out.Bytes(), err
}

// configured is a host with the casebook of a revision, and the digest of what its verdicts depend on.
type configured struct {
	digest string
	parts  []record.Part
}

// configuration gives what verdicts of a host depend on. It is the same for all cases that see the same of the casebook.
func (h *fleetHost) configuration(ctx context.Context, court *host.Host, seen bookKey) (*configured, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if c := h.configs[seen]; c != nil {
		return c, nil
	}
	parts, err := court.Configuration(ctx)
	if err != nil {
		return nil, err
	}
	if h.docket != 0 { // the docket's budget decides what is run: others must not take over what a used-up one left
		parts = append(slices.Clip(parts), record.Part{Name: "docket", Digest: record.DigestOf(fmt.Appendf(nil, "docket %d", h.docket))})
	}
	text, err := json.Marshal(parts)
	if err != nil {
		return nil, err
	}
	c := &configured{digest: record.DigestOf(text).Hex(), parts: parts}
	h.configs[seen] = c
	return c, nil
}

// tryCase tries a case, in the trace of the request that submitted its docket. Its log line and its span have the id of the trial, and no text of
// the case: neither has the reason of a fault, which may quote one. The spans of its calls are below its own.
func (w *Worker) tryCase(ctx context.Context, c *store.Claim, court *host.Host) (*trial.Trial, *record.Trial, error) {
	id := c.ID().String()
	ctx = telemetry.With(ctx, telemetry.DocketID, slog.Int64Value(c.Docket.ID))
	ctx = telemetry.With(ctx, telemetry.TrialID, slog.StringValue(id))
	ctx, span := w.config.Tracing.Begin(w.config.Tracing.Continue(ctx, c.Docket.Traceparent), telemetry.Consumer, "trial")
	defer span.End()
	if span.IsRecording() {
		span.SetAttributes(attribute.String("shadowcourt.trial", id), attribute.Int64("shadowcourt.docket", c.Docket.ID), attribute.Int64("shadowcourt.generation", c.Generation))
		court = court.WithObserver(func(r host.CallRecord) { w.traceCall(ctx, &r) })
	}
	began := w.config.Now()
	t, recorded, err := court.TryRecorded(ctx, c.Case)
	switch {
	case ctx.Err() != nil:
		span.SetStatus(codes.Error, "cancelled")
	case err != nil:
		span.SetStatus(codes.Error, "the case can't be tried")
		w.config.Logger.WarnContext(ctx, "a case can't be tried; the fault of its trial says why")
	default:
		r := &t.Result
		if span.IsRecording() {
			span.SetAttributes(attribute.String("shadowcourt.status", string(r.Final.Status)), attribute.Int("shadowcourt.rounds", r.Rounds), attribute.Int("shadowcourt.remands", r.Remands))
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
