package junit_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/host/docket/internal/testkit/readers"
	"github.com/shadowcourt/shadowcourt/host/docket/junit"
)

// TestAccept_IN1_ReportsOfFourProducers reads what surefire, pytest, jest and gotestsum wrote.
func TestAccept_IN1_ReportsOfFourProducers(t *testing.T) {
	t.Parallel()
	for _, report := range reports(t) {
		golden := filepath.Join("testdata", strings.TrimSuffix(filepath.Base(report), ".xml")+".want")
		readers.Golden(t, report, golden, func() readers.Reader { return &junit.Reader{} })
	}
}

// reports are the files of the examples and of testdata.
func reports(t testing.TB) []string {
	t.Helper()
	examples, err := filepath.Glob("../../../examples/dockets/inputs/*.xml")
	if err != nil || len(examples) < 4 {
		t.Fatalf("%d reports in the examples (%v)", len(examples), err)
	}
	return append(examples, "testdata/gotestsum-rerun.xml")
}
