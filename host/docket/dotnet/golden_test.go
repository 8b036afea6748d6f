package dotnet_test

import (
	"path/filepath"
	"testing"

	"github.com/shadowcourt/shadowcourt/host/docket/dotnet"
	"github.com/shadowcourt/shadowcourt/host/docket/internal/testkit/readers"
)

// TestAccept_IG4_ReportsOfDotNet reads reports that tools wrote, and reports after the schema of vstest.
func TestAccept_IG4_ReportsOfDotNet(t *testing.T) {
	t.Parallel()
	for _, report := range reports(t) {
		readers.Golden(t, report, report+".want", func() readers.Reader { return &dotnet.Reader{} })
	}
}

func reports(t testing.TB) []string {
	t.Helper()
	names, err := filepath.Glob("testdata/*.trx")
	if err != nil || len(names) != 4 {
		t.Fatalf("%d reports (%v)", len(names), err)
	}
	return names
}
