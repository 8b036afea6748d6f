//go:build postgres && unix

package store_test

import (
	"testing"

	"github.com/shadowcourt/shadowcourt/internal/service/store"
	"github.com/shadowcourt/shadowcourt/internal/testkit/pgtest"
)

func TestAccept_SV1_StoreOnPostgres(t *testing.T) {
	t.Parallel()
	server, err := pgtest.Start(t.Context())
	must(t, err)
	t.Cleanup(func() { must(t, server.Close()) })
	suite(t, func(t *testing.T) *store.Store {
		t.Helper()
		url, err := server.Database(t.Context())
		must(t, err)
		return openAt(t, url)
	})
	t.Run("retain", func(t *testing.T) {
		url, err := server.Database(t.Context())
		must(t, err)
		c := &clock{}
		retains(t, openWith(t, url, c), c)
	})
	t.Run("migrate at once", func(t *testing.T) {
		url, err := server.Database(t.Context())
		must(t, err)
		migratesAtOnce(t, url)
	})
}
