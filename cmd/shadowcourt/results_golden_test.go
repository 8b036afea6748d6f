package main

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// decided is what must stay equal from version to version of a result, unless a change of it is the purpose of a commit.
type decided struct {
	ID    string   `json:"id"`
	Light answered `json:"light"`
	Final struct {
		Status string `json:"status"`
		answered
	} `json:"final"`
	Path []string `json:"path"`
}

// TestAccept_LB4_ResultsOfTheDocketsStay compares the results of the example dockets with those of the version before: the
// digest of all answers, verdicts, confidences and paths, with and without a profile.
func TestAccept_LB4_ResultsOfTheDocketsStay(t *testing.T) {
	t.Parallel()
	dir := repositoryRoot(t)
	var got strings.Builder
	for _, args := range []string{
		"tour.jsonl",
		"go-failures.jsonl",
		"sentiment-test.jsonl",
		"go-test-1.jsonl",
		"go-test-1.jsonl --profile examples/dockets/demo.yaml",
		"go-fit-1.jsonl --light rca",
	} {
		results := shell(t, dir, "shadowcourt try --format jsonl examples/dockets/"+args)
		digest, cases, charged := sha256.New(), 0, 0
		for line := range strings.Lines(results) {
			var d decided
			if err := json.Unmarshal([]byte(line), &d); err != nil {
				t.Fatalf("%s: %v", args, err)
			}
			cases++
			if d.Final.Classification != "" {
				charged++
			}
			fmt.Fprintf(digest, "%s %v %v %v\n", d.ID, d.Light, d.Final, d.Path)
		}
		fmt.Fprintf(&got, "%s: %d cases, %d with a label, %x\n", args, cases, charged, digest.Sum(nil)[:8])
	}
	name := filepath.Join(repositoryRoot(t), "cmd", "shadowcourt", "testdata", "results.golden")
	if *update {
		if err := os.WriteFile(name, []byte(got.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got.String()); diff != "" {
		t.Errorf("results differ from those of the version before; if that is the purpose, `make golden` (-before +now):\n%s", diff)
	}
}
