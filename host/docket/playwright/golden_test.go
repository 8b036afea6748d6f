package playwright_test

import (
	"path/filepath"
	"testing"

	"github.com/shadowcourt/shadowcourt/host/docket/internal/testkit/readers"
	"github.com/shadowcourt/shadowcourt/host/docket/playwright"
)

// TestAccept_IG4_ReportsOfPlaywright reads what Playwright wrote.
func TestAccept_IG4_ReportsOfPlaywright(t *testing.T) {
	t.Parallel()
	for _, report := range reports(t) {
		readers.Golden(t, report, report+".want", func() readers.Reader { return &playwright.Reader{} })
	}
}

func reports(t testing.TB) []string {
	t.Helper()
	names, err := filepath.Glob("testdata/*.json")
	if err != nil || len(names) != 2 {
		t.Fatalf("%d reports (%v)", len(names), err)
	}
	return names
}
