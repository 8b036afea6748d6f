package reportportal_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/host/docket/internal/testkit/readers"
	"github.com/shadowcourt/shadowcourt/host/docket/reportportal"
)

// TestAccept_IN2_AnExportOfReportPortal reads what its API gives, in pages and nested.
func TestAccept_IN2_AnExportOfReportPortal(t *testing.T) {
	t.Parallel()
	for _, export := range exports() {
		golden := filepath.Join("testdata", strings.TrimSuffix(filepath.Base(export), ".json")+".want")
		readers.Golden(t, export, golden, func() readers.Reader { return &reportportal.Reader{Truth: true} })
	}
}

// exports are the files of the examples and of testdata.
func exports() []string {
	return []string{"../../../examples/dockets/inputs/reportportal.json", "testdata/nested.json"}
}
