package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/shadowcourt/shadowcourt/host/lab/internal/study"
	"github.com/shadowcourt/shadowcourt/internal/measure"
	"github.com/shadowcourt/shadowcourt/pipelines"
)

// TestTheShippedProfileIsLearned: the learning half gives the shipped profile to the byte, as `make alibi-profile` does.
func TestTheShippedProfileIsLearned(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := docket([]string{"-saved", "saved", "-out", dir}, io.Discard); err != nil {
		t.Fatal(err)
	}
	entries, err := study.Read(filepath.Join(dir, "learning.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	results, err := os.Open(filepath.Join(dir, "results.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = results.Close() }()
	config := measure.FitConfig{Name: "alibi", Seed: 1, NoText: true, Workers: 1}
	if config.Results, err = measure.ReadResults(results); err != nil {
		t.Fatal(err)
	}
	learned, err := measure.Fit(t.Context(), config.Results.AddTo(entries), config)
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if err := learned.WriteYAML(&text); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(shipped(t, "alibi.yaml")), text.String()); diff != "" {
		t.Errorf("`make alibi-profile` writes pipelines/profiles/alibi.yaml again (-shipped +learned):\n%s", diff)
	}
}

func shipped(t *testing.T, name string) []byte {
	t.Helper()
	text, err := pipelines.FS.ReadFile("profiles/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
