package store_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
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
	"github.com/shadowcourt/shadowcourt/internal/testkit/check"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
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
	s := must.Get(store.Open(t.Context(), store.Config{Database: database, Now: c.now}))(t)
	t.Cleanup(s.Close)
	must.Get(s.Migrate(t.Context()))(t)
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
	check.Equal(t, ran.Load(), 1, "programs ran migrations")
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
	u := must.Get(s.Submit(t.Context(), sent))(t)
	for i := range entries {
		must.Do(t, u.Add(t.Context(), &entries[i], nil))
	}
	d, created, err := u.Finish(t.Context(), body, nil)
	must.Do(t, err)
	must.Do(t, u.Abort(t.Context()))
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
	must.Do(t, err)
	for _, args := range list {
		c, err := s.BeginCase(t.Context(), args)
		if err == nil {
			err = s.CompleteCase(t.Context(), c, "w", outcome(c, verdict))
		}
		if !errors.Is(err, store.ErrEnded) {
			must.Do(t, err)
		}
	}
}

// begin begins the case of a docket at a place.
func begin(t *testing.T, s *store.Store, d store.Docket, ordinal int) *store.Claim {
	t.Helper()
	return must.Get(s.BeginCase(t.Context(), store.CaseArgs{Docket: d.ID, Ordinal: ordinal, Generation: d.Generation}))(t)
}

func outcome(c *store.Claim, verdict func(*store.Claim) store.NewVerdict) *store.Outcome {
	v := verdict(c)
	return &store.Outcome{Configuration: "c", Verdict: &v, Record: []byte("record\n")}
}

func surely(e *store.Claim) store.NewVerdict { return verdictOf(e, "bug", 0.9) }

func migrates(t *testing.T, s *store.Store) {
	t.Helper()
	same(t, "what ran a second time", len(must.Get(s.Migrate(t.Context()))(t)), 0)
	must.Do(t, s.CheckSchema(t.Context()))
	must.Do(t, s.Ping(t.Context()))
	// Older and newer ones are rejected.
	rejects := func(version, want string) {
		t.Helper()
		must.Do(t, s.Exec(t.Context(), `UPDATE migrations SET version = `+version))
		_, err := s.Migrate(t.Context())
		if err = errors.Join(err, s.CheckSchema(t.Context())); err == nil || strings.Count(err.Error(), want) != 2 {
			t.Errorf("version %s: %v", version, err)
		}
	}
	rejects("22", "newer version")
	rejects("20", "before the first release")
	must.Do(t, s.AddQueueVersion(t.Context(), 99))
	rejects("21", "newer version")
}

func submits(t *testing.T, s *store.Store) {
	t.Helper()
	u := must.Get(s.Submit(t.Context(), store.Submission{Submitter: "ci", Name: "nightly", Repository: "shop", Format: "jsonl"}))(t)
	entry := docket.Entry{
		Case: aCase("a"), Members: []abi.Case{aCase("m1"), aCase("m2", "text")}, Source: "x", Line: 3,
		Truth: &trial.Truth{Classification: "flake"}, LabelNames: map[string]string{"flake": "Flaky"},
	}
	must.Do(t, u.Add(t.Context(), &entry, nil))
	must.Do(t, u.Add(t.Context(), &docket.Entry{Source: "x", Line: 4}, errors.New("no JSON")))
	same(t, "dockets while it is received", len(must.Get(s.Dockets(t.Context(), store.DocketFilter{}))(t)), 0)
	d, created, err := u.Finish(t.Context(), "body", nil)
	must.Do(t, err)
	if !created || d.State != store.Queued || d.Cases != 2 || d.Tried != 0 || d.Faults != 1 || d.Name != "nightly" || d.BodyDigest != "body" {
		t.Errorf("%v %+v", created, d)
	}
	tryAll(t, s, surely)
	d = must.Get(s.Docket(t.Context(), d.ID))(t)
	if d.State != store.Done || d.Tried != 1 || d.Faults != 1 || d.Finished.IsZero() {
		t.Errorf("%+v", d)
	}
	got := must.Get(s.Trial(t.Context(), store.TrialID{Docket: d.ID, Ordinal: 1}))(t)
	same(t, "the case", got.Trial.Case, entry.Case)
	same(t, "the members", got.Trial.Members, entry.Members)
	same(t, "the names of labels", got.Trial.LabelNames, map[string]string{"bug": "Bug", "flake": "Flaky"})
	if got.Trial.Truth.Classification != "flake" || len(got.Trial.Passes) != 1 || got.Label != "bug" || got.Record == 0 {
		t.Errorf("%+v", got)
	}
	count := 0
	for r, err := range s.Results(t.Context(), d.ID, 1) {
		must.Do(t, err)
		if count++; count == 2 && (r.Fault != "no JSON" || r.Trial != nil || r.Line != 4) {
			t.Errorf("%+v", r)
		} else if count == 1 && !cmp.Equal(r.Trial.Result.Members, []string{"m1", "m2"}) {
			t.Errorf("%+v", r.Trial.Result)
		}
	}
	same(t, "results", count, 2)
	same(t, "the record", string(must.Get(s.Record(t.Context(), got.Record))(t)), "record\n")
	same(t, "records", must.Get(s.Records(t.Context(), d.ID))(t), []int64{got.Record})
}

func keys(t *testing.T, s *store.Store) {
	t.Helper()
	sent := store.Submission{Submitter: "ci", Key: "k"}
	first, created := submitBody(t, s, sent, "one", entriesOf("a")...)
	if !created {
		t.Error("not created")
	}
	again, created := submitBody(t, s, sent, "one", entriesOf("a")...)
	if created || again.ID != first.ID {
		t.Errorf("again: %v, %d and %d", created, first.ID, again.ID)
	}
	u := must.Get(s.Submit(t.Context(), sent))(t)
	if _, _, err := u.Finish(t.Context(), "two", nil); !errors.Is(err, store.ErrKeyReused) {
		t.Errorf("another body: %v", err)
	}
	must.Do(t, u.Abort(t.Context()))
	if _, created = submitBody(t, s, store.Submission{Submitter: "other", Key: "k"}, "two"); !created {
		t.Error("the key of another submitter is another key")
	}
	// Two uploads at once, of which both end.
	one := must.Get(s.Submit(t.Context(), store.Submission{Submitter: "ci", Key: "race"}))(t)
	two := must.Get(s.Submit(t.Context(), store.Submission{Submitter: "ci", Key: "race"}))(t)
	d1, created1, err := one.Finish(t.Context(), "x", nil)
	must.Do(t, err)
	d2, created2, err := two.Finish(t.Context(), "x", nil)
	must.Do(t, err)
	must.Do(t, two.Abort(t.Context()))
	if d1.ID != d2.ID || !created1 || created2 {
		t.Errorf("%d %v, %d %v", d1.ID, created1, d2.ID, created2)
	}
	same(t, "dockets", len(must.Get(s.Dockets(t.Context(), store.DocketFilter{}))(t)), 3)
}

func largeDocuments(t *testing.T, s *store.Store) {
	t.Helper()
	long := strings.Repeat("a line of a log\n", 2000)
	a, b := aCase("a", long, "short"), aCase("b", "", long, long+"x")
	d := submit(t, s, store.Submission{Submitter: "ci"}, docket.Entry{Case: a}, docket.Entry{Case: b})
	if n, bytes, err := s.DocumentsKept(t.Context()); err != nil || n != 2 || bytes < int64(2*len(long)) {
		t.Errorf("%d documents of %d bytes, %v", n, bytes, err)
	}
	same(t, "cases", []abi.Case{begin(t, s, d, 1).Case, begin(t, s, d, 2).Case}, []abi.Case{a, b})
}

func hostileTexts(t *testing.T, s *store.Store) {
	t.Helper()
	c := aCase("a\x00b", "nul \x00 in a text")
	c.Subject, c.Group, c.Labels = "\u202e%_\\'\"; DROP TABLE dockets; --\x00", "\x00", []string{"\x00", "'"}
	c.Light.Classification = "'"
	sent := store.Submission{Submitter: "\x00\xff", Name: strings.Repeat("\u00e9", 2000), Repository: "\x00", Revision: "\x00", Key: "\x00"}
	d := submit(t, s, sent, docket.Entry{
		Case: c, Source: "\xff\x00", Truth: &trial.Truth{Classification: "\x00"}, LabelNames: map[string]string{"\x00": "\x00"}, Members: []abi.Case{aCase("\x00", "\x00")},
	})
	tryAll(t, s, func(e *store.Claim) store.NewVerdict { return verdictOf(e, "\x00", 0.3) })
	got := must.Get(s.Trial(t.Context(), store.TrialID{Docket: d.ID, Ordinal: 1}))(t)
	same(t, "the case", got.Trial.Case, c)
	for _, text := range []string{"%", "_", `\`, "'", "\x00", "drop table"} {
		must.Get(s.CountEntries(t.Context(), store.EntryFilter{Text: text}))(t)
	}
	if got.Trial.Truth.Classification != "\x00" || got.Trial.Members[0].ID != "\x00" || got.Trial.LabelNames["\x00"] != "\x00" {
		t.Errorf("%+v", got.Trial)
	}
	// What is listed and compared has a placeholder for it.
	same(t, "the correction", must.Get(s.Correct(t.Context(), "me", "\x00", []store.TrialID{got.ID}))(t).Label, "\uFFFD")
	if c := must.Get(s.CountsOf(t.Context(), d.ID))(t)[d.ID]; c.Known != 1 || c.Right != 1 {
		t.Errorf("%+v", c)
	}
}

func aborts(t *testing.T, s *store.Store) {
	t.Helper()
	u := must.Get(s.Submit(t.Context(), store.Submission{Submitter: "ci", Key: "k"}))(t)
	entry := entriesOf("a")[0]
	for range 600 { // more than a transaction takes
		must.Do(t, u.Add(t.Context(), &entry, nil))
	}
	must.Do(t, u.Abort(t.Context()))
	same(t, "entries", must.Get(s.CountEntries(t.Context(), store.EntryFilter{}))(t), 0)
	left := must.Get(s.Submit(t.Context(), store.Submission{Submitter: "ci"}))(t)
	must.Do(t, s.RemoveStaleUploads(t.Context(), 0))
	_, _, err := left.Finish(t.Context(), "x", nil)
	check.Is(t, err, store.ErrState, "after it was removed")
	same(t, "cases that are sent again", submit(t, s, store.Submission{Submitter: "ci", Key: "k"}, entry).Cases, 1)
}

// taken has two workers try a case, as when the queue takes the first one for lost: one verdict and its record are kept.
func taken(t *testing.T, s *store.Store) {
	t.Helper()
	ctx := t.Context()
	d := submit(t, s, store.Submission{Submitter: "ci"}, entriesOf("a", "b")...)
	slow, quick := begin(t, s, d, 1), begin(t, s, d, 1)
	must.Do(t, s.CompleteCase(ctx, quick, "quick", outcome(quick, surely)))
	for _, late := range []*store.Outcome{outcome(slow, surely), {Fault: slow.Untried()}} {
		check.Is(t, s.CompleteCase(ctx, slow, "slow", late), store.ErrEnded, "the slow one")
	}
	check.Is(t, check.Err(s.BeginCase(ctx, store.CaseArgs{Docket: d.ID, Ordinal: 1})), store.ErrEnded, "begun again")
	if d, err := s.Docket(ctx, d.ID); err != nil || d.Tried != 1 || d.Faults != 0 {
		t.Errorf("%+v, %v", d, err)
	}
	same(t, "cases that wait", must.Get(s.Waiting(ctx))(t), int64(1))
	last := begin(t, s, d, 2)
	must.Do(t, s.CompleteCase(ctx, last, "quick", &store.Outcome{Fault: last.Untried()}))
	same(t, "records", len(must.Get(s.Records(ctx, d.ID))(t)), 1)
	if d, err := s.Docket(ctx, d.ID); err != nil || d.State != store.Done || d.Faults != 1 {
		t.Errorf("%+v, %v", d, err)
	}
}

func cancels(t *testing.T, s *store.Store) {
	t.Helper()
	d := submit(t, s, store.Submission{Submitter: "ci"}, entriesOf("a", "b")...)
	c := begin(t, s, d, 1)
	must.Do(t, s.Cancel(t.Context(), d.ID))
	check.Is(t, s.CompleteCase(t.Context(), c, "w", outcome(c, surely)), store.ErrEnded, "completed")
	if list, _, err := s.Queued(t.Context()); err != nil || len(list) != 0 {
		t.Errorf("%d jobs wait, %v", len(list), err)
	}
	check.Is(t, s.Cancel(t.Context(), d.ID), store.ErrState, "twice")
	check.Is(t, s.Cancel(t.Context(), d.ID+1), store.ErrNotFound, "another")
}

// queues: the jobs of a repository, and of a submitter that names none, are in a queue of their own, and name the generation that was in force when
// the docket was received.
func queues(t *testing.T, s *store.Store) {
	t.Helper()
	ctx := t.Context()
	first := must.Get(s.BeginWith(ctx, store.Generation{}))(t)
	next := must.Get(s.AddGeneration(ctx, store.Generation{}))(t)
	d := submit(t, s, store.Submission{Submitter: "ci", Repository: "shop"}, entriesOf("a", "b")...)
	must.Get(s.Activate(ctx, "ann", next.ID))(t)
	submit(t, s, store.Submission{Submitter: "bob", Repository: "shop"}, entriesOf("c")...)
	submit(t, s, store.Submission{Submitter: "ci"}, entriesOf("d")...)
	submit(t, s, store.Submission{Submitter: "ci", Generation: first}, entriesOf("e")...)
	list, names, err := s.Queued(ctx)
	must.Do(t, err)
	want := []store.CaseArgs{
		{Docket: 1, Ordinal: 1, Generation: first},
		{Docket: 1, Ordinal: 2, Generation: first},
		{Docket: 2, Ordinal: 1, Generation: next.ID},
		{Docket: 3, Ordinal: 1, Generation: next.ID},
		{Docket: 4, Ordinal: 1, Generation: first},
	}
	if d.Generation != first || !cmp.Equal(list, want) {
		t.Errorf("%+v", list)
	}
	if names[1] != names[0] || names[2] != names[0] || names[3] == names[0] || names[4] != names[3] {
		t.Errorf("queues %v", names)
	}
	same(t, "queues with cases", must.Get(s.CaseQueues(ctx))(t), []string{names[0], names[3]})
	tryAll(t, s, surely)
	same(t, "queues behind the last case", len(must.Get(s.CaseQueues(ctx))(t)), 0)
}

func people(t *testing.T, s *store.Store) {
	t.Helper()
	ctx := t.Context()
	token := must.Get(s.AddToken(ctx, "hash", store.Token{Name: "ci", Submitter: "shop", Scopes: []string{"submit", "review"}}))(t)
	if got, err := s.Token(ctx, "hash"); err != nil || got.ID != token.ID || !cmp.Equal(got.Scopes, token.Scopes) {
		t.Errorf("%+v, %v", got, err)
	}
	must.Do(t, s.RevokeToken(ctx, token.ID))
	check.Is(t, check.Err(s.Token(ctx, "hash")), store.ErrNotFound, "revoked")
	check.Is(t, s.RevokeToken(ctx, token.ID), store.ErrNotFound, "twice")
	if list, err := s.Tokens(ctx); err != nil || len(list) != 1 || list[0].Revoked.IsZero() || list[0].Used.IsZero() {
		t.Errorf("%+v, %v", list, err)
	}
	must.Get(s.AddToken(ctx, "short", store.Token{Name: "x", Expires: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}))(t)
	check.Is(t, check.Err(s.Token(ctx, "short")), store.ErrNotFound, "expired")
	late := time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC)
	must.Do(t, s.AddSession(ctx, "s", store.Session{Subject: "ann", Name: "Ann", Scopes: []string{"review"}, Data: "d", Expires: late}))
	if n, err := s.Session(ctx, "s"); err != nil || n.Subject != "ann" || n.Data != "d" || !n.Expires.Equal(late) {
		t.Errorf("%+v, %v", n, err)
	}
	must.Do(t, s.RemoveSession(ctx, "s"))
	check.Is(t, check.Err(s.Session(ctx, "s")), store.ErrNotFound, "removed")
	must.Do(t, s.Log(ctx, store.Action{Author: "ann", Action: "token.revoke", Target: "token 1"}))
	if list, err := s.AuditLog(ctx, 0, 10); err != nil || len(list) != 1 || list[0].Author != "ann" {
		t.Errorf("%+v, %v", list, err)
	}
}

func events(t *testing.T, s *store.Store) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	changes := s.Subscribe(ctx)
	d := submit(t, s, store.Submission{Submitter: "ci"}, entriesOf("a")...)
	for {
		select {
		case e := <-changes:
			if e == (store.Event{Kind: store.EventDocket, ID: d.ID}) {
				stop()
				for range changes {
				}
				return
			}
		case <-time.After(30 * time.Second):
			t.Fatal("no event")
		}
	}
}

const month = 30 * 24 * time.Hour

func retains(t *testing.T, s *store.Store, c *clock) {
	t.Helper()
	ctx := t.Context()
	long := strings.Repeat("a line of a log\n", 1000)
	entry := func(id, text string) docket.Entry { return docket.Entry{Case: aCase(id, text)} }
	with := entry("with members", long+"member")
	with.Members = []abi.Case{aCase("member", long+"own")}
	old := submit(t, s, store.Submission{}, entry("old", long), entry("shared", long+"shared"), with, entry("corrected", long+"corrected"))
	tryAll(t, s, surely)
	must.Get(s.Correct(ctx, "ann", "flake", []store.TrialID{{Docket: old.ID, Ordinal: 4}}))(t)
	c.millis.Add(4 * month.Milliseconds())
	young := submit(t, s, store.Submission{}, entry("young", long+"young"), entry("shared", long+"shared"))
	tryAll(t, s, surely)
	waiting := submit(t, s, store.Submission{}, entry("waits", long+"waits"))

	removed := must.Get(s.Retain(ctx, store.Keep{Age: 3 * month}))(t)
	// The docket stays for its correction; of the cases "old", "with members" and "member" go. The verdict of "shared" is that of
	// the later docket, too.
	want := store.Removed{Entries: 3, Verdicts: 2, Cases: 3, Documents: 3, Records: 2}
	same(t, "removed", removed, want)
	same(t, "removed again", must.Get(s.Retain(ctx, store.Keep{Age: 3 * month}))(t), store.Removed{})
	for _, id := range []store.TrialID{{Docket: old.ID, Ordinal: 4}, {Docket: young.ID, Ordinal: 1}, {Docket: young.ID, Ordinal: 2}, {Docket: waiting.ID, Ordinal: 1}} {
		must.Get(s.Trial(ctx, id))(t)
	}
	if _, _, _, err := s.CasebookRun(ctx, 1, ""); err != nil {
		t.Errorf("what the casebook learned: %v", err)
	}

	check.Equal(t, must.Get(s.Retain(ctx, store.Keep{Bytes: 1}))(t).Dockets, 0, "for want of room, of dockets whose cases can't go yet")
	c.millis.Add(month.Milliseconds())
	removed = must.Get(s.Retain(ctx, store.Keep{Bytes: 1}))(t)
	// What waits, and what was corrected, stays whatever it takes.
	if removed.Dockets != 1 || removed.Entries != 2 || removed.Records == 0 {
		t.Errorf("for want of room: %+v", removed)
	}
	tryAll(t, s, surely)

	// More entries than a transaction removes: those of the next one stay counted once.
	var many []string
	for i := range 1100 {
		many = append(many, fmt.Sprint("one of many ", i))
	}
	large := submit(t, s, store.Submission{}, entriesOf(many...)...)
	tryAll(t, s, surely)
	c.millis.Add(4 * month.Milliseconds())
	removed = must.Get(s.Retain(ctx, store.Keep{Age: 3 * month}))(t)
	must.Do(t, s.Recount(ctx))
	if _, err := s.Docket(ctx, large.ID); removed.Entries < int64(len(many)) || !errors.Is(err, store.ErrNotFound) {
		t.Errorf("of a large docket: %+v, %v", removed, err)
	}
}

func TestRetention(t *testing.T) {
	t.Parallel()
	c := &clock{}
	retains(t, openWith(t, t.TempDir()+"/shadowcourt.db", c), c)
}

// Pages read no rows of cases that they don't show: SQLite takes the indexes that are made for them.
func TestPagesUseIndexes(t *testing.T) {
	t.Parallel()
	s := openLite(t)
	const open = `correction = 0 AND status <> '' AND doubt >= 0.2`
	for query, want := range map[string]string{
		`SELECT grp, count(*), sum(doubt), sum(member_count), count(DISTINCT docket), max(created) FROM entries WHERE ` + open + ` AND repository = 'x' AND label = 'y' GROUP BY grp`: "COVERING INDEX entries_inbox",
		`SELECT grp || '', count(*), count(DISTINCT docket) FROM entries WHERE ` + open + ` AND instr(words, 'x') > 0 AND docket > 0 GROUP BY 1`:                                      "INDEX entries_waiting",
		`SELECT subject FROM entries WHERE ` + open + ` AND grp = 'x' ORDER BY docket DESC, ordinal LIMIT 50`:                                                                         "INDEX entries_inbox",
		`SELECT 1 FROM entries WHERE ` + open + ` AND grp = 'x' AND docket = 1`:                                                                                                       "COVERING INDEX entries_inbox",
		`SELECT subject FROM entries WHERE generation = 1 AND beside_status <> '' AND (beside_status <> status OR beside_label <> label) ORDER BY docket DESC, ordinal LIMIT 100`:     "INDEX entries_flipped",
		`UPDATE entries SET correction = 1 WHERE (docket, ordinal) IN (SELECT docket, ordinal FROM correction_entries WHERE correction = 1)`:                                          "SEARCH entries USING",
	} {
		text := strings.Join(must.Get(s.Plan(t.Context(), query))(t), "\n")
		if !strings.Contains(text, want) || strings.Contains(text, "TEMP B-TREE FOR ORDER") {
			t.Errorf("%s:\n%s", query, text)
		}
	}
}

// TestAccept_HS3_TheQueueIsUsedByItsAPI: no statement of the service names a table of River.
func TestAccept_HS3_TheQueueIsUsedByItsAPI(t *testing.T) {
	t.Parallel()
	table := regexp.MustCompile(`(?i)\b(?:from|into|update|join|table)\s+river_`)
	files := 0
	must.Do(t, filepath.WalkDir("..", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".go" {
			return err
		}
		files++
		text, err := os.ReadFile(path)
		if found := table.Find(text); found != nil || strings.Contains(string(text), "river_"+"job") {
			t.Errorf("%s reads or writes tables of the queue: %q", path, found)
		}
		return err
	}))
	if files < 50 {
		t.Errorf("only %d files were read", files)
	}
}
