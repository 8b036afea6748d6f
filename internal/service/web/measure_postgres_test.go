//go:build postgres && unix

package web_test

import (
	"testing"

	"github.com/shadowcourt/shadowcourt/internal/testkit/pgtest"
)

// TestMeasurePagesPostgres is TestMeasurePagesSQLite; the processor time is without that of the server.
func TestMeasurePagesPostgres(t *testing.T) {
	n := measured(t)
	server, err := pgtest.Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	url, err := server.Database(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	measurePages(t, n, newService(t, serviceOptions{database: url}))
}
