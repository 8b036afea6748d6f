package gotest_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/docket/gotest"
)

var update = flag.Bool("update", false, "write what the tests see to testdata")

func TestGolden(t *testing.T) {
	t.Parallel()
	var streams []string
	for _, pattern := range []string{"testdata/*.gotest.json", "testdata/streams/*.gotest.json"} {
		found, err := filepath.Glob(pattern)
		if err != nil || len(found) == 0 {
			t.Fatal("no stream matches "+pattern, err)
		}
		streams = append(streams, found...)
	}
	for _, stream := range streams {
		t.Run(filepath.Base(stream), func(t *testing.T) {
			t.Parallel()
			got := render(t, stream)
			golden := strings.TrimSuffix(stream, ".gotest.json") + ".want"
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

// render writes the cases of a stream as text that a person can review.
func render(t *testing.T, stream string) string {
	t.Helper()
	in, err := os.Open(stream)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	var b strings.Builder
	var reader gotest.Reader
	for entry, err := range reader.Read(filepath.Base(stream), in) {
		if err != nil {
			fmt.Fprintf(&b, "error %v\n\n", err)
			continue
		}
		c := entry.Case
		fmt.Fprintf(&b, "case %s (%s:%d)\n  %s\n", c.ID, entry.Source, entry.Line, c.Subject)
		fmt.Fprintf(&b, "  light %s %.2f %s\n", c.Light.Classification, c.Light.Confidence, c.Light.Reasoning)
		for _, e := range c.Evidence {
			writeEvidence(&b, e)
		}
		fmt.Fprintf(&b, "  log of %d bytes\n\n", len(c.Documents[0].Text))
	}
	return b.String()
}

func writeEvidence(b *strings.Builder, e abi.Evidence) {
	fmt.Fprintf(b, "  %s %.2f %s %q\n", e.SourceRef, e.RelevanceConfidence, e.Element, e.Supports)
	for line := range strings.SplitSeq(e.Content, "\n") {
		fmt.Fprintf(b, "    | %s\n", line)
	}
}
