package dockets_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/docket/gotest"
)

// small is the docket for a quick look.
const small = "go-failures.jsonl"

func entries(t *testing.T, pattern string) []docket.Entry {
	t.Helper()
	names, err := filepath.Glob(pattern)
	if err != nil || len(names) == 0 {
		t.Fatalf("no docket is named %s (%v)", pattern, err)
	}
	var reader docket.Reader
	var all []docket.Entry
	for _, name := range names {
		in, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		for entry, err := range reader.JSONL(name, in) {
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, entry)
		}
		if err := in.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// large gives both halves of the large docket.
func large(t *testing.T) []docket.Entry {
	t.Helper()
	return append(entries(t, "go-fit-*.jsonl"), entries(t, "go-test-*.jsonl")...)
}

func inBand(e docket.Entry) bool {
	return e.Case.Light.Confidence >= 0.50 && e.Case.Light.Confidence < 0.85
}

func TestFilesAreBelowOneMegabyte(t *testing.T) {
	t.Parallel()
	names, err := filepath.Glob("*.json*")
	if err != nil || len(names) < 4 {
		t.Fatalf("%d files (%v)", len(names), err)
	}
	for _, name := range names {
		if info, err := os.Stat(name); err != nil || info.Size() >= 1_000_000 {
			t.Errorf("%s has %d bytes (%v), the limit is 1 MB", name, info.Size(), err)
		}
	}
}

// TestHalvesAreLargeAndApart holds what fitting on one half and measuring on the other needs: cases enough, the causes
// evenly, no module in both, and in the half that is measured enough cases that the court will hear.
func TestHalvesAreLargeAndApart(t *testing.T) {
	t.Parallel()
	fit, test := entries(t, "go-fit-*.jsonl"), entries(t, "go-test-*.jsonl")
	groups, ids, band := map[string]string{}, map[string]bool{}, 0
	for name, half := range map[string][]docket.Entry{"fit": fit, "test": test} {
		causes := map[string]int{}
		for _, e := range half {
			causes[e.Truth.Classification]++
			if ids[e.Case.ID] {
				t.Errorf("case %s is there twice", e.Case.ID)
			}
			ids[e.Case.ID] = true
			if other := groups[e.Case.Group]; other != "" && other != name {
				t.Errorf("%s is in both halves", e.Case.Group)
			}
			groups[e.Case.Group] = name
			if name == "test" && inBand(e) {
				band++
			}
		}
		for _, label := range gotest.Labels() {
			if n := causes[label]; 100*n < 22*len(half) || 100*n > 28*len(half) {
				t.Errorf("the half to %s has %d cases of %s, of %d", name, n, label, len(half))
			}
		}
	}
	if len(ids) < 600 || len(groups) < 12 || band < 150 {
		t.Errorf("%d cases of %d modules, %d in the band of the test half; wanted are 600, 12 and 150", len(ids), len(groups), band)
	}
}

func TestSmallDocketIsVaried(t *testing.T) {
	t.Parallel()
	causes, groups, band := map[string]int{}, map[string]bool{}, 0
	all := entries(t, small)
	for _, e := range all {
		causes[e.Truth.Classification]++
		groups[e.Case.Group] = true
		if inBand(e) {
			band++
		}
	}
	if len(all) < 48 || len(groups) < 5 || 2*band < len(all) {
		t.Errorf("%d cases of %d modules, %d in the uncertain band", len(all), len(groups), band)
	}
	for _, label := range gotest.Labels() {
		if causes[label] < 8 {
			t.Errorf("%d cases of %s", causes[label], label)
		}
	}
}

// TestLightIsFrozen holds that the dockets have what the first simple Light says, today as on the day it was made.
func TestLightIsFrozen(t *testing.T) {
	t.Parallel()
	for _, e := range append(entries(t, small), large(t)...) {
		if got := gotest.Light(e.Case); got != *e.Case.Light {
			t.Errorf("case %s: Light says %+v, the docket %+v", e.Case.ID, got, *e.Case.Light)
		}
		want := abi.Decision("")
		if inBand(e) {
			want = abi.Amend
			if e.Case.Light.Classification == e.Truth.Classification {
				want = abi.Affirm
			}
		}
		if e.Truth.ExpectedVerdict != want {
			t.Errorf("case %s expects %q, want %q", e.Case.ID, e.Truth.ExpectedVerdict, want)
		}
	}
}

// TestPathsDoNotTellTheCause holds that every path of the checkouts has the one form, whatever the fault was.
func TestPathsDoNotTellTheCause(t *testing.T) {
	t.Parallel()
	for _, e := range append(entries(t, small), large(t)...) {
		for _, foreign := range []string{"/tmp/build", "/root/", "/tmp/gen", "-launch", "GEN_", "test.shuffle", "pristine", "mutant"} {
			if strings.Contains(e.Case.Documents[0].Text, foreign) {
				t.Errorf("case %s: its log has %q", e.Case.ID, foreign)
			}
		}
	}
}

func TestStreamsGiveCases(t *testing.T) {
	t.Parallel()
	streams, err := filepath.Glob("*.gotest.json")
	if err != nil || len(streams) < 2 {
		t.Fatalf("%d streams, want at least 2 (%v)", len(streams), err)
	}
	var reader gotest.Reader
	for _, name := range streams {
		in, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		cases := 0
		for _, err := range reader.Read(name, in) {
			if line := (*docket.LineError)(nil); errors.As(err, &line) {
				t.Error(err)
			}
			cases++
		}
		if err := in.Close(); err != nil {
			t.Error(err)
		}
		if cases == 0 {
			t.Errorf("%s has no case", name)
		}
	}
}
