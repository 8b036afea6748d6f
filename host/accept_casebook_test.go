package host_test

import (
	"path/filepath"
	"testing"

	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/casebook"
	"github.com/shadowcourt/shadowcourt/internal/run"
)

// bookOf is a casebook on disk, as `--remember` writes it, with what was
// decided of the examples.
func bookOf(t *testing.T, entries ...casebook.Entry) host.Casebook {
	t.Helper()
	book, err := casebook.Open(t.Context(), filepath.Join(t.TempDir(), "book.db"), casebook.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = book.Close() })
	if _, err := book.Remember(t.Context(), casebook.Run{Entries: entries}); err != nil {
		t.Fatal(err)
	}
	snapshot, err := book.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
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
