package work_test

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/shadowcourt/shadowcourt/host/casebook"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/run"
	"github.com/shadowcourt/shadowcourt/internal/service/store"
	"github.com/shadowcourt/shadowcourt/internal/service/work"
)

// A correction is in the casebook of the next docket, and not in that of one before; one that was taken back is
// in none. The answers are those of a casebook file with the same verdicts. It gives the results at each of the three revisions.
func casebooks(t *testing.T, s *store.Store) (answers [3][]string) {
	t.Helper()
	start(t, s, nil)
	list := entries(t, "go-failures.jsonl", run.JSONL)[:12]
	for i := range list {
		list[i].Case.Light = nil // the Light path classifies them
		list[i].Truth = nil
	}
	next := func() store.Docket { return submit(t, s, store.Submission{Format: run.JUnit}, list) }
	o := &work.Opening{Format: run.JUnit}
	before := wait(t, s, next().ID)
	plain := local(t, o, list)
	equalLines(t, results(t, s, before.ID), plain)

	book, err := casebook.Open(t.Context(), filepath.Join(t.TempDir(), "book.db"), casebook.Options{})
	must(t, err)
	defer func() { must(t, book.Close()) }()
	var last store.Correction
	for i := range list {
		e, err := s.Entry(t.Context(), store.TrialID{Docket: before.ID, Ordinal: i + 1})
		must(t, err)
		other := e.Labels[slices.IndexFunc(e.Labels, func(label string) bool { return label != e.Label })]
		last, err = s.Correct(t.Context(), "ann", other, []store.TrialID{e.ID})
		must(t, err)
		if i == len(list)-1 {
			break // this one is undone below
		}
		_, err = book.Remember(t.Context(), casebook.Run{Entries: []casebook.Entry{run.Entry(&list[i].Case,
			&trial.Truth{Classification: other}, &trial.Final{Confidence: e.Confidence})}})
		must(t, err)
	}
	all := wait(t, s, next().ID)
	_, err = s.Undo(t.Context(), "ann", last.ID)
	must(t, err)
	after := wait(t, s, next().ID)
	if all.Casebook != int64(len(list)) || after.Casebook != int64(len(list))+1 {
		t.Errorf("revisions %d and %d", all.Casebook, after.Casebook)
	}
	snapshot, err := book.Snapshot(t.Context())
	must(t, err)
	defer func() { must(t, snapshot.Close()) }()
	got := results(t, s, after.ID)
	equalLines(t, got, localWith(t, o, list, run.Casebook(snapshot)))
	if slices.Equal(got, plain) {
		t.Error("the corrections change nothing")
	}
	if slices.Equal(got, results(t, s, all.ID)) {
		t.Error("the correction that was taken back changes nothing")
	}
	equalLines(t, results(t, s, before.ID), plain)
	// Dockets of another repository see nothing of it.
	other := wait(t, s, submit(t, s, store.Submission{Format: run.JUnit, Repository: "other"}, list).ID)
	equalLines(t, results(t, s, other.ID), plain)
	return [3][]string{plain, results(t, s, all.ID), got}
}
