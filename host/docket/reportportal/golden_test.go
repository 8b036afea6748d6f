package reportportal_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/docket/reportportal"
	"github.com/shadowcourt/shadowcourt/host/trial"
)

var update = flag.Bool("update", false, "write what the tests see to testdata")

// TestAccept_IN2_AnExportOfReportPortal reads what its API gives, in pages and nested.
func TestAccept_IN2_AnExportOfReportPortal(t *testing.T) {
	t.Parallel()
	for _, export := range exports() {
		name := strings.TrimSuffix(filepath.Base(export), ".json")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := render(t, export)
			golden := filepath.Join("testdata", name+".want")
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

// exports are the files of the examples and of testdata.
func exports() []string {
	return []string{"../../../examples/dockets/inputs/reportportal.json", "testdata/nested.json"}
}

// render writes the cases of an export as text that a person can review.
func render(t *testing.T, export string) string {
	t.Helper()
	in, err := os.Open(export)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	var b strings.Builder
	reader := reportportal.Reader{Truth: true}
	for entry, err := range reader.Read(filepath.Base(export), in) {
		if err != nil {
			fmt.Fprintf(&b, "error %v\n\n", err)
			continue
		}
		c := entry.Case
		fmt.Fprintf(&b, "case %s (%s:%d)\n  group %s: %s\n  labels %v, truth %v\n", c.ID, entry.Source, entry.Line, c.Group, c.Subject, c.Labels, truth(entry.Truth))
		fmt.Fprintf(&b, "  light %s %.2f %s\n", c.Light.Classification, c.Light.Confidence, c.Light.Reasoning)
		for _, e := range c.Evidence {
			writeEvidence(&b, e)
		}
		for _, d := range c.Documents {
			fmt.Fprintf(&b, "  document %s\n", d.Name)
			writeLines(&b, d.Text)
		}
		b.WriteString("\n")
	}
	return b.String()
}

func truth(t *trial.Truth) string {
	if t == nil {
		return "unknown"
	}
	return t.Classification
}

func writeEvidence(b *strings.Builder, e abi.Evidence) {
	fmt.Fprintf(b, "  %s %.2f %s %q\n", e.SourceRef, e.RelevanceConfidence, e.Element, e.Supports)
	writeLines(b, e.Content)
}

func writeLines(b *strings.Builder, text string) {
	for line := range strings.SplitSeq(text, "\n") {
		fmt.Fprintf(b, "    | %s\n", line)
	}
}
