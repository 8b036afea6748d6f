package work_test

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/codec"
	"github.com/shadowcourt/shadowcourt/host/casebook"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/record"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/run"
	"github.com/shadowcourt/shadowcourt/internal/service/store"
	"github.com/shadowcourt/shadowcourt/internal/service/work"
	"github.com/shadowcourt/shadowcourt/internal/testkit/check"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
	"github.com/shadowcourt/shadowcourt/internal/testkit/wasmtest"
)

// onEach runs tests of one row of the acceptance list, each on a store of its own.
func onEach(t *testing.T, open func(testing.TB) *store.Store, tests map[string]func(*testing.T, *store.Store)) {
	t.Helper()
	for name, test := range tests {
		t.Run(name, func(t *testing.T) { test(t, open(t)) })
	}
}

// The tests by the rows that they show. Both databases must pass them.
var (
	results1 = map[string]func(*testing.T, *store.Store){"results": sameResults, "stop": stops}
	records2 = map[string]func(*testing.T, *store.Store){"records": records}
	queue3   = map[string]func(*testing.T, *store.Store){"once": once, "small": smallBesideLarge}
	swaps4   = map[string]func(*testing.T, *store.Store){"swap": swaps, "canary": canary}
	books8   = map[string]func(*testing.T, *store.Store){"casebook": func(t *testing.T, s *store.Store) { t.Helper(); casebooks(t, s) }}
)

// What a docket of the service comes to is what `try` gives, byte by byte; each trial can be read as a whole; a worker that is told
// to stop leaves its work to the next one.
func TestAccept_SV1_ServiceOnSQLite(t *testing.T) { t.Parallel(); onEach(t, openStore, results1) }

func TestAccept_SV2_RecordsVerifyOnSQLite(t *testing.T) { t.Parallel(); onEach(t, openStore, records2) }

func TestAccept_SV3_OnceAndFairOnSQLite(t *testing.T) { t.Parallel(); onEach(t, openStore, queue3) }

func TestAccept_SV4_SwapsOnSQLite(t *testing.T) { t.Parallel(); onEach(t, openStore, swaps4) }

func TestAccept_SV8_CasebookOnSQLite(t *testing.T) { t.Parallel(); onEach(t, openStore, books8) }

func sameResults(t *testing.T, s *store.Store) {
	t.Helper()
	start(t, s, nil)
	for _, c := range []struct{ file, format string }{{"go-failures.jsonl", run.JSONL}, {"mux.gotest.json", run.GoTest}} {
		list := entries(t, c.file, c.format)
		d := wait(t, s, submit(t, s, store.Submission{Submitter: "ci", Format: c.format}, list).ID)
		if d.State != store.Done || d.Tried != len(list) {
			t.Errorf("%s: %+v", c.file, d)
		}
		equalLines(t, results(t, s, d.ID), local(t, &work.Opening{Format: c.format}, list))
		for i := range list {
			got := must.Get(s.Trial(t.Context(), store.TrialID{Docket: d.ID, Ordinal: i + 1}))(t)
			if got.Trial.Case.ID != list[i].Case.ID || len(got.Trial.Case.Documents) != len(list[i].Case.Documents) ||
				len(got.Trial.Passes)+len(got.Trial.Light) == 0 && got.Status != trial.Accepted && got.Status != trial.Rejected {
				t.Errorf("%s: trial %d is not whole", c.file, i+1)
			}
		}
	}
}

func records(t *testing.T, s *store.Store) {
	t.Helper()
	key := newKey(t)
	_, stop := start(t, s, func(c *work.Config) { c.Key = key })
	list := entries(t, "demo.jsonl", run.JSONL)
	d := wait(t, s, submit(t, s, store.Submission{Format: run.JSONL}, list).ID)
	check.Equal(t, verify(t, s, d.ID, key), len(list), "trials in the records of", "cases")
	stop()
	// FZ8: cases that were tried before keep their records, and these the key of then (docs/service.md).
	start(t, s, func(c *work.Config) { c.Key = newKey(t) })
	again := wait(t, s, submit(t, s, store.Submission{Format: run.JSONL}, list).ID)
	if n := verify(t, s, again.ID, key); again.ID == d.ID || n != len(list) {
		t.Errorf("docket %d: %d trials of %d cases in the records under the earlier key", again.ID, n, len(list))
	}
}

// verify verifies the records of a docket, and counts their trials.
func verify(t testing.TB, s *store.Store, id int64, key *record.Key) (trials int) {
	t.Helper()
	ids := must.Get(s.Records(t.Context(), id))(t)
	for _, id := range ids {
		body := must.Get(s.Record(t.Context(), id))(t)
		report := must.Get(record.Verify(t.Context(), bytes.NewReader(body), key, nil))(t)
		if !report.Complete() {
			t.Errorf("record %d: %+v", id, report)
		}
		trials += report.Trials
	}
	return trials
}

// The same cases again have the verdicts that they have: nothing is tried twice.
func once(t *testing.T, s *store.Store) {
	t.Helper()
	var tried atomic.Int32
	key := newKey(t)
	start(t, s, func(c *work.Config) {
		c.Key = key
		c.OnCase = func(d work.Done) {
			if d.Result != nil {
				tried.Add(1)
			}
		}
	})
	list := entries(t, "demo.jsonl", run.JSONL)
	list = append(list, list[0]) // one of them twice in a docket
	var all [2]store.Docket
	for i := range all {
		all[i] = wait(t, s, submit(t, s, store.Submission{Format: run.JSONL}, list).ID)
	}
	// Two jobs of one docket may have the twin at once.
	if n := int(tried.Load()); n > len(list) || n < len(list)-1 {
		t.Errorf("%d trials of %d cases", n, len(list)-1)
	}
	equalLines(t, results(t, s, all[1].ID), results(t, s, all[0].ID))
	first, second := must.Get(s.Records(t.Context(), all[0].ID))(t), must.Get(s.Records(t.Context(), all[1].ID))(t)
	if len(first) != len(list)-1 || !slices.Equal(first, second) {
		t.Errorf("%d cases have the records %v and %v", len(list)-1, first, second)
	}
}

// A docket of three cases does not wait for one of hundreds.
func smallBesideLarge(t *testing.T, s *store.Store) {
	t.Helper()
	list := entries(t, "go-failures.jsonl", run.JSONL)
	var many []docket.Entry
	for i := range 6 {
		many = append(many, renamed(list, fmt.Sprint(i, " "))...)
	}
	large := submit(t, s, store.Submission{Submitter: "large", Format: run.JSONL}, many)
	start(t, s, func(c *work.Config) { c.Workers = 1 })
	small := submit(t, s, store.Submission{Submitter: "small", Format: run.JSONL}, renamed(list[:3], "small "))
	wait(t, s, small.ID)
	between := must.Get(s.Docket(t.Context(), large.ID))(t)
	if between.State.Ended() || between.Tried > between.Cases/2 {
		t.Errorf("the large docket had %d of %d trials when the small one was done", between.Tried, between.Cases)
	}
	wait(t, s, large.ID)
}

// A worker that is told to stop ends its trials, and another one goes on.
func stops(t *testing.T, s *store.Store) {
	t.Helper()
	list := entries(t, "go-failures.jsonl", run.JSONL)
	d := submit(t, s, store.Submission{Format: run.JSONL}, list)
	_, stop := start(t, s, nil)
	stop()
	start(t, s, nil)
	wait(t, s, d.ID)
	equalLines(t, results(t, s, d.ID), local(t, &work.Opening{Format: run.JSONL}, list))
}

func TestOneProcessWorksOnAFile(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	start(t, s, nil)
	err := work.New(work.Config{Store: s, Open: openHost}).Run(t.Context(), nil)
	check.Is(t, err, store.ErrInUse, "the second")
}

// A queue that the database does not take at first is worked on later, and the queues behind it are at once.
func TestAQueueThatFailsToStartStartsLater(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "shadowcourt.db")
	s := openDatabase(t, name)
	list := entries(t, "tour.jsonl", "jsonl")[:2]
	first := submit(t, s, store.Submission{Submitter: "first", Format: "jsonl"}, list[:1])
	second := submit(t, s, store.Submission{Submitter: "second", Format: "jsonl"}, list[1:])
	db := must.Get(sql.Open("sqlite", name))(t)
	defer func() { must.Do(t, db.Close()) }()
	must.Get(db.ExecContext(t.Context(), fmt.Sprintf(`CREATE TRIGGER fails BEFORE INSERT ON river_queue WHEN NEW.name = '%s' BEGIN SELECT RAISE(ABORT, 'not now'); END`,
		must.Get(s.CaseQueues(t.Context()))(t)[0])))(t)
	start(t, s, nil)
	wait(t, s, second.ID)
	if d := must.Get(s.Docket(t.Context(), first.ID))(t); d.State != store.Queued {
		t.Errorf("the first docket is %s", d.State)
	}
	must.Get(db.ExecContext(t.Context(), `DROP TRIGGER fails`))(t)
	wait(t, s, first.ID)
}

// The worker that leads removes old dockets, and uploads that nobody goes on with.
func TestTheLeadingWorkerTidiesUp(t *testing.T) {
	t.Parallel()
	var later atomic.Int64
	s := openClocked(t, filepath.Join(t.TempDir(), "shadowcourt.db"), func() time.Time { return time.Now().Add(time.Duration(later.Load())) })
	_, stop := start(t, s, nil)
	list := entries(t, "tour.jsonl", "jsonl")[:2]
	d := wait(t, s, submit(t, s, store.Submission{Format: "jsonl"}, list).ID)
	stop()
	left := must.Get(s.Submit(t.Context(), store.Submission{Format: "jsonl"}))(t)
	must.Do(t, left.Add(t.Context(), &list[0], nil))
	later.Store(int64(91 * 24 * time.Hour))
	start(t, s, func(c *work.Config) { c.Keep = store.Keep{Age: 90 * 24 * time.Hour} })
	until(t, "the docket is removed", func() bool { _, err := s.Docket(t.Context(), d.ID); return errors.Is(err, store.ErrNotFound) })
	if _, _, err := left.Finish(t.Context(), "body", nil); !errors.Is(err, store.ErrState) {
		t.Errorf("an upload that nobody went on with for 91 days: %v", err)
	}
}

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
	first := must.Get(s.CurrentGeneration(t.Context()))(t)
	list := entries(t, "demo.jsonl", run.JSONL)
	second := swapped(t, s, first, "bulwark", changed(t, "bulwark", "second"))
	check := func(d store.Docket, want int64) {
		t.Helper()
		d = wait(t, s, d.ID)
		g := must.Get(s.Generation(t.Context(), want))(t)
		for tried, err := range s.Results(t.Context(), d.ID, 1) {
			must.Do(t, err)
			check.Equal(t, tried.Generation, want, tried.CaseID, "was tried by generation")
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
	start(t, s, nil)
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
	first := must.Get(s.CurrentGeneration(t.Context()))(t)
	start(t, s, nil)
	g := must.Get(s.Generation(t.Context(), first))(t)
	list := entries(t, "demo.jsonl", run.JSONL)
	for name, wasm := range map[string][]byte{"same": changed(t, "specter", "canary"), "fails": trapping()} {
		parts := store.Parts{Modules: g.Modules, Canary: map[string]string{}}
		parts.Canary["specter"] = must.Get(s.AddBlob(t.Context(), wasm))(t)
		next := must.Get(s.AddGeneration(t.Context(), store.Generation{Parts: parts, Share: 1}))(t)
		activated(t, s, next.ID)
		d := wait(t, s, submit(t, s, store.Submission{Format: run.JSONL}, list).ID)
		flips, beside := map[store.TrialID]bool{}, 0
		for tried, err := range s.Trials(t.Context(), d.ID, 1) {
			must.Do(t, err)
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
		listed := must.Get(s.Entries(t.Context(), store.EntryFilter{Generation: next.ID, Flipped: true}))(t)
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

	book := must.Get(casebook.Open(t.Context(), filepath.Join(t.TempDir(), "book.db"), casebook.Options{}))(t)
	defer func() { must.Do(t, book.Close()) }()
	var last store.Correction
	for i := range list {
		e := must.Get(s.Entry(t.Context(), store.TrialID{Docket: before.ID, Ordinal: i + 1}))(t)
		other := e.Labels[slices.IndexFunc(e.Labels, func(label string) bool { return label != e.Label })]
		last = must.Get(s.Correct(t.Context(), "ann", other, []store.TrialID{e.ID}))(t)
		if i == len(list)-1 {
			break // this one is undone below
		}
		var err error
		_, err = book.Remember(t.Context(), casebook.Run{Entries: []casebook.Entry{run.Entry(&list[i].Case,
			&trial.Truth{Classification: other}, &trial.Final{Confidence: e.Confidence})}})
		must.Do(t, err)
	}
	all := wait(t, s, next().ID)
	must.Get(s.Undo(t.Context(), "ann", last.ID))(t)
	after := wait(t, s, next().ID)
	if all.Casebook != int64(len(list)) || after.Casebook != int64(len(list))+1 {
		t.Errorf("revisions %d and %d", all.Casebook, after.Casebook)
	}
	snapshot := must.Get(book.Snapshot(t.Context()))(t)
	defer func() { must.Do(t, snapshot.Close()) }()
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
