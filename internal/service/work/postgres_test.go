//go:build postgres && unix

package work_test

import (
	"sync"
	"testing"

	"github.com/shadowcourt/shadowcourt/internal/service/store"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
	"github.com/shadowcourt/shadowcourt/internal/testkit/pgtest"
)

func startPostgres(t testing.TB) *pgtest.Server {
	t.Helper()
	server := must.Get(pgtest.Start(t.Context()))(t)
	t.Cleanup(func() { must.Do(t, server.Close()) })
	return server
}

// onPostgres gives stores in databases of their own.
func onPostgres(t testing.TB) func(testing.TB) *store.Store {
	t.Helper()
	server := startPostgres(t)
	var one sync.Mutex
	return func(t testing.TB) *store.Store {
		t.Helper()
		one.Lock()
		defer one.Unlock()
		url := must.Get(server.Database(t.Context()))(t)
		return openDatabase(t, url)
	}
}

func TestAccept_SV1_ServiceOnPostgres(t *testing.T) { onEach(t, onPostgres(t), results1) }

func TestAccept_SV2_RecordsVerifyOnPostgres(t *testing.T) { onEach(t, onPostgres(t), records2) }

func TestAccept_SV3_OnceAndFairOnPostgres(t *testing.T) { onEach(t, onPostgres(t), queue3) }

func TestAccept_IG7_WebhooksOnPostgres(t *testing.T) { onEach(t, onPostgres(t), hooks7) }

func TestAccept_IG7_KilledSendersOnPostgres(t *testing.T) {
	database := must.Get(startPostgres(t).Database(t.Context()))(t)
	killedSenders(t, database)
}

func TestAccept_SV4_SwapsOnPostgres(t *testing.T) { onEach(t, onPostgres(t), swaps4) }

// The casebook in PostgreSQL gives the answers of the one in SQLite, at every revision.
func TestAccept_SV8_CasebookOnPostgres(t *testing.T) {
	lite, postgres := casebooks(t, openStore(t)), casebooks(t, onPostgres(t)(t))
	for i := range lite {
		equalLines(t, postgres[i], lite[i])
	}
}

// Three workers are killed, the server is restarted as after a crash, its connections are cut, and modules are swapped, rolled back and tried as
// a canary, all at once.
func TestAccept_SV2_HX7_FaultsOnPostgres(t *testing.T) {
	server := startPostgres(t)
	url := must.Get(server.Database(t.Context()))(t)
	s := newStorm(t, url)
	s.cases = stormCases(t, 2000)
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

// TestAccept_FZ10_ClocksOnPostgres: three workers, whose clocks differ by up to two hours and jump. What one of them does is seen by the
// clocks of all.
func TestAccept_FZ10_ClocksOnPostgres(t *testing.T) {
	url := must.Get(startPostgres(t).Database(t.Context()))(t)
	s := newStorm(t, url)
	s.cases = stormCases(t, 300)
	s.jumps, s.kills, s.swaps = min(s.cases/10, 100), min(max(s.cases/100, 1), 20), min(max(s.cases/100, 1), 20)
	s.run(t, 3)
	s.check(t)
	if s.jumped < s.jumps/2 {
		t.Errorf("clocks jumped %d times", s.jumped)
	}
}
