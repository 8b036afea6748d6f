package run

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/codec"
	"github.com/shadowcourt/shadowcourt/host/casebook"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/repo"
)

func failed(id, line string) abi.Case {
	return abi.Case{ID: id, Subject: "the cache is full", Documents: []abi.Document{{Name: "log", Text: line}}}
}

const refusal = "dial tcp 10.0.0.7:5432: the database refuses the connection of worker seven at 12:31:07\nretry later, gave up after all attempts\n"

func TestWhatWasRememberedIsRecalled(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	b, err := casebook.Open(ctx, filepath.Join(t.TempDir(), "book"), casebook.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = b.Close() }()
	old := failed("old", refusal)
	entry := Entry(&old, nil, &trial.Final{Status: trial.Affirmed, Classification: "si001", Confidence: 0.9})
	if broken := Entry(&old, nil, &trial.Final{Status: trial.Mistrial}); entry.Verdict == nil || broken.Verdict != nil {
		t.Error("a verdict is remembered, and a mistrial is not")
	}
	if _, err := b.Remember(ctx, casebook.Run{Entries: []casebook.Entry{entry}}); err != nil {
		t.Fatal(err)
	}
	s, err := b.Snapshot(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	book := Casebook(s)
	again := failed("new", "dial tcp 10.9.9.9:5432: the database refuses the connection of worker seven at 03:00:00\nretry later, gave up after all attempts\n")
	cases, err := book.Recall(ctx, &again, 5)
	if err != nil || len(cases) != 1 || cases[0].Similarity != 1 || cases[0].Confidence != 0.9 || cases[0].Classification != "si001" {
		t.Fatalf("%+v (%v)", cases, err)
	}
	message := codec.AppendPriorCases(nil, &abi.PriorCases{Cases: cases})
	if _, err := codec.DecodePriorCases(message, len(message)); err != nil {
		t.Error(err)
	}
	if cases, err := book.Correlate(ctx, refusal, 5); err != nil || len(cases) != 1 || cases[0].CaseID != "old" {
		t.Errorf("%+v (%v)", cases, err)
	}
	if book.Digest() == "" {
		t.Error("no digest")
	}
}

func TestATruthIsRememberedInFull(t *testing.T) {
	t.Parallel()
	b, err := casebook.Open(t.Context(), filepath.Join(t.TempDir(), "book"), casebook.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = b.Close() }()
	old := failed("old", refusal)
	truth := &trial.Truth{Classification: "pb001"}
	for _, final := range []trial.Final{{Status: trial.Affirmed, Classification: "si001", Confidence: 0.6}, {Status: trial.Mistrial}} {
		entry := Entry(&old, truth, &final)
		if v := entry.Verdict; v == nil || v.Origin != casebook.Confirmed || v.Classification != "pb001" || v.Confidence != final.Confidence {
			t.Errorf("%+v", entry.Verdict)
		}
		if _, err := b.Remember(t.Context(), casebook.Run{Entries: []casebook.Entry{entry}}); err != nil {
			t.Fatal(err)
		}
	}
	s, err := b.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	cases, err := Casebook(s).Recall(t.Context(), &old, 5)
	if err != nil || len(cases) != 1 || !cases[0].Confirmed || cases[0].Confidence != 0.95 || cases[0].Classification != "pb001" {
		t.Errorf("%+v (%v)", cases, err)
	}
}

func TestFramesOfTheSource(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := "package cache\n\nfunc Full() bool {\n\treturn true\n}\n"
	for name, text := range map[string]string{"cache.go": file, "cache_test.go": "package cache\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	tree, err := repo.OpenSource(t.Context(), dir, "")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tree.Close() }()
	s, err := Source(t.Context(), tree)
	if err != nil || s.Digest() == "" {
		t.Fatal(err)
	}
	answer, err := s.Source(t.Context(), abi.SourceQuery{Text: "panic\n\tcache.go:4\n    cache_test.go:1: bad\n", Limit: 1, Lines: 1})
	if err != nil || !answer.Known || len(answer.Frames) != 1 {
		t.Fatalf("%+v (%v)", answer, err)
	}
	want := abi.SourceFrame{Path: "cache.go", Line: 4, Kind: abi.SourceProduct, Function: "Full", Excerpt: "func Full() bool {\n\treturn true\n}"}
	if answer.Frames[0] != want {
		t.Errorf("%+v", answer.Frames[0])
	}
}
