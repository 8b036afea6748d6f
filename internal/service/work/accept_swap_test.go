package work_test

import (
	"slices"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/codec"
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

// A canary decides nothing, and what it says is kept beside each result.
func canary(t *testing.T, s *store.Store) {
	t.Helper()
	first, err := s.CurrentGeneration(t.Context())
	must(t, err)
	start(t, s, nil)
	g, err := s.Generation(t.Context(), first)
	must(t, err)
	parts := store.Parts{Modules: g.Modules, Canary: map[string]string{}}
	// The judge of the candidate is played by a module that is the same but for its digest.
	const judge = "specter"
	parts.Canary[judge], err = s.AddBlob(t.Context(), changed(t, judge, "canary"))
	must(t, err)
	next, err := s.AddGeneration(t.Context(), store.Generation{Parts: parts, Share: 1})
	must(t, err)
	activated(t, s, next.ID)
	list := entries(t, "demo.jsonl", run.JSONL)
	d := wait(t, s, submit(t, s, store.Submission{Format: run.JSONL}, list).ID)
	beside := 0
	for tried, err := range s.Trials(t.Context(), d.ID, 1) {
		must(t, err)
		if tried.Trial.Beside != nil {
			beside++
			sameSides(t, tried)
		}
	}
	if beside == 0 {
		t.Error("the candidate tried nothing")
	}
	equalLines(t, results(t, s, d.ID), local(t, &work.Opening{Format: run.JSONL}, list))
	if n, err := s.CountEntries(t.Context(), store.EntryFilter{Docket: d.ID, Flipped: true}); err != nil || n != 0 {
		t.Errorf("%d flips by the same code, %v", n, err)
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

// The cases that a canary ends otherwise are listed with what both courts said, and those that it ends alike are not.
func flips(t *testing.T, s *store.Store) {
	t.Helper()
	first, err := s.CurrentGeneration(t.Context())
	must(t, err)
	start(t, s, nil)
	g, err := s.Generation(t.Context(), first)
	must(t, err)
	parts := store.Parts{Modules: g.Modules, Canary: map[string]string{}}
	parts.Canary["specter"], err = s.AddBlob(t.Context(), trapping())
	must(t, err)
	next, err := s.AddGeneration(t.Context(), store.Generation{Parts: parts, Share: 1})
	must(t, err)
	activated(t, s, next.ID)
	list := entries(t, "demo.jsonl", run.JSONL)
	d := wait(t, s, submit(t, s, store.Submission{Format: run.JSONL}, list).ID)
	want := map[store.TrialID]bool{}
	alike := 0
	for tried, err := range s.Trials(t.Context(), d.ID, 1) {
		must(t, err)
		switch {
		case tried.Trial.Beside == nil:
		case tried.Trial.Compare().BesideFlips:
			want[tried.ID] = true
			sameSides(t, tried)
			if tried.Beside.Status != trial.Mistrial || tried.Beside.Label != "" {
				t.Errorf("%s: the canary fails, and %+v is listed", tried.CaseID, tried.Beside)
			}
		default:
			alike++
		}
	}
	listed, err := s.Entries(t.Context(), store.EntryFilter{Generation: next.ID, Flipped: true})
	must(t, err)
	for i := range listed {
		if !want[listed[i].ID] {
			t.Errorf("%s is listed as a flip", listed[i].CaseID)
		}
	}
	if len(listed) != len(want) || len(want) == 0 {
		t.Errorf("%d flips are listed of %d; %d cases ended alike", len(listed), len(want), alike)
	}
	equalLines(t, results(t, s, d.ID), local(t, &work.Opening{Format: run.JSONL}, list))
}
