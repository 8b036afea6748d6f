package sarif_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/host/docket/internal/testkit/readers"
	"github.com/shadowcourt/shadowcourt/host/docket/sarif"
)

// TestAccept_IG4_LogsOfRealTools reads what Bandit, ESLint, gosec and Ruff wrote.
func TestAccept_IG4_LogsOfRealTools(t *testing.T) {
	t.Parallel()
	logs, err := filepath.Glob("testdata/*.sarif")
	if err != nil || len(logs) < 3 {
		t.Fatal(logs, err)
	}
	for _, log := range append(logs, "../../../examples/dockets/inputs/bandit.sarif") {
		golden := filepath.Join("testdata", strings.TrimSuffix(filepath.Base(log), ".sarif")+".want")
		readers.Golden(t, log, golden, func() readers.Reader { return &sarif.Reader{Truth: strings.Contains(log, "eslint")} })
	}
}
