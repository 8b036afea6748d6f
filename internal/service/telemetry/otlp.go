package telemetry

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"time"

	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// client sends spans by OTLP over HTTP. The SDK's (otlptracehttp) links gRPC for the type of one message, see "Clients and
// parsers of our own" in RATIONALE.md.
type client struct {
	url     string
	headers http.Header
	http    *http.Client
	log     *slog.Logger

	mu      sync.Mutex
	failing bool // the last export failed, which was logged
}

// Start does nothing: a connection is made with the first spans.
func (c *client) Start(context.Context) error { return nil }

// Stop closes connections that nobody uses.
func (c *client) Stop(context.Context) error {
	c.http.CloseIdleConnections()
	return nil
}

// exportTimeout is for an export.
const exportTimeout = 10 * time.Second

// UploadTraces sends spans. The first failure in a row is logged, and the first success after it.
func (c *client) UploadTraces(ctx context.Context, spans []*tracepb.ResourceSpans) error {
	// TracesData is ExportTraceServiceRequest on the wire: the same field with the same number.
	body, err := proto.Marshal(&tracepb.TracesData{ResourceSpans: spans})
	if err == nil {
		err = c.send(ctx, body)
	}
	c.mu.Lock()
	was := c.failing
	c.failing = err != nil
	c.mu.Unlock()
	switch {
	case err != nil && !was:
		c.log.WarnContext(ctx, "traces can't be sent", "error", err)
	case err == nil && was:
		c.log.WarnContext(ctx, "traces can be sent again")
	}
	return nil // the SDK would only print it
}

// maxAnswer is how much of an answer is read, so that its connection can be used again.
const maxAnswer = 64 << 10

func (c *client) send(ctx context.Context, body []byte) error {
	ctx, cancel := context.WithTimeout(ctx, exportTimeout)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	r.Header = c.headers.Clone()
	r.Header.Set("Content-Type", "application/x-protobuf")
	answer, err := c.http.Do(r)
	if err != nil {
		return err
	}
	defer func() { _ = answer.Body.Close() }()
	_, _ = io.Copy(io.Discard, io.LimitReader(answer.Body, maxAnswer))
	if answer.StatusCode/100 != 2 {
		return fmt.Errorf("the collector answers %s", answer.Status)
	}
	return nil
}

// FromEnvironment gives the tracing that the variables of OpenTelemetry in an environment ask for: nil where none names an exporter or its
// endpoint, so that nothing is sent to a default one. A value that this program can't honour is an error, and variables that it does not
// read are logged once.
func FromEnvironment(ctx context.Context, environ []string, version string, log *slog.Logger) (*Tracing, error) {
	client, err := clientOf(environ, log)
	if client == nil || err != nil {
		return nil, err
	}
	exporter, err := otlptrace.New(ctx, client)
	if err != nil {
		return nil, err
	}
	return New(ctx, exporter, version)
}

// known are the variables that are read here or, from SERVICE_NAME on, by the SDK.
var known = regexp.MustCompile(`^OTEL_(SDK_DISABLED|TRACES_EXPORTER|EXPORTER_OTLP_(TRACES_)?(ENDPOINT|HEADERS|PROTOCOL)|` +
	`SERVICE_NAME|RESOURCE_ATTRIBUTES|TRACES_SAMPLER(_ARG)?|BSP_(SCHEDULE_DELAY|EXPORT_TIMEOUT|MAX_QUEUE_SIZE|MAX_EXPORT_BATCH_SIZE)|` +
	`(SPAN_)?ATTRIBUTE_(COUNT|VALUE_LENGTH|VALUE_DEPTH)_LIMIT|SPAN_(EVENT|LINK)_COUNT_LIMIT|(EVENT|LINK)_ATTRIBUTE_COUNT_LIMIT|GO_X_.*)$`)

// clientOf gives what sends spans; nil where nothing asks for them.
func clientOf(environ []string, log *slog.Logger) (*client, error) {
	set, ignored := map[string]string{}, []string{}
	for _, variable := range environ {
		name, value, _ := strings.Cut(variable, "=")
		if value = strings.TrimSpace(value); value == "" || !strings.HasPrefix(name, "OTEL_") {
			continue
		}
		if set[name] = value; !known.MatchString(name) {
			ignored = append(ignored, name)
		}
	}
	if strings.EqualFold(set["OTEL_SDK_DISABLED"], "true") {
		return nil, nil //nolint:nilnil // no traces
	}
	if len(ignored) > 0 {
		log.Warn("variables of OpenTelemetry are not read", "variables", ignored)
	}
	// The variable for traces comes before that for all signals.
	otlp := func(name string) (variable, value string) {
		if variable = "OTEL_EXPORTER_OTLP_TRACES_" + name; set[variable] == "" {
			variable = "OTEL_EXPORTER_OTLP_" + name
		}
		return variable, set[variable]
	}
	variable, endpoint := otlp("ENDPOINT")
	switch exporter := set["OTEL_TRACES_EXPORTER"]; {
	case exporter == "none" || exporter == "" && endpoint == "":
		return nil, nil //nolint:nilnil // no traces
	case exporter != "" && exporter != "otlp":
		return nil, fmt.Errorf("OTEL_TRACES_EXPORTER: %q is not supported: use otlp or none", exporter)
	}
	if variable, value := otlp("PROTOCOL"); value != "" && value != "http/protobuf" {
		return nil, fmt.Errorf("%s: %q is not supported: use http/protobuf", variable, value)
	}
	endpoint = cmp.Or(endpoint, "http://localhost:4318") // the exporter's default, by its specification
	u, err := url.Parse(endpoint)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, fmt.Errorf("%s: use a URL such as http://localhost:4318", variable) // without the value: it may have a password
	}
	if !strings.Contains(variable, "_TRACES_") {
		u = u.JoinPath("/v1/traces")
	}
	variable, list := otlp("HEADERS")
	headers, err := headersOf(list)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", variable, err)
	}
	// A collector that sends requests elsewhere is not followed: the headers may have its key.
	own := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	return &client{url: u.String(), headers: headers, http: own, log: log}, nil
}

// headersOf reads name=value,... with percent signs for other characters.
func headersOf(list string) (http.Header, error) {
	headers := http.Header{}
	for part := range strings.SplitSeq(list, ",") {
		if strings.TrimSpace(part) == "" {
			continue
		}
		name, value, ok := strings.Cut(part, "=")
		value, err := url.PathUnescape(strings.TrimSpace(value))
		if name = strings.TrimSpace(name); !ok || name == "" || err != nil {
			return nil, errors.New("use NAME=VALUE, and commas between several") // without the value: it may be a key
		}
		headers.Set(name, value)
	}
	return headers, nil
}
