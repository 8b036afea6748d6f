package work_test

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"github.com/shadowcourt/shadowcourt/host/casebook"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/knowledge"
	"github.com/shadowcourt/shadowcourt/host/record"
	"github.com/shadowcourt/shadowcourt/host/run/input"
	"github.com/shadowcourt/shadowcourt/host/service/store"
	"github.com/shadowcourt/shadowcourt/host/service/work"
	"github.com/shadowcourt/shadowcourt/host/trial"
)

// suite is what workers must do on both databases.
func suite(t *testing.T, open func(testing.TB) *store.Store) {
	t.Helper()
	for name, test := range map[string]func(*testing.T, *store.Store){
		"results": sameResults, "records": records, "once": once, "small": smallBesideLarge, "swap": swaps, "canary": canary,
		"casebook": casebooks, "stop": stops,
	} {
		t.Run(name, func(t *testing.T) { test(t, open(t)) })
	}
}

// What a docket of the service comes to is what `try` gives, byte by byte; each trial can be read as a whole; corrections and a
// later docket see one store.
func TestAccept_SV1_ServiceOnSQLite(t *testing.T) {
	t.Parallel()
	suite(t, func(t testing.TB) *store.Store { t.Helper(); return openStore(t) })
}

func sameResults(t *testing.T, s *store.Store) {
	t.Helper()
	start(t, s, nil)
	for _, c := range []struct{ file, format string }{{"go-failures.jsonl", input.JSONL}, {"mux.gotest.json", input.GoTest}} {
		list := entries(t, c.file, c.format)
		d := wait(t, s, submit(t, s, store.Submission{Submitter: "ci", Format: c.format}, list).ID)
		if d.State != store.Done || d.Tried != len(list) {
			t.Errorf("%s: %+v", c.file, d)
		}
		equalLines(t, results(t, s, d.ID), local(t, &work.Opening{Format: c.format}, list))
		for i := range list {
			got, err := s.Trial(t.Context(), store.TrialID{Docket: d.ID, Ordinal: i + 1})
			must(t, err)
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
	start(t, s, func(c *work.Config) { c.Key = key })
	list := entries(t, "demo.jsonl", input.JSONL)
	d := wait(t, s, submit(t, s, store.Submission{Format: input.JSONL}, list).ID)
	if n := verify(t, s, d.ID, key); n != len(list) {
		t.Errorf("%d trials in the records of %d cases", n, len(list))
	}
}

// verify verifies the records of a docket, and counts their trials.
func verify(t testing.TB, s *store.Store, id int64, key *record.Key) (trials int) {
	t.Helper()
	ids, err := s.Records(t.Context(), id)
	must(t, err)
	for _, id := range ids {
		body, err := s.Record(t.Context(), id)
		must(t, err)
		report, err := record.Verify(t.Context(), bytes.NewReader(body), key, nil)
		must(t, err)
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
	batches := make(chan work.Batch, 1000)
	start(t, s, func(c *work.Config) { c.OnBatch = func(b work.Batch) { batches <- b } })
	list := entries(t, "demo.jsonl", input.JSONL)
	list = append(list, list[0]) // one of them twice in a docket
	var all [2]store.Docket
	for i := range all {
		all[i] = wait(t, s, submit(t, s, store.Submission{Format: input.JSONL}, list).ID)
	}
	tried := 0
	for len(batches) > 0 {
		tried += (<-batches).Tried
	}
	// Two batches of one docket may have the twin at once.
	if tried > len(list) || tried < len(list)-1 {
		t.Errorf("%d trials of %d cases", tried, len(list)-1)
	}
	equalLines(t, results(t, s, all[1].ID), results(t, s, all[0].ID))
	if n, err := s.CountVerdicts(t.Context()); err != nil || n != len(list)-1 {
		t.Errorf("%d verdicts of %d cases, %v", n, len(list)-1, err)
	}
}

// A docket of three cases does not wait for one of hundreds.
func smallBesideLarge(t *testing.T, s *store.Store) {
	t.Helper()
	list := entries(t, "go-failures.jsonl", input.JSONL)
	var many []docket.Entry
	for i := range 6 {
		many = append(many, renamed(list, fmt.Sprint(i, " "))...)
	}
	large := submit(t, s, store.Submission{Submitter: "large", Format: input.JSONL}, many)
	start(t, s, func(c *work.Config) { c.Workers = 1 })
	small := submit(t, s, store.Submission{Submitter: "small", Format: input.JSONL}, renamed(list[:3], "small "))
	wait(t, s, small.ID)
	between, err := s.Docket(t.Context(), large.ID)
	must(t, err)
	if between.State.Ended() || between.Tried > between.Cases/2 {
		t.Errorf("the large docket had %d of %d trials when the small one was done", between.Tried, between.Cases)
	}
	wait(t, s, large.ID)
}

// TestAccept_SV4: a swap, a rollback and a module that does not load.
func swaps(t *testing.T, s *store.Store) {
	t.Helper()
	first, err := s.CurrentGeneration(t.Context())
	must(t, err)
	w, _ := start(t, s, func(c *work.Config) { c.Formats = []string{input.JSONL} })
	list := entries(t, "demo.jsonl", input.JSONL)
	second := swapped(t, s, first, "bulwark", changed(t, "bulwark", "second"))
	broken := swapped(t, s, first, "bulwark", []byte("\x00asm no module"))
	activate := func(generation int64, want store.ActivationState) store.Activation {
		t.Helper()
		a, err := s.Activate(t.Context(), "test", generation)
		must(t, err)
		if a = settled(t, s, a); a.State != want {
			t.Fatalf("generation %d: %+v", generation, a)
		}
		return a
	}
	try := func(sent store.Submission, want int64) {
		t.Helper()
		sent.Format = input.JSONL
		d := wait(t, s, submit(t, s, sent, list).ID)
		g, err := s.Generation(t.Context(), want)
		must(t, err)
		for tried, err := range s.Results(t.Context(), d.ID, 1) {
			must(t, err)
			if tried.Generation != want {
				t.Errorf("%s was tried by generation %d instead of %d", tried.CaseID, tried.Generation, want)
			}
			for _, digest := range tried.Trial.Result.Modules {
				if !slices.Contains(g.Parts.Digests(), record.Digest(digest).Hex()) {
					t.Errorf("%s: module %s is not of generation %d", tried.CaseID, digest, want)
				}
			}
		}
	}
	try(store.Submission{}, first)
	activate(second.ID, store.Active)
	try(store.Submission{}, second.ID)
	try(store.Submission{Generation: first}, first)
	if a := activate(broken.ID, store.Rejected); len(a.Loads) != 1 || a.Loads[0].Worker != w.ID() || a.Loads[0].Fault == "" || a.Reason == "" {
		t.Errorf("%+v", a)
	}
	try(store.Submission{}, second.ID)
	activate(first, store.Active)
	try(store.Submission{}, first)
}

func canary(t *testing.T, s *store.Store) {
	t.Helper()
	first, err := s.CurrentGeneration(t.Context())
	must(t, err)
	start(t, s, nil)
	g, err := s.Generation(t.Context(), first)
	must(t, err)
	parts := store.Parts{Modules: g.Parts.Modules, Canary: map[string]string{}}
	// The judge of the candidate is played by a module that is the same but for its digest.
	const judge = "specter"
	parts.Canary[judge], err = s.AddBlob(t.Context(), changed(t, "challenger", "canary"))
	must(t, err)
	next, err := s.AddGeneration(t.Context(), store.Generation{Parts: parts, Share: 1})
	must(t, err)
	a, err := s.Activate(t.Context(), "test", next.ID)
	must(t, err)
	if a = settled(t, s, a); a.State == store.Active {
		t.Errorf("a challenger plays the judge: %+v", a)
	}
	parts.Canary[judge], err = s.AddBlob(t.Context(), changed(t, judge, "canary"))
	must(t, err)
	next, err = s.AddGeneration(t.Context(), store.Generation{Parts: parts, Share: 1})
	must(t, err)
	a, err = s.Activate(t.Context(), "test", next.ID)
	must(t, err)
	if a = settled(t, s, a); a.State != store.Active {
		t.Fatalf("%+v", a)
	}
	list := entries(t, "demo.jsonl", input.JSONL)
	d := wait(t, s, submit(t, s, store.Submission{Format: input.JSONL}, list).ID)
	beside := 0
	for tried, err := range s.Trials(t.Context(), d.ID, 1) {
		must(t, err)
		if tried.Trial.Beside != nil {
			beside++
			if tried.Beside.Status != tried.Trial.Beside.Result.Final.Status || tried.Trial.Beside.Case.ID != tried.CaseID {
				t.Errorf("%s: %+v", tried.CaseID, tried.Beside)
			}
		}
	}
	if beside == 0 {
		t.Error("the candidate tried nothing")
	}
	equalLines(t, results(t, s, d.ID), local(t, &work.Opening{Format: input.JSONL}, list))
	if n, err := s.CountEntries(t.Context(), store.EntryFilter{Docket: d.ID, Flipped: true}); err != nil || n != 0 {
		t.Errorf("%d flips by the same code, %v", n, err)
	}
}

// TestAccept_SV8: a correction is in the casebook of the next docket, and not in that of one before; one that was taken back is
// in none. The answers are those of a casebook file with the same verdicts.
func casebooks(t *testing.T, s *store.Store) {
	t.Helper()
	start(t, s, nil)
	list := entries(t, "go-failures.jsonl", input.JSONL)[:12]
	for i := range list {
		list[i].Case.Light = nil // the Light path classifies them
		list[i].Truth = nil
	}
	submitted := func() store.Docket { return submit(t, s, store.Submission{Format: input.JUnit}, list) }
	o := &work.Opening{Format: input.JUnit}
	before := wait(t, s, submitted().ID)
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
		_, err = book.Remember(t.Context(), casebook.Run{Entries: []casebook.Entry{knowledge.Entry(&list[i].Case,
			&trial.Truth{Classification: other}, &trial.Final{Confidence: e.Confidence})}})
		must(t, err)
	}
	all := wait(t, s, submitted().ID)
	_, err = s.Undo(t.Context(), "ann", last.ID)
	must(t, err)
	after := wait(t, s, submitted().ID)
	if all.Casebook != int64(len(list)) || after.Casebook != int64(len(list))+1 {
		t.Errorf("revisions %d and %d", all.Casebook, after.Casebook)
	}
	snapshot, err := book.Snapshot(t.Context())
	must(t, err)
	defer func() { must(t, snapshot.Close()) }()
	got := results(t, s, after.ID)
	equalLines(t, got, localWith(t, o, list, knowledge.Casebook(snapshot)))
	if slices.Equal(got, plain) {
		t.Error("the corrections change nothing")
	}
	if slices.Equal(got, results(t, s, all.ID)) {
		t.Error("the correction that was taken back changes nothing")
	}
	equalLines(t, results(t, s, before.ID), plain)
}

// A worker that is told to stop ends its batches, and another one goes on.
func stops(t *testing.T, s *store.Store) {
	t.Helper()
	list := entries(t, "go-failures.jsonl", input.JSONL)
	d := submit(t, s, store.Submission{Format: input.JSONL}, list)
	_, stop := start(t, s, nil)
	stop()
	if jobs, err := s.RunningJobs(t.Context(), ""); err != nil || len(jobs) != 0 {
		t.Errorf("jobs that run behind the stop: %v, %v", jobs, err)
	}
	if workers, err := s.Workers(t.Context()); err != nil || len(workers) != 0 {
		t.Errorf("workers behind the stop: %v, %v", workers, err)
	}
	start(t, s, nil)
	wait(t, s, d.ID)
	equalLines(t, results(t, s, d.ID), local(t, &work.Opening{Format: input.JSONL}, list))
}

func TestOneProcessWorksOnAFile(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	start(t, s, nil)
	err := work.New(work.Config{Store: s, Open: openHost}).Run(t.Context(), nil)
	if !errors.Is(err, store.ErrInUse) {
		t.Errorf("the second: %v", err)
	}
}
