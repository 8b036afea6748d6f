package service_test

import (
	"bytes"
	"encoding/hex"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/shadowcourt/shadowcourt/internal/service"
	"github.com/shadowcourt/shadowcourt/internal/service/telemetry"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

// collector receives spans by OTLP over HTTP.
type collector struct {
	url string

	mu       sync.Mutex
	bodies   [][]byte
	headers  []http.Header
	services map[string]bool
	spans    []*tracepb.Span
}

func newCollector(t *testing.T) *collector {
	t.Helper()
	c := &collector{services: map[string]bool{}}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, err := io.ReadAll(r.Body)
		var sent tracepb.TracesData
		if err != nil || r.URL.Path != "/v1/traces" || r.Header.Get("Content-Type") != "application/x-protobuf" || proto.Unmarshal(text, &sent) != nil {
			http.Error(w, "no spans", http.StatusBadRequest)
			return
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		c.bodies, c.headers = append(c.bodies, text), append(c.headers, r.Header.Clone())
		for _, resource := range sent.GetResourceSpans() {
			for _, a := range resource.GetResource().GetAttributes() {
				if a.GetKey() == "service.name" {
					c.services[a.GetValue().GetStringValue()] = true
				}
			}
			for _, scope := range resource.GetScopeSpans() {
				c.spans = append(c.spans, scope.GetSpans()...)
			}
		}
	}))
	t.Cleanup(server.Close)
	c.url = server.URL
	return c
}

// tracing sends spans to the collector, by the variables of OpenTelemetry.
func (c *collector) tracing(t *testing.T, more ...string) *telemetry.Tracing {
	t.Helper()
	return must.Get(telemetry.FromEnvironment(t.Context(), append(more, "OTEL_EXPORTER_OTLP_ENDPOINT="+c.url), "test", slog.New(slog.NewTextHandler(t.Output(), nil))))(t)
}

// attributes of a span, as texts.
func attributes(s *tracepb.Span) map[string]string {
	list := map[string]string{}
	for _, a := range s.GetAttributes() {
		list[a.GetKey()] = strings.Trim(a.GetValue().String()[strings.Index(a.GetValue().String(), ":")+1:], `"`)
	}
	return list
}

// One trace has the request of a client, the docket that it submits, its batches, their trials and each call of a module, though other
// goroutines, or processes, work on the batches. No span has a text of a docket, or a token.
func TestAccept_SV7_OneTraceFromTheRequestToTheCalls(t *testing.T) {
	t.Parallel()
	c := newCollector(t)
	tracing := c.tracing(t, "OTEL_EXPORTER_OTLP_HEADERS=x-key=of%20the%20collector")
	p := startWith(t, "127.0.0.1:0", t.TempDir()+"/test.db", func(config *service.Config) { config.Tracing = tracing })
	const client, parent = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
	const secret = "sct_" + planted
	r := must.Get(http.NewRequestWithContext(t.Context(), http.MethodPost, p.url+"/api/v1/dockets?name="+planted+"&repository="+planted, strings.NewReader(docketOf(3))))(t)
	r.Header.Set("Traceparent", "00-"+client+"-"+parent+"-01")
	answer, err := p.do(r)
	must.Do(t, err)
	_ = answer.Body.Close()
	p.ask(t, "GET", "/api/v1/dockets/1/results?wait=true", "")
	p.ask(t, "GET", "/trials/1-2", "")
	p.ask(t, "GET", "/"+planted+"?q="+planted, "")
	r = must.Get(http.NewRequestWithContext(t.Context(), http.MethodGet, p.url+"/api/v1/me", nil))(t)
	r.Header.Set("Authorization", "Bearer "+secret)
	answer, err = p.do(r)
	must.Do(t, err)
	_ = answer.Body.Close()
	p.stop()
	must.Do(t, tracing.Close(t.Context()))

	byID, counts := map[string]*tracepb.Span{}, map[string]int{}
	for _, s := range c.spans {
		byID[string(s.GetSpanId())] = s
	}
	want := map[string]string{"docket": "POST /api/v1/dockets", "trial": "docket", "call": "trial"}
	trials := map[string]bool{}
	for _, s := range c.spans {
		if hex.EncodeToString(s.GetTraceId()) != client {
			continue
		}
		kind, _, _ := strings.Cut(s.GetName(), " ")
		counts[kind]++
		if kind == "POST" {
			if got := hex.EncodeToString(s.GetParentSpanId()); got != parent || attributes(s)["http.response.status_code"] != "202" {
				t.Errorf("the request is below %s: %v", got, s)
			}
			continue
		}
		above := byID[string(s.GetParentSpanId())]
		if above == nil || above.GetName() != want[kind] {
			t.Errorf("%s is below %v", s.GetName(), above.GetName())
		}
		if s.GetStartTimeUnixNano() > s.GetEndTimeUnixNano() || s.GetStartTimeUnixNano() == 0 {
			t.Errorf("%s ends before it begins", s.GetName())
		}
		if kind == "trial" {
			trials[attributes(s)["shadowcourt.trial"]] = true
		}
		if kind == "call" && (attributes(s)["shadowcourt.module"] == "" || !strings.HasPrefix(attributes(s)["shadowcourt.module.digest"], "sha256:")) {
			t.Errorf("a call has the attributes %v", attributes(s))
		}
	}
	if counts["POST"] != 1 || counts["docket"] != 1 || counts["trial"] != 3 || counts["call"] < 9 || !trials["1-1"] || !trials["1-2"] || !trials["1-3"] {
		t.Errorf("the trace has %v, the trials %v", counts, trials)
	}
	var names []string
	for _, s := range c.spans {
		names = append(names, s.GetName())
	}
	if all := strings.Join(names, "; "); !strings.Contains(all, "GET /trials/{id}") || !strings.Contains(all, "GET /api/v1/dockets/{docket}/results") {
		t.Errorf("the spans are %s", all)
	}
	for i, body := range c.bodies {
		if bytes.Contains(body, []byte(planted)) || bytes.Contains(body, []byte("sct_")) {
			t.Error("a span has what was submitted, or a token")
		}
		if h := c.headers[i]; h.Get("X-Key") != "of the collector" {
			t.Errorf("the collector gets the headers %v", h)
		}
	}
	if !c.services["shadowcourt"] {
		t.Errorf("the spans are of %v", c.services)
	}
	if log := p.logs.String(); !strings.Contains(log, `"trace_id":"`+client+`"`) || strings.Contains(log, secret) {
		t.Error("the log lacks the trace, or has a token")
	}
}
