package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// TestAccept_RH4_FitCannotReadTheReportingHalf: no file of that half of lab/histories gives a profile, neither as it is saved nor
// decompressed, nor beside a docket that can be fitted on, to which it adds no case.
func TestAccept_RH4_FitCannotReadTheReportingHalf(t *testing.T) {
	t.Parallel()
	root := repositoryRoot(t)
	files, err := filepath.Glob(filepath.Join(root, "lab", "histories", "saved", "reporting", "*.jsonl.zst"))
	if err != nil || len(files) == 0 {
		t.Fatalf("nothing is saved of the reporting half: %v", err)
	}
	decoder, err := zstd.NewReader(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer decoder.Close()
	var lines []byte
	for _, file := range files {
		compressed, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if lines, err = decoder.DecodeAll(compressed, lines); err != nil {
			t.Fatal(err)
		}
	}
	dir := t.TempDir()
	all := filepath.Join(dir, "reporting.jsonl")
	if err := os.WriteFile(all, lines, 0o600); err != nil {
		t.Fatal(err)
	}
	profile := filepath.Join(dir, "p.yaml")
	docket := example(t, "go-failures.jsonl")
	fit := func(args ...string) (output, fitted string) {
		s := execute(t, "", nil, append([]string{"shadowcourt", "fit", "--output", profile}, args...)...)
		return s.all(), textOf(t, profile)
	}
	for _, args := range [][]string{{all}, files, {"--outcomes", all, all}} {
		if output, fitted := fit(args...); fitted != "" {
			t.Errorf("fit %s wrote a profile:\n%s", args, output)
		}
	}
	_, want := fit(docket)
	if want == "" {
		t.Fatal("no profile of the docket alone")
	}
	if output, got := fit(docket, all); got != want {
		t.Errorf("the profile differs beside the reporting half:\n%s", output)
	}
}
