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

const failures = "go-failures.jsonl"

func entries(t *testing.T) []docket.Entry {
	t.Helper()
	in, err := os.Open(failures)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	var reader docket.Reader
	var all []docket.Entry
	for entry, err := range reader.JSONL(failures, in) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, entry)
	}
	return all
}

func TestDocketIsLargeAndVaried(t *testing.T) {
	t.Parallel()
	info, err := os.Stat(failures)
	if err != nil || info.Size() >= 1<<20 {
		t.Fatalf("%s has %d bytes (%v), the limit is 1 MiB", failures, info.Size(), err)
	}
	causes, groups, band := map[string]int{}, map[string]bool{}, 0
	all := entries(t)
	for _, e := range all {
		causes[e.Truth.Classification]++
		groups[e.Case.Group] = true
		if e.Case.Light.Confidence >= 0.50 && e.Case.Light.Confidence < 0.85 {
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

// TestLightIsFrozen holds that the docket has what the first simple Light says, today as on the day it was made.
func TestLightIsFrozen(t *testing.T) {
	t.Parallel()
	for _, e := range entries(t) {
		if got := gotest.Light(e.Case); got != *e.Case.Light {
			t.Errorf("case %s: Light says %+v, the docket %+v", e.Case.ID, got, *e.Case.Light)
		}
		want := abi.Decision("")
		if c := e.Case.Light.Confidence; c >= 0.50 && c < 0.85 {
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
	for _, e := range entries(t) {
		for _, foreign := range []string{"/tmp/build", "/root/", "/tmp/gen", "-launch", "GEN_", "test.shuffle"} {
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
