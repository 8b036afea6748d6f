package telemetry

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.opentelemetry.io/otel/codes"

	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

func environ(variables map[string]string) (list []string) {
	for name, value := range variables {
		list = append(list, name+"="+value)
	}
	return list
}

func TestAccept_SV7_NoTracesUnlessTheyAreAskedFor(t *testing.T) {
	t.Parallel()
	const endpoint = "http://127.0.0.1:4318"
	for _, variables := range []map[string]string{
		{},
		{"OTEL_SERVICE_NAME": "court"},
		{"OTEL_EXPORTER_OTLP_ENDPOINT": endpoint, "OTEL_SDK_DISABLED": "true"},
		{"OTEL_EXPORTER_OTLP_ENDPOINT": endpoint, "OTEL_TRACES_EXPORTER": "none"},
	} {
		tracing, err := FromEnvironment(t.Context(), environ(variables), "", slog.New(slog.DiscardHandler))
		if err != nil || tracing != nil {
			t.Errorf("%v: %v, %v", variables, tracing, err)
		}
	}
}

// What a trial does for its span costs nothing where there are none.
func TestAccept_SV7_NoTracesCostNothing(t *testing.T) {
	var tracing *Tracing
	ctx, r := t.Context(), httptest.NewRequest(http.MethodGet, "/", nil)
	r.Header.Set("traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
	allocations := testing.AllocsPerRun(100, func() {
		ctx, span := tracing.Begin(tracing.Continue(ctx, tracing.Traceparent(ctx)), Consumer, "batch")
		_ = tracing.FromRequest(r)
		if span.IsRecording() {
			t.Error("there is a span")
		}
		tracing.Past(ctx, "call", time.Time{}, 0, "")
		span.SetName("x")
		span.SetStatus(codes.Error, "x")
		span.End()
	})
	if allocations != 0 {
		t.Errorf("it allocates %v times", allocations)
	}
}

func TestEnvironmentOfTheExporter(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		variables map[string]string
		url       string
		fault     string
	}{
		{variables: map[string]string{"OTEL_TRACES_EXPORTER": "otlp"}, url: "http://localhost:4318/v1/traces"},
		{variables: map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "https://c.example/otlp/"}, url: "https://c.example/otlp/v1/traces"},
		{variables: map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "https://a", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "https://b/x"}, url: "https://b/x"},
		{variables: map[string]string{"OTEL_TRACES_EXPORTER": "console"}, fault: "use otlp or none"},
		{variables: map[string]string{"OTEL_TRACES_EXPORTER": "otlp", "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}, fault: "use http/protobuf"},
		{variables: map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "me:secret@c:4318"}, fault: "OTEL_EXPORTER_OTLP_ENDPOINT: use a URL"},
		{variables: map[string]string{"OTEL_TRACES_EXPORTER": "otlp", "OTEL_EXPORTER_OTLP_HEADERS": "secret"}, fault: "use NAME=VALUE"},
	} {
		c, err := clientOf(environ(test.variables), slog.New(slog.DiscardHandler))
		switch {
		case test.fault != "":
			if err == nil || !strings.Contains(err.Error(), test.fault) || strings.Contains(err.Error(), "secret") {
				t.Errorf("%v: %v", test.variables, err)
			}
		case err != nil || c.url != test.url:
			t.Errorf("%v: %v, %v", test.variables, c, err)
		}
	}
}

// Variables that are set and not read are named in one line, without their values.
func TestAccept_SV7_VariablesThatAreNotReadAreNamed(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	log := slog.New(slog.NewTextHandler(&out, nil))
	_, err := clientOf([]string{
		"OTEL_EXPORTER_OTLP_ENDPOINT=http://c", "OTEL_SERVICE_NAME=s", "OTEL_TRACES_SAMPLER=always_off", "OTEL_BSP_MAX_QUEUE_SIZE=1", "OTEL_LOGS_EXPORTER=",
		"OTEL_EXPORTER_OTLP_COMPRESSION=secret", "OTEL_EXPORTER_OTLP_CLIENT_KEY=secret", "OTEL_TRACES_SAMPLE=secret", "HOME=/",
	}, log)
	want := `variables="[OTEL_EXPORTER_OTLP_COMPRESSION OTEL_EXPORTER_OTLP_CLIENT_KEY OTEL_TRACES_SAMPLE]"`
	if got := out.String(); err != nil || strings.Count(got, "\n") != 1 || !strings.Contains(got, want) {
		t.Errorf("%v, %s", err, got)
	}
}

// The log has one line of a row of failed exports, and one of the first that succeeds.
func TestFailedExportsAreLogged(t *testing.T) {
	t.Parallel()
	var requests atomic.Int32
	answers := []int{400, 400, 200}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(answers[requests.Add(1)-1])
	}))
	t.Cleanup(server.Close)
	var log bytes.Buffer
	c := must.Get(clientOf([]string{"OTEL_EXPORTER_OTLP_ENDPOINT=" + server.URL}, slog.New(slog.NewJSONHandler(&log, nil))))(t)
	for i, want := range []int32{1, 2, 3} {
		if err := c.UploadTraces(t.Context(), nil); err != nil || requests.Load() != want {
			t.Errorf("export %d: %d requests, %v", i, requests.Load(), err)
		}
	}
	if got := strings.Count(log.String(), "\n"); got != 2 || !strings.Contains(log.String(), "400 Bad Request") || !strings.Contains(log.String(), "can be sent again") {
		t.Errorf("the log is\n%s", &log)
	}
}

func TestAccept_SV7_LogLinesHaveTheIDsOfTheirContext(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	log := slog.New(Handler{slog.NewJSONHandler(&out, nil)}).With("a", 1)
	ctx := With(With(With(context.Background(), RequestID, slog.StringValue("r")), DocketID, slog.Int64Value(1)), DocketID, slog.Int64Value(2))
	log.InfoContext(ctx, "x", RequestID, "its own")
	var line map[string]any
	must.Do(t, json.Unmarshal(out.Bytes(), &line))
	if line["docket"] != 2.0 || line["request"] != "its own" || line["a"] != 1.0 || strings.Count(out.String(), `"docket"`) != 1 {
		t.Errorf("%s", out.String())
	}
}
