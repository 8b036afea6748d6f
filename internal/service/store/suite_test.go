package store_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/service/store"
)

// clock is a clock that goes on by a millisecond with each look.
type clock struct{ millis atomic.Int64 }

func (c *clock) now() time.Time {
	return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC).Add(time.Duration(c.millis.Add(1)) * time.Millisecond)
}

// openLite opens a new store in a file.
func openLite(t *testing.T) *store.Store {
	t.Helper()
	return openAt(t, filepath.Join(t.TempDir(), "shadowcourt.db"))
}

func openAt(t *testing.T, database string) *store.Store {
	t.Helper()
	return openWith(t, database, &clock{})
}

func openWith(t *testing.T, database string, c *clock) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), store.Config{Database: database, Now: c.now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	if _, err := s.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	return s
}

// suite is what both databases must do. open gives an empty store.
func suite(t *testing.T, open func(*testing.T) *store.Store) {
	t.Helper()
	for name, test := range map[string]func(*testing.T, *store.Store){
		"migrate": migrates, "submit": submits, "key": keys, "large": largeDocuments, "text": hostileTexts, "abort": aborts,
		"taken": taken, "cancel": cancels, "inbox": inbox, "correct": corrects, "casebook": casebookLog,
		"remember": remembers, "generations": generations, "people": people, "events": events, "queues": queues, "known labels": knows,
		"counts": counts, "counts at once": countsAtOnce, "pages": pages, "alibi": answersOfTheAlibi,
	} {
		t.Run(name, func(t *testing.T) { test(t, open(t)) })
	}
}

func TestSQLite(t *testing.T) { t.Parallel(); suite(t, openLite) }

func TestAccept_SV1_SQLiteIsMigratedOnce(t *testing.T) {
	t.Parallel()
	for range 5 {
		migratesAtOnce(t, filepath.Join(t.TempDir(), "shadowcourt.db"))
	}
}

// migratesAtOnce opens and migrates a database as programs do that start at the same time.
func migratesAtOnce(t *testing.T, database string) {
	t.Helper()
	var all sync.WaitGroup
	var ran atomic.Int64
	for range 6 {
		all.Go(func() {
			s, err := store.Open(t.Context(), store.Config{Database: database, Now: (&clock{}).now})
			if err != nil {
				t.Error(err)
				return
			}
			defer s.Close()
			names, err := s.Migrate(t.Context())
			if len(names) > 0 {
				ran.Add(1)
			}
			if err := errors.Join(err, s.CheckSchema(t.Context())); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if ran.Load() != 1 {
		t.Errorf("%d programs ran migrations", ran.Load())
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func aCase(id string, texts ...string) abi.Case {
	c := abi.Case{
		ID: id, Subject: "subject of " + id, Group: "suite", Labels: []string{"bug", "flake"},
		Light: &abi.LightAnswer{Classification: "bug", Confidence: 0.5, Reasoning: "why"},
	}
	for i, s := range texts {
		c.Documents = append(c.Documents, abi.Document{Name: fmt.Sprintf("log%d", i), Text: s})
	}
	return c
}

func submit(t *testing.T, s *store.Store, sent store.Submission, entries ...docket.Entry) store.Docket {
	t.Helper()
	d, created := submitBody(t, s, sent, "body", entries...)
	if !created {
		t.Fatal("the docket was there already")
	}
	return d
}

func submitBody(t *testing.T, s *store.Store, sent store.Submission, body string, entries ...docket.Entry) (store.Docket, bool) {
	t.Helper()
	u, err := s.Submit(t.Context(), sent)
	must(t, err)
	for i := range entries {
		must(t, u.Add(t.Context(), &entries[i], nil))
	}
	d, created, err := u.Finish(t.Context(), body, nil)
	must(t, err)
	must(t, u.Abort(t.Context()))
	return d, created
}

func entriesOf(ids ...string) []docket.Entry {
	var list []docket.Entry
	for i, id := range ids {
		list = append(list, docket.Entry{Case: aCase(id, "it failed: "+id), Source: "report.xml", Line: i + 1})
	}
	return list
}

// verdictOf is a made-up trial.
func verdictOf(e *store.Claim, label string, confidence float64) store.NewVerdict {
	fuel := uint64(7)
	r := trial.Result{
		ID: e.Case.ID, Light: &trial.Answer{Classification: "bug", Confidence: 0.5}, Fuel: &fuel,
		Final: trial.Final{Status: trial.Affirmed, Classification: label, Confidence: confidence},
	}
	if label == "" {
		r.Final = trial.Final{Status: trial.Mistrial, Cause: trial.CauseTrap}
	}
	t := &trial.Trial{Result: r, Case: e.Case, LabelNames: map[string]string{"bug": "Bug"}, Passes: []trial.Pass{{Light: *e.Case.Light}}}
	return store.NewVerdict{Digest: e.Digest, Trial: t, Took: time.Millisecond}
}

// tryAll tries all cases that wait, with a verdict by case.
func tryAll(t *testing.T, s *store.Store, verdict func(*store.Claim) store.NewVerdict) {
	t.Helper()
	list, _, err := s.Queued(t.Context())
	must(t, err)
	for _, args := range list {
		c, err := s.BeginCase(t.Context(), args)
		if err == nil {
			err = s.CompleteCase(t.Context(), c, "w", outcome(c, verdict))
		}
		if !errors.Is(err, store.ErrEnded) {
			must(t, err)
		}
	}
}

// begin begins the case of a docket at a place.
func begin(t *testing.T, s *store.Store, d store.Docket, ordinal int) *store.Claim {
	t.Helper()
	c, err := s.BeginCase(t.Context(), store.CaseArgs{Docket: d.ID, Ordinal: ordinal, Generation: d.Generation})
	must(t, err)
	return c
}

func outcome(c *store.Claim, verdict func(*store.Claim) store.NewVerdict) *store.Outcome {
	v := verdict(c)
	return &store.Outcome{Configuration: "c", Verdict: &v, Record: []byte("record\n")}
}

func surely(e *store.Claim) store.NewVerdict { return verdictOf(e, "bug", 0.9) }

func migrates(t *testing.T, s *store.Store) {
	t.Helper()
	ran, err := s.Migrate(t.Context())
	must(t, err)
	if len(ran) != 0 {
		t.Errorf("a second time it ran %q", ran)
	}
	must(t, s.CheckSchema(t.Context()))
	must(t, s.Ping(t.Context()))
	// Older and newer ones are rejected.
	for version, want := range map[int]string{22: "newer version", 20: "before the first release"} {
		must(t, s.Exec(t.Context(), fmt.Sprintf(`DELETE FROM migrations WHERE version <> %d`, version)))
		must(t, s.Exec(t.Context(), fmt.Sprintf(`INSERT INTO migrations (version, name) VALUES (%d, 'x')`, version)))
		_, err := s.Migrate(t.Context())
		if err = errors.Join(err, s.CheckSchema(t.Context())); err == nil || strings.Count(err.Error(), want) != 2 {
			t.Errorf("version %d: %v", version, err)
		}
	}
}

func submits(t *testing.T, s *store.Store) {
	t.Helper()
	u, err := s.Submit(t.Context(), store.Submission{Submitter: "ci", Name: "nightly", Repository: "shop", Format: "jsonl"})
	must(t, err)
	entry := docket.Entry{
		Case: aCase("a"), Members: []abi.Case{aCase("m1"), aCase("m2", "text")}, Source: "x", Line: 3,
		Truth: &trial.Truth{Classification: "flake"}, LabelNames: map[string]string{"flake": "Flaky"},
	}
	must(t, u.Add(t.Context(), &entry, nil))
	must(t, u.Add(t.Context(), &docket.Entry{Source: "x", Line: 4}, errors.New("no JSON")))
	if list, err := s.Dockets(t.Context(), store.DocketFilter{}); err != nil || len(list) != 0 {
		t.Fatalf("while it is received: %v, %v", list, err)
	}
	d, created, err := u.Finish(t.Context(), "body", nil)
	must(t, err)
	if !created || d.State != store.Queued || d.Cases != 2 || d.Tried != 0 || d.Faults != 1 || d.Name != "nightly" || d.BodyDigest != "body" {
		t.Errorf("%v %+v", created, d)
	}
	tryAll(t, s, surely)
	d, err = s.Docket(t.Context(), d.ID)
	must(t, err)
	if d.State != store.Done || d.Tried != 1 || d.Faults != 1 || d.Finished.IsZero() {
		t.Errorf("%+v", d)
	}
	got, err := s.Trial(t.Context(), store.TrialID{Docket: d.ID, Ordinal: 1})
	must(t, err)
	if diff := cmp.Diff(entry.Case, got.Trial.Case); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(entry.Members, got.Trial.Members); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(map[string]string{"bug": "Bug", "flake": "Flaky"}, got.Trial.LabelNames); diff != "" {
		t.Error(diff)
	}
	if got.Trial.Truth.Classification != "flake" || len(got.Trial.Passes) != 1 || got.Label != "bug" || got.Record == 0 {
		t.Errorf("%+v", got)
	}
	count := 0
	for r, err := range s.Results(t.Context(), d.ID, 1) {
		must(t, err)
		if count++; count == 2 && (r.Fault != "no JSON" || r.Trial != nil || r.Line != 4) {
			t.Errorf("%+v", r)
		} else if count == 1 && !cmp.Equal(r.Trial.Result.Members, []string{"m1", "m2"}) {
			t.Errorf("%+v", r.Trial.Result)
		}
	}
	if count != 2 {
		t.Errorf("%d results", count)
	}
	if record, err := s.Record(t.Context(), got.Record); err != nil || string(record) != "record\n" {
		t.Errorf("%q, %v", record, err)
	}
	if ids, err := s.Records(t.Context(), d.ID); err != nil || !cmp.Equal(ids, []int64{got.Record}) {
		t.Errorf("%v, %v", ids, err)
	}
}
