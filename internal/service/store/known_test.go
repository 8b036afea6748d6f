package store_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/service/store"
)

// knows is about results whose right label is known.
func knows(t *testing.T, s *store.Store) { //nolint:thelper // a test of the suite
	entries := entriesOf("a", "b", "c", "d")
	for i := range entries {
		entries[i].LabelNames = map[string]string{"bug": "a bug", "flake": "it comes and goes"}
	}
	entries[0].Truth = &trial.Truth{Classification: "flake"}
	entries[1].Truth = &trial.Truth{ExpectedVerdict: "affirm"}
	d := submit(t, s, store.Submission{Submitter: "ci", Name: "nightly", Repository: "example.org/a"}, entries...)
	tryAll(t, s, surely)
	other := submit(t, s, store.Submission{Submitter: "ci", Name: "other", Repository: "example.org/b"}, entriesOf("a")...)
	tryAll(t, s, surely)

	if e, err := s.Entry(t.Context(), store.TrialID{Docket: d.ID, Ordinal: 1}); err != nil || e.DocketName != "nightly" || e.Truth != "flake" || !cmp.Equal(e.LabelNames, entries[0].LabelNames) {
		t.Errorf("%+v, %v", e, err)
	}
	if e, err := s.Entry(t.Context(), store.TrialID{Docket: other.ID, Ordinal: 1}); err != nil || e.DocketName != "other" || e.Truth != "" || e.LabelNames != nil {
		t.Errorf("%+v, %v", e, err)
	}

	// A correction goes before what the docket says.
	_, err := s.Correct(t.Context(), "ada", "bug", []store.TrialID{{Docket: d.ID, Ordinal: 1}, {Docket: d.ID, Ordinal: 3}})
	must(t, err)
	known, err := s.KnownLabels(t.Context(), store.EntryFilter{})
	must(t, err)
	if len(known) != 2 || known[0].ID.Ordinal != 1 || known[1].ID.Ordinal != 3 {
		t.Fatalf("known are %+v", known)
	}
	k := known[0]
	if k.Right != "bug" || !k.Corrected || k.Label != "bug" || k.Confidence != 0.9 || k.Light != "bug" || k.Repository != "example.org/a" ||
		k.LabelNames["flake"] != "it comes and goes" || len(k.Labels) != 2 {
		t.Errorf("the first is %+v", k)
	}
	if known, err = s.KnownLabels(t.Context(), store.EntryFilter{Repository: "example.org/b"}); err != nil || len(known) != 0 {
		t.Errorf("of the other repository there is %+v, %v", known, err)
	}

	week := time.Date(2025, 12, 29, 0, 0, 0, 0, time.UTC) // the Monday before
	tallies, err := s.Tallies(t.Context(), "", time.Time{})
	must(t, err)
	of := func(tally store.Tally) store.Tally {
		tally.Week, tally.Label, tally.Light, tally.Took = week, "bug", "bug", time.Duration(tally.Results)*time.Millisecond
		return tally
	}
	if diff := cmp.Diff([]store.Tally{
		of(store.Tally{Repository: "example.org/a", Results: 2}),
		of(store.Tally{Repository: "example.org/a", Results: 2, Truth: "bug", Corrected: true, Stated: 0.9}),
		of(store.Tally{Repository: "example.org/b", Results: 1}),
	}, tallies); diff != "" {
		t.Error(diff)
	}
}
