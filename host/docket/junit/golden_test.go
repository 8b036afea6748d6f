package junit_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/docket/junit"
)

var update = flag.Bool("update", false, "write what the tests see to testdata")

// TestAccept_IN1_ReportsOfFourProducers reads what surefire, pytest, jest and gotestsum wrote.
func TestAccept_IN1_ReportsOfFourProducers(t *testing.T) {
	t.Parallel()
	for _, report := range reports(t) {
		producer := strings.TrimSuffix(filepath.Base(report), ".xml")
		t.Run(producer, func(t *testing.T) {
			t.Parallel()
			got := render(t, report)
			golden := filepath.Join("testdata", producer+".want")
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", golden, diff)
			}
		})
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

// render writes the cases of a report as text that a person can review.
func render(t *testing.T, report string) string {
	t.Helper()
	in, err := os.Open(report)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	var b strings.Builder
	var reader junit.Reader
	for entry, err := range reader.Read(filepath.Base(report), in) {
		if err != nil {
			fmt.Fprintf(&b, "error %v\n\n", err)
			continue
		}
		c := entry.Case
		fmt.Fprintf(&b, "case %s (%s:%d)\n  group %s: %s\n", c.ID, entry.Source, entry.Line, c.Group, c.Subject)
		fmt.Fprintf(&b, "  light %s %.2f %s\n", c.Light.Classification, c.Light.Confidence, c.Light.Reasoning)
		for _, e := range c.Evidence {
			writeEvidence(&b, e)
		}
		for _, d := range c.Documents {
			fmt.Fprintf(&b, "  document %s of %d bytes\n", d.Name, len(d.Text))
		}
		b.WriteString("\n")
	}
	return b.String()
}

func writeEvidence(b *strings.Builder, e abi.Evidence) {
	fmt.Fprintf(b, "  %s %.2f %s %q\n", e.SourceRef, e.RelevanceConfidence, e.Element, e.Supports)
	for line := range strings.SplitSeq(e.Content, "\n") {
		fmt.Fprintf(b, "    | %s\n", line)
	}
}
