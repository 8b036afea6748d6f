//go:build postgres && unix

package work_test

import (
	"testing"

	"github.com/shadowcourt/shadowcourt/host/internal/pgtest"
	"github.com/shadowcourt/shadowcourt/host/service/store"
)

func startPostgres(t testing.TB) *pgtest.Server {
	t.Helper()
	server, err := pgtest.Start(t.Context())
	must(t, err)
	t.Cleanup(func() { must(t, server.Close()) })
	return server
}

func TestAccept_SV1_ServiceOnPostgres(t *testing.T) {
	t.Parallel()
	server := startPostgres(t)
	suite(t, func(t testing.TB) *store.Store {
		t.Helper()
		url, err := server.Database(t.Context())
		must(t, err)
		return openDatabase(t, url)
	})
}

// Three workers are killed, the server is restarted as after a crash, its connections are cut and modules are swapped, all at
// once.
func TestAccept_SV2_FaultsOnPostgres(t *testing.T) {
	server := startPostgres(t)
	url, err := server.Database(t.Context())
	must(t, err)
	s := newStorm(t, url)
	s.cases = stormCases(t, 300)
	s.kills, s.swaps = min(max(s.cases/40, 3), 50), min(max(s.cases/100, 2), 100)
	s.restarts, s.cuts = min(max(s.cases/200, 1), 5), min(max(s.cases/200, 1), 10)
	s.restart = func() error {
		if err := server.Stop(); err != nil {
			return err
		}
		return server.Run(t.Context())
	}
	s.cut = func() error { return server.Cut(t.Context()) }
	s.run(t, 3)
	s.check(t)
}
