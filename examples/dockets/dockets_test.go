package dockets_test

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/docket/gotest"
	"github.com/shadowcourt/shadowcourt/internal/testkit/check"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

func entries(t *testing.T, pattern string) []docket.Entry {
	t.Helper()
	names, err := filepath.Glob(pattern)
	if err != nil || len(names) == 0 {
		t.Fatalf("no docket is named %s (%v)", pattern, err)
	}
	var reader docket.Reader
	var all []docket.Entry
	for _, name := range names {
		in := must.Get(os.Open(name))(t)
		for entry, err := range reader.JSONL(name, in) {
			must.Do(t, err)
			all = append(all, entry)
		}
		must.Do(t, in.Close())
	}
	return all
}

func inBand(e docket.Entry) bool {
	return e.Case.Light.Confidence >= 0.50 && e.Case.Light.Confidence < 0.85
}

// TestHalvesAreApart holds what fitting on one half and measuring on the other needs: true labels, and no case, group or text in both. The
// dockets are frozen: TestAccept_HX3_HS4_LB4_ResultsStay compares all that the court says of them.
func TestHalvesAreApart(t *testing.T) {
	t.Parallel()
	for _, halves := range [][2]string{{"go-fit-*", "go-test-*"}, {"sentiment-fit", "sentiment-test"}, {"banking-1", "banking-2"}, {"domains-1", "domains-2"}} {
		first := map[string]bool{}
		for i, half := range halves {
			all, seen := entries(t, half+".jsonl"), map[string]bool{}
			labels := all[0].Case.Labels
			for _, e := range all {
				if seen["id "+e.Case.ID] || !slices.Equal(e.Case.Labels, labels) || !slices.Contains(labels, e.Truth.Classification) {
					t.Errorf("%s: case %s is there twice, or has other labels", half, e.Case.ID)
				}
				for _, key := range []string{"id " + e.Case.ID, "group " + e.Case.Group, "text " + e.Case.Documents[0].Text} {
					if key != "group " {
						seen[key] = true
					}
					if i == 1 && first[key] {
						t.Errorf("%q is in both halves", key)
					}
				}
			}
			if len(all) < 300 {
				t.Errorf("%s has %d cases", half, len(all))
			}
			maps.Copy(first, seen)
		}
	}
}

// TestLightIsFrozen holds that the dockets have what the first simple Light says, today as on the day it was made.
func TestLightIsFrozen(t *testing.T) {
	t.Parallel()
	for _, e := range slices.Concat(entries(t, "go-failures.jsonl"), entries(t, "go-fit-*.jsonl"), entries(t, "go-test-*.jsonl")) {
		check.Equal(t, gotest.Light(e.Case), *e.Case.Light, "case", e.Case.ID, "Light says", "the docket")
		want := abi.Decision("")
		if inBand(e) {
			want = abi.Amend
			if e.Case.Light.Classification == e.Truth.Classification {
				want = abi.Affirm
			}
		}
		check.Equal(t, e.Truth.ExpectedVerdict, want, "case", e.Case.ID, "expects")
	}
}

// TestDemoIsASampleByPosition: the choice saw Light's confidence and the position, never an outcome. It was made before any case was tried.
func TestDemoIsASampleByPosition(t *testing.T) {
	t.Parallel()
	var want, got []string
	band := 0
	for _, e := range entries(t, "go-test-1.jsonl") {
		if inBand(e) {
			if band++; band%29 == 0 {
				want = append(want, e.Case.ID)
			}
		}
	}
	for _, e := range entries(t, "demo.jsonl") {
		got = append(got, e.Case.ID)
	}
	if !slices.Equal(got, want) || len(got) != 12 {
		t.Errorf("%q is not every 29th case in the band, %q", got, want)
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
		in := must.Get(os.Open(name))(t)
		cases := 0
		for _, err := range reader.Read(name, in) {
			if line := (*docket.LineError)(nil); errors.As(err, &line) {
				t.Error(err)
			}
			cases++
		}
		must.Do(t, in.Close())
		if cases == 0 {
			t.Errorf("%s has no case", name)
		}
	}
}
