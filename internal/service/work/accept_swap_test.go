package work_test

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/codec"
	"github.com/shadowcourt/shadowcourt/host/casebook"
	"github.com/shadowcourt/shadowcourt/host/record"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/run"
	"github.com/shadowcourt/shadowcourt/internal/service/store"
	"github.com/shadowcourt/shadowcourt/internal/service/work"
	"github.com/shadowcourt/shadowcourt/internal/testkit/wasmtest"
)

// activated puts a generation in force.
func activated(t *testing.T, s *store.Store, generation int64) {
	t.Helper()
	g, err := s.Activate(t.Context(), "test", generation)
	if err != nil || !g.Current {
		t.Fatalf("%+v, %v", g, err)
	}
}

// A swap and a rollback. What is queued keeps its generation.
func swaps(t *testing.T, s *store.Store) {
	t.Helper()
	first, err := s.CurrentGeneration(t.Context())
	must(t, err)
	list := entries(t, "demo.jsonl", run.JSONL)
	second := swapped(t, s, first, "bulwark", changed(t, "bulwark", "second"))
	check := func(d store.Docket, want int64) {
		t.Helper()
		d = wait(t, s, d.ID)
		g, err := s.Generation(t.Context(), want)
		must(t, err)
		for tried, err := range s.Results(t.Context(), d.ID, 1) {
			must(t, err)
			if tried.Generation != want {
				t.Errorf("%s was tried by generation %d instead of %d", tried.CaseID, tried.Generation, want)
			}
			for _, digest := range tried.Trial.Result.Modules {
				if !slices.Contains(g.Digests(), record.Digest(digest).Hex()) {
					t.Errorf("%s: module %s is not of generation %d", tried.CaseID, digest, want)
				}
			}
		}
	}
	try := func(sent store.Submission, want int64) {
		t.Helper()
		sent.Format = run.JSONL
		check(submit(t, s, sent, list), want)
	}
	queued := submit(t, s, store.Submission{Format: run.JSONL}, renamed(list, "queued "))
	activated(t, s, second.ID)
	start(t, s, func(c *work.Config) { c.Formats = []string{run.JSONL} })
	try(store.Submission{}, second.ID)
	try(store.Submission{Generation: first}, first)
	check(queued, first)
	activated(t, s, first)
	try(store.Submission{}, first)
}

// A canary decides nothing, and what it says is kept beside each result: one with the same code, and one that fails whenever it is asked. The cases
// that it ends otherwise are listed, and those that it ends alike are not.
func canary(t *testing.T, s *store.Store) {
	t.Helper()
	first, err := s.CurrentGeneration(t.Context())
	must(t, err)
	start(t, s, nil)
	g, err := s.Generation(t.Context(), first)
	must(t, err)
	list := entries(t, "demo.jsonl", run.JSONL)
	for name, wasm := range map[string][]byte{"same": changed(t, "specter", "canary"), "fails": trapping()} {
		parts := store.Parts{Modules: g.Modules, Canary: map[string]string{}}
		parts.Canary["specter"], err = s.AddBlob(t.Context(), wasm)
		must(t, err)
		next, err := s.AddGeneration(t.Context(), store.Generation{Parts: parts, Share: 1})
		must(t, err)
		activated(t, s, next.ID)
		d := wait(t, s, submit(t, s, store.Submission{Format: run.JSONL}, list).ID)
		flips, beside := map[store.TrialID]bool{}, 0
		for tried, err := range s.Trials(t.Context(), d.ID, 1) {
			must(t, err)
			if tried.Trial.Beside == nil {
				continue
			}
			beside++
			sameSides(t, tried)
			if tried.Trial.Compare().BesideFlips {
				flips[tried.ID] = true
			}
			if name == "fails" && tried.Beside.Status != trial.Mistrial {
				t.Errorf("%s: the canary fails, and %+v is listed", tried.CaseID, tried.Beside)
			}
		}
		listed, err := s.Entries(t.Context(), store.EntryFilter{Generation: next.ID, Flipped: true})
		must(t, err)
		for i := range listed {
			if !flips[listed[i].ID] {
				t.Errorf("%s is listed as a flip", listed[i].CaseID)
			}
		}
		if len(listed) != len(flips) || beside == 0 || (len(flips) > 0) != (name == "fails") {
			t.Errorf("%s: %d flips are listed of %d; the canary tried %d cases", name, len(listed), len(flips), beside)
		}
		equalLines(t, results(t, s, d.ID), local(t, &work.Opening{Format: run.JSONL}, list))
	}
}

// sameSides says whether what is listed of an entry is what both courts said.
func sameSides(t *testing.T, tried *store.Tried) {
	t.Helper()
	court, beside := tried.Trial.Result.Final, tried.Trial.Beside.Result.Final
	if tried.Status != court.Status || tried.Label != court.Classification || tried.Confidence != court.Confidence {
		t.Errorf("%s: the court said %+v, and %s %q %g is listed", tried.CaseID, court, tried.Status, tried.Label, tried.Confidence)
	}
	if b := tried.Beside; b.Status != beside.Status || b.Label != beside.Classification || b.Confidence != beside.Confidence || tried.Trial.Beside.Case.ID != tried.CaseID {
		t.Errorf("%s: the canary said %+v, and %+v is listed", tried.CaseID, beside, b)
	}
}

// trapping is a judge that loads and fails whenever it is asked.
func trapping() []byte {
	return wasmtest.Module{
		Memory: abi.ExportMemory, MemoryPages: 1,
		Funcs: []wasmtest.Func{
			{Export: abi.ExportNode, Params: []byte{wasmtest.I32, wasmtest.I32}, Results: []byte{wasmtest.I64}, Body: []byte{wasmtest.Unreachable}},
			{Export: abi.ExportAlloc, Params: []byte{wasmtest.I32}, Results: []byte{wasmtest.I32}, Body: wasmtest.Const(1024)},
		},
		Customs: []wasmtest.Custom{{Name: abi.ManifestSection, Payload: codec.AppendManifest(nil, &abi.Manifest{
			Name: "judge", Version: "1.0.0", ABI: abi.Version, Calls: []abi.Call{abi.CallNode}, Families: []abi.Family{abi.FamilyVerdict},
		})}},
	}.Bytes()
}

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
