package telemetry

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"strconv"
	"sync"
	"time"

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

// exportTimeout is for an export with its repetitions.
const exportTimeout = 10 * time.Second

// UploadTraces sends spans. The first failure in a row is logged, and the first success after it.
func (c *client) UploadTraces(ctx context.Context, spans []*tracepb.ResourceSpans) error {
	// TracesData is ExportTraceServiceRequest on the wire: the same field with the same number.
	body, err := proto.Marshal(&tracepb.TracesData{ResourceSpans: spans})
	if err == nil {
		ctx, cancel := context.WithTimeout(ctx, exportTimeout)
		defer cancel()
		err = c.send(ctx, body)
	}
	c.tell(ctx, err)
	return nil // the SDK would only print it
}

func (c *client) tell(ctx context.Context, err error) {
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
}

// The pauses before an export is sent again, without one that the collector asks for.
const (
	firstPause = 200 * time.Millisecond
	mostPause  = 5 * time.Second
)

// send sends a request until it is answered, while the collector says that it may be sent again.
func (c *client) send(ctx context.Context, body []byte) error {
	for attempt := 0; ; attempt++ {
		again, asked, err := c.once(ctx, body)
		if err == nil || !again {
			return err
		}
		pause := min(firstPause<<min(attempt, 10), mostPause)
		pause = max(asked, pause/2+rand.N(pause/2)) //nolint:gosec // apart from other processes, no secret
		timer := time.NewTimer(pause)
		select {
		case <-ctx.Done():
			timer.Stop()
			return err
		case <-timer.C:
		}
	}
}

// maxAnswer is how much of an answer is read, so that its connection can be used again.
const maxAnswer = 64 << 10

// once sends a request. again says that the specification wants it sent again, after the time that was asked for.
func (c *client) once(ctx context.Context, body []byte) (again bool, asked time.Duration, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, bytes.NewReader(body))
	if err != nil {
		return false, 0, err
	}
	r.Header = c.headers.Clone()
	r.Header.Set("Content-Type", "application/x-protobuf")
	answer, err := c.http.Do(r)
	if err != nil {
		return ctx.Err() == nil, 0, err
	}
	defer func() { _ = answer.Body.Close() }()
	_, _ = io.Copy(io.Discard, io.LimitReader(answer.Body, maxAnswer))
	switch answer.StatusCode {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		seconds, _ := strconv.Atoi(answer.Header.Get("Retry-After"))
		again, asked = true, time.Duration(max(seconds, 0))*time.Second
	}
	if answer.StatusCode/100 != 2 {
		err = fmt.Errorf("the collector answers %s", answer.Status)
	}
	return again, asked, err
}
