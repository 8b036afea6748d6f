//go:build postgres && unix

package service_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/internal/service"
	"github.com/shadowcourt/shadowcourt/internal/service/store"
	"github.com/shadowcourt/shadowcourt/internal/testkit/check"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
	"github.com/shadowcourt/shadowcourt/internal/testkit/pgtest"
)

// A server takes no changes for some time, as a standby does behind a failover. Requests that change something and /readyz say so, and
// the docket that was there goes on when it takes changes again.
func TestAccept_SV2_ReadOnlyPostgres(t *testing.T) {
	server := must.Get(pgtest.Start(t.Context()))(t)
	t.Cleanup(func() { _ = server.Close() })
	url := must.Get(server.Database(t.Context()))(t)
	gate := make(chan struct{})
	p := startWith(t, "127.0.0.1:0", url, gated(gate))
	const n = 24
	if status, body := p.ask(t, http.MethodPost, "/api/v1/dockets", docketOf(n)); status != http.StatusAccepted {
		t.Fatalf("%d %s", status, body)
	}
	readOnly := func(state string) {
		t.Helper()
		must.Get(server.SQL(t.Context(), "postgres", "ALTER DATABASE test1 SET default_transaction_read_only = "+state))(t)
		if err := server.Cut(t.Context()); err != nil { // connections that are open are as they were
			t.Fatal(err)
		}
	}
	readOnly("on")
	p.until(t, "/readyz", http.StatusServiceUnavailable)
	close(gate)
	for { // the first ones may find a connection that was cut
		status, body := p.ask(t, http.MethodPost, "/api/v1/dockets", docketOf(1))
		if status == http.StatusServiceUnavailable && strings.Contains(body, store.ErrFull.Error()) {
			break
		}
		must.Equal(t, status, http.StatusServiceUnavailable, "a server that takes no changes", body)
	}
	check.Contains(t, p.until(t, "/readyz", http.StatusServiceUnavailable), store.ErrFull.Error())
	readOnly("off")
	p.until(t, "/readyz", http.StatusOK)
	p.ended(t, 1, n)
	must.Do(t, server.Stop())
	for range 2 { // the first one finds a connection that was cut
		if status, body := p.ask(t, http.MethodGet, "/api/v1/dockets", ""); status != http.StatusServiceUnavailable {
			t.Errorf("a server that is away: %d %s", status, body)
		}
	}
}

// A process that answers people and two workers on PostgreSQL: a docket is submitted, followed and corrected, and modules are swapped and rolled
// back. Results are those of one process on SQLite.
func TestAccept_SV1_SV4_FleetOnPostgres(t *testing.T) {
	server := must.Get(pgtest.Start(t.Context()))(t)
	t.Cleanup(func() { _ = server.Close() })
	url := must.Get(server.Database(t.Context()))(t)
	p := startWith(t, "127.0.0.1:0", url, func(c *service.Config) { c.Role = service.RoleAPI })
	var workers []*process
	for range 2 {
		workers = append(workers, startWith(t, "127.0.0.1:0", url, func(c *service.Config) { c.Role, c.Workers = service.RoleWorker, 1 }))
	}
	const n = 60
	try := func(p *process, docket int) string {
		t.Helper()
		if status, body := p.ask(t, http.MethodPost, "/api/v1/dockets?repository=shop", docketOf(n)); status != http.StatusAccepted {
			t.Fatalf("%d %s", status, body)
		}
		return p.ended(t, docket, n)
	}
	first := try(p, 1)
	check.Equal(t, first, try(start(t, "127.0.0.1:0"), 1), "the fleet gives other results than one process")
	tried := 0
	for _, w := range workers {
		_, metrics := w.ask(t, http.MethodGet, "/metrics", "")
		var own int
		_, rest, _ := strings.Cut(metrics, `shadowcourt_cases_total{outcome="tried"} `)
		must.Get(fmt.Sscan(rest, &own))(t)
		tried += own
	}
	check.Equal(t, tried, n, "the workers say that they tried", "of", "cases")
	wasm, _ := judge(t, "specter", "2.0.0")
	second := p.created(t, map[string]any{"modules": map[string][]byte{"specter": wasm}})
	for i, generation := range []int64{second.ID, 1} {
		p.activate(t, generation)
		if swapped := try(p, 2+i); (swapped == first) != (generation == 1) {
			t.Errorf("generation %d has the results\n%.300s\nand the first\n%.300s", generation, swapped, first)
		}
	}
	if status, body := p.ask(t, http.MethodPost, "/api/v1/corrections", `{"label":"si001","trials":["1-7"]}`); status != http.StatusCreated || !strings.Contains(body, `"revision":1`) {
		t.Errorf("%d %s", status, body)
	}
}
