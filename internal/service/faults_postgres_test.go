//go:build postgres && unix

package service_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/internal/service/store"
	"github.com/shadowcourt/shadowcourt/internal/testkit/pgtest"
)

// A server takes no changes for some time, as a standby does behind a failover. Requests that change something and /readyz say so, and
// the docket that was there goes on when it takes changes again.
func TestAccept_SV2_ReadOnlyPostgres(t *testing.T) {
	server, err := pgtest.Start(t.Context())
	must(t, err)
	t.Cleanup(func() { _ = server.Close() })
	url, err := server.Database(t.Context())
	must(t, err)
	gate := make(chan struct{})
	p := startWith(t, "127.0.0.1:0", url, gated(gate))
	const n = 24
	if status, body := p.ask(t, http.MethodPost, "/api/v1/dockets", docketOf(n)); status != http.StatusAccepted {
		t.Fatalf("%d %s", status, body)
	}
	readOnly := func(state string) {
		t.Helper()
		_, err := server.SQL(t.Context(), "postgres", "ALTER DATABASE test1 SET default_transaction_read_only = "+state)
		must(t, err)
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
		if status == http.StatusAccepted {
			t.Fatal("a server that takes no changes took a docket")
		}
	}
	if body := p.until(t, "/readyz", http.StatusServiceUnavailable); !strings.Contains(body, store.ErrFull.Error()) {
		t.Error(body)
	}
	readOnly("off")
	p.until(t, "/readyz", http.StatusOK)
	p.ended(t, 1, n)
}
