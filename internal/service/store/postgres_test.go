//go:build postgres && unix

package store_test

import (
	"errors"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/shadowcourt/shadowcourt/internal/service/store"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
	"github.com/shadowcourt/shadowcourt/internal/testkit/pgtest"
)

func TestAccept_SV1_StoreOnPostgres(t *testing.T) {
	t.Parallel()
	server := must.Get(pgtest.Start(t.Context()))(t)
	t.Cleanup(func() { must.Do(t, server.Close()) })
	suite(t, func(t *testing.T) *store.Store {
		t.Helper()
		url := must.Get(server.Database(t.Context()))(t)
		return openAt(t, url)
	})
	t.Run("retain", func(t *testing.T) {
		url := must.Get(server.Database(t.Context()))(t)
		c := &clock{}
		retains(t, openWith(t, url, c), c)
	})
	t.Run("migrate at once", func(t *testing.T) {
		url := must.Get(server.Database(t.Context()))(t)
		migratesAtOnce(t, url)
	})
}

func TestAccept_HX8_ASavedPostgresDatabase(t *testing.T) {
	t.Parallel()
	server := must.Get(pgtest.Start(t.Context()))(t)
	t.Cleanup(func() { must.Do(t, server.Close()) })
	url := must.Get(server.Database(t.Context()))(t)
	db := must.Get(pgconn.Connect(t.Context(), url))(t)
	var err error
	_, err = db.Exec(t.Context(), string(saved(t, "postgres.sql.gz"))).ReadAll()
	must.Do(t, errors.Join(err, db.Close(t.Context())))
	keepsSaved(t, url, "79f78a20966db765f5c35c4fc308e2a9080ef15d722b510e88322d1223cd7d5a")
}
