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
