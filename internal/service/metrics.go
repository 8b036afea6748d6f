package service

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net/http"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/service/store"
	"github.com/shadowcourt/shadowcourt/internal/service/telemetry"
	"github.com/shadowcourt/shadowcourt/internal/service/wire"
	"github.com/shadowcourt/shadowcourt/internal/service/work"
)

// metrics are those of a process. Labels are names of modules, statuses and codes: nothing that is in a docket.
type metrics struct {
	registry *prometheus.Registry
	log      *slog.Logger

	trials, mistrials, artifacts, calls, failures, rejected, cases, experiments, tokens, webhooks *prometheus.CounterVec

	fuel      prometheus.Counter
	callTime  *prometheus.HistogramVec
	trialTime prometheus.Histogram
	requests  *prometheus.HistogramVec
}

func newMetrics(s *store.Store, log *slog.Logger) *metrics {
	name := func(n, help string) prometheus.Opts {
		return prometheus.Opts{Namespace: "shadowcourt", Name: n, Help: help}
	}
	counter := func(n, help string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts(name(n, help)))
	}
	counters := func(n, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts(name(n, help)), labels)
	}
	times := func(n, help string, from float64) prometheus.HistogramOpts {
		return prometheus.HistogramOpts{Namespace: "shadowcourt", Name: n, Help: help, Buckets: prometheus.ExponentialBuckets(from, 2, 16)}
	}
	m := &metrics{
		registry:    prometheus.NewRegistry(),
		log:         log,
		trials:      counters("trials_total", "Trials that were committed, by how they ended.", "status"),
		mistrials:   counters("mistrials_total", "Trials that were committed as mistrials, by their cause.", "cause"),
		artifacts:   counters("artifacts_rejected_total", "Responses of modules that the contract rejects, by the persona that was played.", "persona"),
		experiments: counters("experiments_total", "Experiments that trials had run, by their outcome.", "outcome"),
		tokens:      counters("model_tokens_total", "Tokens of language models that trials took, as providers count them.", "model", "direction"),
		calls:       counters("module_calls_total", "Calls of modules.", "module"),
		failures:    counters("module_failures_total", "Calls of modules that failed: traps, exceeded limits.", "module"),
		rejected:    counters("requests_rejected_total", "Requests that were rejected, by the code of the problem.", "code"),
		cases:       counters("cases_total", "Cases by what came of them: tried, known from an earlier trial, or a fault.", "outcome"),
		webhooks:    counters("webhook_attempts_total", "Attempts to send to webhooks, by what came of them: delivered, pending (it is sent again) or dead.", "webhook", "outcome"),
		fuel:        counter("fuel_total", "Fuel that trials burned."),
		callTime:    prometheus.NewHistogramVec(times("module_call_seconds", "How long calls of modules take.", 0.0001), []string{"module"}),
		trialTime:   prometheus.NewHistogram(times("trial_seconds", "How long trials take.", 0.001)),
		requests:    prometheus.NewHistogramVec(times("request_seconds", "How long requests take.", 0.001), []string{"method", "area", "status"}),
	}
	m.registry.MustRegister(m.trials, m.mistrials, m.artifacts, m.experiments, m.tokens, m.calls, m.failures, m.rejected, m.cases, m.webhooks, m.fuel, m.callTime, m.trialTime, m.requests,
		measured(name("queue_cases", "Cases that wait or are tried."), s.Waiting), measured(name("generation", "Generation of modules that is in force."), s.CurrentGeneration),
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	// What is known beforehand is there from the start, at 0: a rate that begins with the first fault would miss it.
	for _, status := range trial.Statuses() {
		m.trials.WithLabelValues(string(status))
	}
	for _, outcome := range []string{"tried", "known", "fault"} {
		m.cases.WithLabelValues(outcome)
	}
	return m
}

func (m *metrics) handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{ErrorLog: slog.NewLogLogger(m.log.Handler(), slog.LevelWarn), ErrorHandling: promhttp.ContinueOnError})
}

func (m *metrics) reject(code string) { m.rejected.WithLabelValues(code).Inc() }

func (m *metrics) done(t work.Done) {
	r := t.Result
	switch {
	case t.Known:
		m.cases.WithLabelValues("known").Inc()
		return
	case t.Fault:
		m.cases.WithLabelValues("fault").Inc()
		return
	}
	m.cases.WithLabelValues("tried").Inc()
	m.trials.WithLabelValues(string(r.Final.Status)).Inc()
	m.trialTime.Observe(t.Took.Seconds())
	if r.Fuel != nil {
		m.fuel.Add(float64(*r.Fuel))
	}
	if r.Final.Status == trial.Mistrial {
		m.mistrials.WithLabelValues(string(r.Final.Cause)).Inc()
	}
	if r.Error != nil && r.Error.Code == trial.CauseInvalidArtifact {
		m.artifacts.WithLabelValues(r.Error.Persona).Inc()
	}
	for i := range r.Fallbacks {
		if r.Fallbacks[i].Cause == trial.CauseInvalidArtifact {
			m.artifacts.WithLabelValues(r.Fallbacks[i].Persona).Inc()
		}
	}
	for i := range r.Experiments {
		m.experiments.WithLabelValues(string(r.Experiments[i].Outcome)).Inc()
	}
	for i := range r.Completions {
		c := &r.Completions[i]
		m.tokens.WithLabelValues(c.Model, "in").Add(float64(c.InputTokens))
		m.tokens.WithLabelValues(c.Model, "out").Add(float64(c.OutputTokens))
	}
}

func (m *metrics) call(r host.CallRecord) {
	m.calls.WithLabelValues(r.Module).Inc()
	m.callTime.WithLabelValues(r.Module).Observe(r.Elapsed.Seconds())
	if r.Err != nil {
		m.failures.WithLabelValues(r.Module).Inc()
	}
}

func (m *metrics) request(method, area string, status int, took time.Duration) {
	m.requests.WithLabelValues(knownMethod(method), area, strconv.Itoa(status)).Observe(took.Seconds())
}

// measured is a gauge of the database, the same for all processes. It is read with the metrics; NaN where it can't be.
func measured(opts prometheus.Opts, read func(context.Context) (int64, error)) prometheus.Collector {
	return prometheus.NewGaugeFunc(prometheus.GaugeOpts(opts), func() float64 {
		const most = 5 * time.Second
		ctx, cancel := context.WithTimeout(context.Background(), most)
		defer cancel()
		n, err := read(ctx)
		if err != nil {
			return math.NaN()
		}
		return float64(n)
	})
}

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
	w.status = cmp.Or(w.status, status)
	w.ResponseWriter.WriteHeader(status)
}

func (w *written) Write(p []byte) (int, error) {
	w.status = cmp.Or(w.status, http.StatusOK)
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
		if span.IsRecording() {
			ctx = context.WithValue(ctx, routeKey{}, &route)
		}
		r = r.WithContext(ctx) //nolint:contextcheck // it is made from the request's
		w.Header().Set("X-Request-Id", id)
		out := &written{ResponseWriter: w}
		begun := time.Now() //nolint:forbidigo // a duration for people, by the monotonic clock
		defer func() {      //nolint:contextcheck // the context is the request's
			fault := recover()
			err, _ := fault.(error)
			aborted := errors.Is(err, http.ErrAbortHandler)
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
func endRequest(span trace.Span, r *http.Request, id, route string, status int) {
	if span.IsRecording() {
		method := knownMethod(r.Method)
		_, path, _ := strings.Cut(route, " ")
		if path != "" {
			span.SetName(method + " " + path)
		}
		span.SetAttributes(attribute.String("http.request.method", method), attribute.String("http.route", path),
			attribute.Int("http.response.status_code", status), attribute.String("shadowcourt.request", id))
		if status >= http.StatusInternalServerError {
			span.SetStatus(codes.Error, http.StatusText(status))
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
