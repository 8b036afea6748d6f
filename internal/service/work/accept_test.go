package work_test

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/record"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/run"
	"github.com/shadowcourt/shadowcourt/internal/service/store"
	"github.com/shadowcourt/shadowcourt/internal/service/work"
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
	_, stop := start(t, s, func(c *work.Config) { c.Key = key })
	list := entries(t, "demo.jsonl", run.JSONL)
	d := wait(t, s, submit(t, s, store.Submission{Format: run.JSONL}, list).ID)
	if n := verify(t, s, d.ID, key); n != len(list) {
		t.Errorf("%d trials in the records of %d cases", n, len(list))
	}
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
	var tried atomic.Int32
	start(t, s, func(c *work.Config) {
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
	if n, err := s.CountVerdicts(t.Context()); err != nil || n != len(list)-1 {
		t.Errorf("%d verdicts of %d cases, %v", n, len(list)-1, err)
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
	between, err := s.Docket(t.Context(), large.ID)
	must(t, err)
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
	if !errors.Is(err, store.ErrInUse) {
		t.Errorf("the second: %v", err)
	}
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
	left, err := s.Submit(t.Context(), store.Submission{Format: "jsonl"})
	must(t, err)
	must(t, left.Add(t.Context(), &list[0], nil))
	later.Store(int64(91 * 24 * time.Hour))
	start(t, s, func(c *work.Config) { c.Keep = store.Keep{Age: 90 * 24 * time.Hour} })
	until(t, "the docket is removed", func() bool { _, err := s.Docket(t.Context(), d.ID); return errors.Is(err, store.ErrNotFound) })
	if _, _, err := left.Finish(t.Context(), "body", nil); !errors.Is(err, store.ErrState) {
		t.Errorf("an upload that nobody went on with for 91 days: %v", err)
	}
}
