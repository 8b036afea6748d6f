package run

import (
	"context"
	"errors"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/codec"
	"github.com/shadowcourt/shadowcourt/host/casebook"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/testkit/check"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
	"github.com/shadowcourt/shadowcourt/repo"
)

func failure(log string) *abi.Case {
	return &abi.Case{Labels: []string{"pb001", "si001"}, Documents: []abi.Document{{Name: "log", Text: log}}}
}

func TestAccept_EX8_WhatFailedInTheSameWay(t *testing.T) {
	t.Parallel()
	panicked := func(message, frame string) string {
		return "=== RUN   TestX\npanic: " + message + " [recovered, repanicked]\n\ngoroutine 7 [running]:\ntesting.tRunner.func1.2({0x1, 0x2})\n" +
			"\t/usr/local/go/src/testing/testing.go:1632 +0x230\nexample.com/shop/cart." + frame + "(0xc000012345)\n\t/src/cart/cart.go:17 +0x1d\n"
	}
	compiler := func(path, message string) string {
		return "# example.com/shop\n" + path + ":12:5: " + message + "\nFAIL\texample.com/shop [build failed]\n"
	}
	for name, logs := range map[string][2]string{
		"one panic in two tests": {panicked("nil map at 0xc0001", "(*Cart).Add"), panicked("nil map at 0xc0777", "(*Cart).Add")},
		"a dead network":         {"    a_test.go:9: Get \"https://a.example\": dial tcp: lookup a.example on 10.0.0.2:53: no such host\n", "    b_test.go:77: lookup mirror.example: no such host\n"},
		"a missing temporary folder": {
			"    a_test.go:9: TempDir: mkdir /tmp/TestA12/001: no such file or directory\n", "    z_test.go:1: open /tmp/cache/z.db: no such file or directory\n",
		},
		"a package that does not build": {compiler("./price.go", "undefined: Total"), compiler("../cart/price.go", "undefined: Total")},
		"a missing program":             {"x_test.go:3: exec: \"git\": executable file not found in $PATH", "y_test.go:8: running git: exec: \"git\": executable file not found in $PATH"},
	} {
		if a, b := GroupKey(failure(logs[0])), GroupKey(failure(logs[1])); a == "" || a != b {
			t.Errorf("%s: keys %q and %q", name, a, b)
		}
	}
	for name, logs := range map[string][2]string{
		"panics of two messages":            {panicked("nil map", "Add"), panicked("index out of range", "Add")},
		"panics of two functions":           {panicked("nil map", "Add"), panicked("nil map", "Remove")},
		"two programs":                      {`exec: "git": executable file not found in $PATH`, `exec: "hg": executable file not found in $PATH`},
		"two servers":                       {"dial tcp 10.0.0.7:80: connect: connection refused", "dial tcp db.example:5432: connect: connection refused"},
		"two errors of the compiler":        {compiler("./a.go", "undefined: A"), compiler("./a.go", "undefined: B")},
		"a network and an absent folder":    {"lookup a.example: no such host", "mkdir /tmp/x: no such file or directory"},
		"values that differ belong nowhere": {"    a_test.go:9: got 1, want 2", "    a_test.go:9: got 1, want 2"},
	} {
		if a, b := GroupKey(failure(logs[0])), GroupKey(failure(logs[1])); a == b && a != "" {
			t.Errorf("%s: both have the key %q", name, a)
		}
	}
	labelled := failure("lookup a.example: no such host")
	labelled.Labels = []string{"other", "labels"}
	if GroupKey(labelled) == GroupKey(failure("lookup a.example: no such host")) {
		t.Error("cases with other labels are of the same group")
	}
}

func TestEntriesOfOneGroupAreOneEntry(t *testing.T) {
	t.Parallel()
	alone := errors.New("the end of what can be read") // what waits comes before it
	read := func(yield func(docket.Entry, error) bool) {
		for i, log := range []string{"no such host", "got 1, want 2", "no such host", "", "got 1, want 2", "no such host", "no such host"} {
			e := docket.Entry{Case: *failure(log)}
			e.Case.ID = strconv.Itoa(i)
			var err error
			if log == "" {
				err = alone
			}
			if !yield(e, err) {
				return
			}
		}
	}
	var got []string
	for e, err := range Grouped(iter.Seq2[docket.Entry, error](read)) {
		ids := []string{e.Case.ID}
		for _, m := range e.Members {
			ids = append(ids, m.ID)
		}
		if err != nil {
			ids = []string{err.Error()}
		}
		got = append(got, strings.Join(ids, "+"))
	}
	if want := []string{"1", "0+2", alone.Error(), "4", "5+6"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestReportsLargerThanTheWindowAreReadInParts(t *testing.T) {
	t.Parallel()
	log := "no such host\n" + strings.Repeat("x", 16<<20) // four of them are more than a window
	entries, members := 0, 0
	read := func(yield func(docket.Entry, error) bool) {
		for range 10 {
			if !yield(docket.Entry{Case: *failure(log)}, nil) {
				return
			}
		}
	}
	for e, err := range Grouped(read) {
		must.Do(t, err)
		entries, members = entries+1, members+len(e.Members)
	}
	if entries != 3 || members != 7 {
		t.Errorf("%d entries with %d members", entries, members)
	}
}

func failed(id, line string) abi.Case {
	return abi.Case{ID: id, Subject: "the cache is full", Documents: []abi.Document{{Name: "log", Text: line}}}
}

const refusal = "dial tcp 10.0.0.7:5432: the database refuses the connection of worker seven at 12:31:07\nretry later, gave up after all attempts\n"

func TestWhatWasRememberedIsRecalled(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	b := must.Get(casebook.Open(ctx, filepath.Join(t.TempDir(), "book"), casebook.Options{}))(t)
	defer func() { _ = b.Close() }()
	old := failed("old", refusal)
	entry := Entry(&old, nil, &trial.Final{Status: trial.Affirmed, Classification: "si001", Confidence: 0.9})
	if broken := Entry(&old, nil, &trial.Final{Status: trial.Mistrial}); entry.Verdict == nil || broken.Verdict != nil {
		t.Error("a verdict is remembered, and a mistrial is not")
	}
	must.Get(b.Remember(ctx, casebook.Run{Entries: []casebook.Entry{entry}}))(t)
	s := must.Get(b.Snapshot(ctx))(t)
	defer func() { _ = s.Close() }()
	book := Casebook(s)
	again := failed("new", "dial tcp 10.9.9.9:5432: the database refuses the connection of worker seven at 03:00:00\nretry later, gave up after all attempts\n")
	cases, err := book.Recall(ctx, &again, 5)
	if err != nil || len(cases) != 1 || cases[0].Similarity != 1 || cases[0].Confidence != 0.9 || cases[0].Classification != "si001" {
		t.Fatalf("%+v (%v)", cases, err)
	}
	message := codec.AppendPriorCases(nil, &abi.PriorCases{Cases: cases})
	must.Get(codec.DecodePriorCases(message, len(message)))(t)
	if cases, err := book.Correlate(ctx, refusal, 5); err != nil || len(cases) != 1 || cases[0].CaseID != "old" {
		t.Errorf("%+v (%v)", cases, err)
	}
	if book.Digest() == "" {
		t.Error("no digest")
	}
}

func TestATruthIsRememberedInFull(t *testing.T) {
	t.Parallel()
	b := must.Get(casebook.Open(t.Context(), filepath.Join(t.TempDir(), "book"), casebook.Options{}))(t)
	defer func() { _ = b.Close() }()
	old := failed("old", refusal)
	truth := &trial.Truth{Classification: "pb001"}
	for _, final := range []trial.Final{{Status: trial.Affirmed, Classification: "si001", Confidence: 0.6}, {Status: trial.Mistrial}} {
		entry := Entry(&old, truth, &final)
		if v := entry.Verdict; v == nil || v.Origin != casebook.Confirmed || v.Classification != "pb001" || v.Confidence != final.Confidence {
			t.Errorf("%+v", entry.Verdict)
		}
		must.Get(b.Remember(t.Context(), casebook.Run{Entries: []casebook.Entry{entry}}))(t)
	}
	s := must.Get(b.Snapshot(t.Context()))(t)
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
		must.Do(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	tree := must.Get(repo.OpenSource(t.Context(), dir, ""))(t)
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
	check.Equal(t, answer.Frames[0], want)
}
