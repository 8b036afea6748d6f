package service_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/internal/service"
	"github.com/shadowcourt/shadowcourt/internal/service/work"
)

// gated has hosts be opened when the gate is: until then trials wait that have begun.
func gated(gate <-chan struct{}) func(*service.Config) {
	return func(c *service.Config) {
		c.Open = func(ctx context.Context, o *work.Opening, observe func(host.CallRecord)) (*host.Host, error) {
			select {
			case <-gate:
				return openHost(ctx, o, observe)
			case <-ctx.Done():
				return nil, context.Cause(ctx)
			}
		}
	}
}

// until asks for a path until it has a status.
func (p *process) until(t *testing.T, path string, want int) string {
	t.Helper()
	for {
		status, body := p.ask(t, http.MethodGet, path, "")
		if status == want {
			return body
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// ended follows a docket to its end, and says whether each of its cases has a result.
func (p *process) ended(t *testing.T, docket, cases int) {
	t.Helper()
	path := fmt.Sprintf("/api/v1/dockets/%d/", docket)
	if _, events := p.ask(t, http.MethodGet, path+"events", ""); !strings.Contains(events, "event: done\n") {
		t.Errorf("docket %d: %s", docket, events)
	}
	if _, results := p.ask(t, http.MethodGet, path+"results", ""); strings.Count(results, "\n") != cases {
		t.Errorf("docket %d has %d results of %d cases", docket, strings.Count(results, "\n"), cases)
	}
}

// The clock jumps by an hour to and fro while cases are tried, modules are swapped and dockets come: everything ends as ever.
func TestAccept_SV2_ClockJumps(t *testing.T) {
	t.Parallel()
	var offset atomic.Int64
	gate := make(chan struct{})
	p := startWith(t, "127.0.0.1:0", t.TempDir()+"/test.db", func(c *service.Config) {
		gated(gate)(c)
		c.Now = func() time.Time { return time.Now().Add(time.Duration(offset.Load())) }
	})
	const n = 30
	submit := func() {
		t.Helper()
		if status, body := p.ask(t, http.MethodPost, "/api/v1/dockets?name=build", docketOf(n)); status != http.StatusAccepted {
			t.Fatalf("%d %s", status, body)
		}
	}
	submit()
	offset.Store(int64(time.Hour)) // while cases of it wait
	submit()
	close(gate)
	p.ended(t, 1, n)
	p.ended(t, 2, n)
	for i, jump := range []time.Duration{-time.Hour, 0, -2 * time.Hour, time.Hour} {
		offset.Store(int64(jump))
		submit()
		p.ended(t, 3+i, n)
		if body := p.until(t, "/readyz", http.StatusOK); body != "ready\n" {
			t.Error(body)
		}
		if status, body := p.ask(t, http.MethodPost, "/api/v1/generations/1/activate", ""); status != http.StatusOK {
			t.Errorf("a swap behind a jump to %s: %d %s", jump, status, body)
		}
	}
}
