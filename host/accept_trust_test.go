package host_test

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/casebook"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/run"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
	"github.com/shadowcourt/shadowcourt/internal/testkit/tier"
)

// disk is a case that Light isn't sure of.
func disk(items ...abi.Evidence) abi.Case {
	return abi.Case{
		ID: "disk", Subject: "a disk that fills up", Labels: []string{"leak", "load", "quota"}, Documents: []abi.Document{},
		Light: &abi.LightAnswer{Classification: "leak", Confidence: 0.6, Reasoning: "so it seems"}, Evidence: items,
	}
}

func says(source, content, label string, confidence float64) abi.Evidence {
	return abi.Evidence{SourceRef: source, Content: content, Supports: label, RelevanceConfidence: confidence}
}

// The result names the sources that a profile doesn't know, where it measured others; they don't change the answer.
func TestAccept_QU1_TheResultNamesUnknownSources(t *testing.T) {
	t.Parallel()
	stated := &abi.LogitMap{Slope: 1}
	p := &abi.Profile{
		Name: "measured", SignalCap: 1, Sources: []abi.SourceReliability{{Source: "operator", Share: 1, Stated: stated, Cap: 3}},
		Light: &abi.SourceReliability{Source: "light", Share: 1, Stated: stated, Cap: 1},
	}
	h := open(t, host.Config{Profile: p})
	alone := try(t, h, disk(says("operator:1", "the quota is used up", "quota", 0.9))).Result
	lied := try(t, h, disk(
		says("operator:1", "the quota is used up", "quota", 0.9), says("stranger:1", "it leaks", "leak", 0.99), says("a:1", "a leak", "leak", 0.99),
		says("b:1", "it is leaking", "leak", 0.99), says("note:1", "a disk", "", 0.9))).Result
	if alone.Final.Classification != "quota" || lied.Final.Classification != "quota" {
		t.Errorf("quota is %v alone, %v beside strangers", alone.Final, lied.Final)
	}
	if want := []string{"a", "b", "stranger"}; alone.UnmeasuredSources != nil || !slices.Equal(lied.UnmeasuredSources, want) {
		t.Errorf("unknown are %q alone and %q, want %q", alone.UnmeasuredSources, lied.UnmeasuredSources, want)
	}
	if unfitted := try(t, open(t, host.Config{}), disk(says("stranger:1", "it leaks", "leak", 0.99))).Result; unfitted.UnmeasuredSources != nil {
		t.Errorf("without a profile nobody was measured, yet %q are named", unfitted.UnmeasuredSources)
	}
}

// Strangers count little also where nobody speaks whom the profile measured, Light included.
func TestAccept_QU1_UnknownSourcesCountLittleAmongThemselves(t *testing.T) {
	t.Parallel()
	p := &abi.Profile{
		Name: "measured", SignalCap: 1, Sources: []abi.SourceReliability{{Source: "operator", Share: 1, Stated: &abi.LogitMap{Slope: 1}, Cap: 3}},
	}
	strangers := disk(says("a:1", "a leak", "quota", 0.99), says("b:1", "it is leaking", "quota", 0.99))
	fitted, unfitted := try(t, open(t, host.Config{Profile: p}), strangers).Result, try(t, open(t, host.Config{}), strangers).Result
	if unfitted.Final.Classification != "quota" {
		t.Errorf("without a profile they are not believed: %v", unfitted.Final)
	}
	if fitted.Final.Classification == "quota" && fitted.Final.Confidence > 0.6 {
		t.Errorf("the profile doesn't know them, and they are believed: %v", fitted.Final)
	}
}

// The same item for two labels decides nothing, whichever comes first, and the result tells it.
func TestAccept_QU8_TheSameItemForTwoLabelsIsTold(t *testing.T) {
	t.Parallel()
	h := open(t, host.Config{})
	leak, quota := says("log:L2", "the volume grew", "leak", 0.9), says("log:L2", "the volume grew", "quota", 0.9)
	first, second := try(t, h, disk(leak, quota)).Result, try(t, h, disk(quota, leak)).Result
	if first.Final.Classification != second.Final.Classification || first.Final.Confidence != second.Final.Confidence {
		t.Errorf("the order of the items decides: %v and %v", first.Final, second.Final)
	}
	if first.Final.Classification == "quota" {
		t.Errorf("a contradicted item decides: %v", first.Final)
	}
	if want := []string{"log:L2"}; !slices.Equal(first.ContradictoryEvidence, want) {
		t.Errorf("told are %q, want %q", first.ContradictoryEvidence, want)
	}
	if plain := try(t, h, disk(quota, says("log:L3", "the volume grew", "leak", 0.9))).Result; plain.ContradictoryEvidence != nil {
		t.Errorf("two sources may differ: %q", plain.ContradictoryEvidence)
	}
}

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
	tier.Long(t, "host/casebook", "abi/odds")
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

// bookOf is a casebook on disk, as `--remember` writes it, with what was decided of the examples.
func bookOf(t *testing.T, entries ...casebook.Entry) host.Casebook {
	t.Helper()
	book := must.Get(casebook.Open(t.Context(), filepath.Join(t.TempDir(), "book.db"), casebook.Options{}))(t)
	t.Cleanup(func() { _ = book.Close() })
	must.Get(book.Remember(t.Context(), casebook.Run{Entries: entries}))(t)
	snapshot := must.Get(book.Snapshot(t.Context()))(t)
	t.Cleanup(func() { _ = snapshot.Close() })
	return run.Casebook(snapshot)
}

// The edges that depend on earlier cases are taken with a casebook on disk, by
// what it finds: the very failure as somebody confirmed it, one that was only decided, and none.
func TestAccept_CT9_TheCasebookLeadsTheWay(t *testing.T) {
	t.Parallel()
	left := map[string]bool{"H1": true, "H2": true, "H3": true, "H15b": true}
	cases := examples(t, "go-failures.jsonl")
	for _, launch := range []struct {
		edge   string
		origin casebook.Origin
	}{{"H1", casebook.Confirmed}, {"H3", casebook.Decided}} {
		var entries []casebook.Entry
		for _, entry := range cases {
			entries = append(entries, casebook.Entry{CaseID: entry.Case.ID, Failure: run.Failure(&entry.Case), Verdict: &casebook.Verdict{
				Origin: launch.origin, Status: "affirmed", Classification: entry.Truth.Classification, Confidence: 0.95,
			}})
		}
		h := open(t, host.Config{LightPath: rca(t), Court: off, Casebook: bookOf(t, entries[:len(entries)/2]...)})
		taken := make(map[string]int)
		for _, entry := range cases {
			outcome := try(t, h, entry.Case)
			if outcome.Result.Error != nil {
				t.Errorf("%s: %+v", entry.Case.ID, outcome.Result.Error)
			}
			for _, edge := range edges(outcome) {
				taken[edge]++
				delete(left, edge)
			}
		}
		if taken[launch.edge] == 0 {
			t.Errorf("no case takes %s: %v", launch.edge, taken)
		}
	}
	for edge := range left {
		t.Errorf("no case takes %s", edge)
	}
}
