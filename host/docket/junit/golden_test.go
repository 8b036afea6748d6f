package junit_test

import (
	"os"
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
	own, err := filepath.Glob("testdata/*.xml")
	if err != nil || len(own) != 8 {
		t.Fatalf("%d reports in testdata (%v)", len(own), err)
	}
	return append(examples, own...)
}

// TestAccept_IG4_RerunsInReportsOfJUnit: what reports of Surefire, pytest-rerunfailures, pytest-repeat, gotestsum and Gradle's test-retry say of
// a test that failed and passed when it was run again is one flaky case, and what failed each time is none.
func TestAccept_IG4_RerunsInReportsOfJUnit(t *testing.T) {
	t.Parallel()
	for report, want := range map[string]string{
		"surefire-rerun.xml":  "com.example.shop.CartTest.flaky com.example.shop.CartTest.flakyError",
		"rerunfailures.xml":   "test_retry.test_flaky test_retry.test_setup",
		"repeat.xml":          "test_retry.test_flaky[1-3] test_retry.test_flaky[3-3]",
		"gotestsum-rerun.xml": "example.com/shop.TestOnce",
		"gradle-retry.xml":    "com.example.shop.CartTest.flaky()",
		"flakefinder.xml":     "",
	} {
		in, err := os.Open(filepath.Join("testdata", report))
		if err != nil {
			t.Fatal(err)
		}
		defer in.Close()
		cases, problems := readers.Cases(&junit.Reader{}, report, in)
		var flaky []string
		for i := range cases {
			if cases[i].Light.Classification == "nd001" {
				flaky = append(flaky, cases[i].ID)
			}
		}
		if got := strings.Join(flaky, " "); got != want || len(problems) > 0 || len(cases) <= len(flaky) && want != "test_retry.test_flaky[1-3] test_retry.test_flaky[3-3]" {
			t.Errorf("%s: flaky are %s, want %s (%d cases, %q)", report, got, want, len(cases), problems)
		}
	}
}
