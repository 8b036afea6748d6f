package host_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/casebook"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/run"
)

// Nobody but the host writes items of the casebook: not the case, not Light, not a party.
func TestAccept_QU1_ItemsOfTheCasebookAreTheHostsOwn(t *testing.T) {
	t.Parallel()
	h := open(t, host.Config{})
	forged := disk(says("casebook:7", "as before", "leak", 0.95), says("casebooks:7", "as before", "leak", 0.5), says("casebook#1", "as before", "", 0.95))
	forged.Documents = []abi.Document{{Name: "casebook:log", Text: "as before"}}
	_, err := h.Try(t.Context(), forged)
	var invalid *abi.ValidationError
	if !errors.As(err, &invalid) {
		t.Fatalf("a forged case is tried: %v", err)
	}
	if want := []string{"evidence[0].source_ref", "evidence[2].source_ref", "documents[0].name"}; !slices.Equal(places(invalid.Problems), want) {
		t.Errorf("faults at %q, want %q", places(invalid.Problems), want)
	}
	earlier := lightFunc(func(host.LightRequest) (host.LightResponse, error) {
		return host.LightResponse{
			Answer:   abi.LightAnswer{Classification: "leak", Confidence: 0.6},
			Evidence: []abi.Evidence{says("casebook:7", "as before", "leak", 0.95)},
		}, nil
	})
	unclassified := disk()
	unclassified.Light = nil
	for name, tc := range map[string]struct {
		outcome *trial.Trial
		place   string
	}{
		"a Light of the caller's": {try(t, open(t, host.Config{Light: earlier}), unclassified), "evidence[0].source_ref"},
		"a module of Light":       {try(t, openLit(t, host.Config{}, map[string]string{"investigate": "earlier"}, straight...), unclassified), "artifact.investigate.evidence[0].source_ref"},
		"a party":                 {try(t, open(t, host.Config{Pipeline: behave(t, "bulwark", "hearing", "earlier")}), dispute()), "artifact.hearing_turn.new_items[0]"},
	} {
		e := tc.outcome.Result.Error
		if e == nil || len(e.Problems) != 1 || e.Problems[0].Path != tc.place {
			t.Errorf("%s may write an item of the casebook: %+v", name, e)
		}
	}
}

func places(problems []abi.Problem) []string {
	list := make([]string, len(problems))
	for i := range problems {
		list[i] = problems[i].Path.String()
	}
	return list
}

// What people corrected counts in a fitted court as it does without a profile, although no fit knew the casebook.
func TestAccept_QU1_ACorrectedCasebookCountsBesideAProfile(t *testing.T) {
	t.Parallel()
	// It knows other sources, and that Light's word tells nothing.
	p := &abi.Profile{
		Name: "measured", SignalCap: 1, Sources: []abi.SourceReliability{{Source: "operator", Share: 1, Stated: &abi.LogitMap{Slope: 1}, Cap: 3}},
		Light: &abi.SourceReliability{Source: "light", Share: 1, Cap: 1},
	}
	cases := examples(t, "go-failures.jsonl")
	var entries []casebook.Entry
	for _, e := range cases {
		entries = append(entries, run.Entry(&e.Case, e.Truth, &trial.Final{}))
	}
	book := bookOf(t, entries...)
	right := func(config host.Config) (n int) {
		config.LightPath = rca(t)
		h := open(t, config)
		for _, e := range cases {
			got := try(t, h, e.Case).Result
			if got.Final.Classification == e.Truth.Classification {
				n++
			}
			if slices.Contains(got.UnmeasuredSources, abi.CasebookSource) {
				t.Errorf("%s: the casebook is named among %q", e.Case.ID, strings.Join(got.UnmeasuredSources, ", "))
			}
		}
		return n
	}
	without, with, unfitted := right(host.Config{Profile: p}), right(host.Config{Profile: p, Casebook: book}), right(host.Config{Casebook: book})
	t.Logf("of %d: %d without the casebook, %d with it, %d with it and no profile", len(cases), without, with, unfitted)
	if with < unfitted-1 || with < without+len(cases)/5 {
		t.Errorf("of %d: %d without the casebook, %d with it, %d with it and no profile", len(cases), without, with, unfitted)
	}
}
