package store_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/service/store"
)

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
	u, err := s.Submit(t.Context(), sent)
	must(t, err)
	if _, _, err := u.Finish(t.Context(), "two", nil); !errors.Is(err, store.ErrKeyReused) {
		t.Errorf("another body: %v", err)
	}
	must(t, u.Abort(t.Context()))
	if _, created = submitBody(t, s, store.Submission{Submitter: "other", Key: "k"}, "two"); !created {
		t.Error("the key of another submitter is another key")
	}
	// Two uploads at once, of which both end.
	one, err := s.Submit(t.Context(), store.Submission{Submitter: "ci", Key: "race"})
	must(t, err)
	two, err := s.Submit(t.Context(), store.Submission{Submitter: "ci", Key: "race"})
	must(t, err)
	d1, created1, err := one.Finish(t.Context(), "x", nil)
	must(t, err)
	d2, created2, err := two.Finish(t.Context(), "x", nil)
	must(t, err)
	must(t, two.Abort(t.Context()))
	if d1.ID != d2.ID || !created1 || created2 {
		t.Errorf("%d %v, %d %v", d1.ID, created1, d2.ID, created2)
	}
	if list, err := s.Dockets(t.Context(), store.DocketFilter{}); err != nil || len(list) != 3 {
		t.Errorf("%d dockets, %v", len(list), err)
	}
}

func largeDocuments(t *testing.T, s *store.Store) {
	t.Helper()
	long := strings.Repeat("a line of a log\n", 2000)
	a, b := aCase("a", long, "short"), aCase("b", "", long, long+"x")
	d := submit(t, s, store.Submission{Submitter: "ci"}, docket.Entry{Case: a}, docket.Entry{Case: b})
	if n, bytes, err := s.DocumentsKept(t.Context()); err != nil || n != 2 || bytes < int64(2*len(long)) {
		t.Errorf("%d documents of %d bytes, %v", n, bytes, err)
	}
	if diff := cmp.Diff([]abi.Case{a, b}, []abi.Case{begin(t, s, d, 1).Case, begin(t, s, d, 2).Case}); diff != "" {
		t.Error(diff)
	}
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
	got, err := s.Trial(t.Context(), store.TrialID{Docket: d.ID, Ordinal: 1})
	must(t, err)
	if diff := cmp.Diff(c, got.Trial.Case); diff != "" {
		t.Error(diff)
	}
	for _, text := range []string{"%", "_", `\`, "'", "\x00", "drop table"} {
		if n, err := s.CountEntries(t.Context(), store.EntryFilter{Text: text}); err != nil {
			t.Errorf("%q: %d, %v", text, n, err)
		}
	}
	if got.Trial.Truth.Classification != "\x00" || got.Trial.Members[0].ID != "\x00" || got.Trial.LabelNames["\x00"] != "\x00" {
		t.Errorf("%+v", got.Trial)
	}
	// What is listed and compared has a placeholder for it.
	corrected, err := s.Correct(t.Context(), "me", "\x00", []store.TrialID{got.ID})
	if err != nil || corrected.Label != "\uFFFD" {
		t.Errorf("%+v, %v", corrected, err)
	}
	counts, err := s.CountsOf(t.Context(), d.ID)
	if err != nil || counts[d.ID].Known != 1 || counts[d.ID].Right != 1 {
		t.Errorf("%+v, %v", counts[d.ID], err)
	}
}

func aborts(t *testing.T, s *store.Store) {
	t.Helper()
	u, err := s.Submit(t.Context(), store.Submission{Submitter: "ci", Key: "k"})
	must(t, err)
	entry := entriesOf("a")[0]
	for range 600 { // more than a transaction takes
		must(t, u.Add(t.Context(), &entry, nil))
	}
	must(t, u.Abort(t.Context()))
	if n, err := s.CountEntries(t.Context(), store.EntryFilter{}); err != nil || n != 0 {
		t.Errorf("%d entries, %v", n, err)
	}
	left, err := s.Submit(t.Context(), store.Submission{Submitter: "ci"})
	must(t, err)
	must(t, s.RemoveStaleUploads(t.Context(), 0))
	if _, _, err := left.Finish(t.Context(), "x", nil); !errors.Is(err, store.ErrState) {
		t.Errorf("after it was removed: %v", err)
	}
	if d := submit(t, s, store.Submission{Submitter: "ci", Key: "k"}, entry); d.Cases != 1 {
		t.Errorf("sent again: %+v", d)
	}
}

// taken has two workers try a case, as when the queue takes the first one for lost: one verdict and its record are kept.
func taken(t *testing.T, s *store.Store) {
	t.Helper()
	ctx := t.Context()
	d := submit(t, s, store.Submission{Submitter: "ci"}, entriesOf("a", "b")...)
	slow, quick := begin(t, s, d, 1), begin(t, s, d, 1)
	must(t, s.CompleteCase(ctx, quick, "quick", outcome(quick, surely)))
	for _, late := range []*store.Outcome{outcome(slow, surely), {Fault: slow.Untried()}} {
		if err := s.CompleteCase(ctx, slow, "slow", late); !errors.Is(err, store.ErrEnded) {
			t.Errorf("the slow one: %v", err)
		}
	}
	if _, err := s.BeginCase(ctx, store.CaseArgs{Docket: d.ID, Ordinal: 1}); !errors.Is(err, store.ErrEnded) {
		t.Errorf("begun again: %v", err)
	}
	if d, err := s.Docket(ctx, d.ID); err != nil || d.Tried != 1 || d.Faults != 0 {
		t.Errorf("%+v, %v", d, err)
	}
	if n, err := s.Waiting(ctx); err != nil || n != 1 {
		t.Errorf("%d cases wait, %v", n, err)
	}
	last := begin(t, s, d, 2)
	must(t, s.CompleteCase(ctx, last, "quick", &store.Outcome{Fault: last.Untried()}))
	if ids, err := s.Records(ctx, d.ID); err != nil || len(ids) != 1 {
		t.Errorf("records %v, %v", ids, err)
	}
	if d, err := s.Docket(ctx, d.ID); err != nil || d.State != store.Done || d.Faults != 1 {
		t.Errorf("%+v, %v", d, err)
	}
}

func cancels(t *testing.T, s *store.Store) {
	t.Helper()
	d := submit(t, s, store.Submission{Submitter: "ci"}, entriesOf("a", "b")...)
	c := begin(t, s, d, 1)
	must(t, s.Cancel(t.Context(), d.ID))
	if err := s.CompleteCase(t.Context(), c, "w", outcome(c, surely)); !errors.Is(err, store.ErrEnded) {
		t.Errorf("completed: %v", err)
	}
	if list, _, err := s.Queued(t.Context()); err != nil || len(list) != 0 {
		t.Errorf("%d jobs wait, %v", len(list), err)
	}
	if err := s.Cancel(t.Context(), d.ID); !errors.Is(err, store.ErrState) {
		t.Errorf("twice: %v", err)
	}
	if err := s.Cancel(t.Context(), d.ID+1); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("another: %v", err)
	}
}

// queues: the jobs of a repository, and of a submitter that names none, are in a queue of their own, and name the generation that was in force when
// the docket was received.
func queues(t *testing.T, s *store.Store) {
	t.Helper()
	ctx := t.Context()
	first, err := s.BeginWith(ctx, store.Generation{})
	must(t, err)
	next, err := s.AddGeneration(ctx, store.Generation{})
	must(t, err)
	d := submit(t, s, store.Submission{Submitter: "ci", Repository: "shop"}, entriesOf("a", "b")...)
	_, err = s.Activate(ctx, "ann", next.ID)
	must(t, err)
	submit(t, s, store.Submission{Submitter: "bob", Repository: "shop"}, entriesOf("c")...)
	submit(t, s, store.Submission{Submitter: "ci"}, entriesOf("d")...)
	submit(t, s, store.Submission{Submitter: "ci", Generation: first}, entriesOf("e")...)
	list, names, err := s.Queued(ctx)
	must(t, err)
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
	if open, err := s.CaseQueues(ctx); err != nil || !cmp.Equal(open, []string{names[0], names[3]}) {
		t.Errorf("%v, %v", open, err)
	}
	tryAll(t, s, surely)
	if open, err := s.CaseQueues(ctx); err != nil || len(open) != 0 {
		t.Errorf("%v, %v", open, err)
	}
}

func people(t *testing.T, s *store.Store) {
	t.Helper()
	ctx := t.Context()
	token, err := s.AddToken(ctx, "hash", store.Token{Name: "ci", Submitter: "shop", Scopes: []string{"submit", "review"}})
	must(t, err)
	if got, err := s.Token(ctx, "hash"); err != nil || got.ID != token.ID || !cmp.Equal(got.Scopes, token.Scopes) {
		t.Errorf("%+v, %v", got, err)
	}
	must(t, s.RevokeToken(ctx, token.ID))
	if _, err := s.Token(ctx, "hash"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("revoked: %v", err)
	}
	if err := s.RevokeToken(ctx, token.ID); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("twice: %v", err)
	}
	if list, err := s.Tokens(ctx); err != nil || len(list) != 1 || list[0].Revoked.IsZero() || list[0].Used.IsZero() {
		t.Errorf("%+v, %v", list, err)
	}
	_, err = s.AddToken(ctx, "short", store.Token{Name: "x", Expires: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)})
	must(t, err)
	if _, err := s.Token(ctx, "short"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("expired: %v", err)
	}
	late := time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC)
	must(t, s.AddSession(ctx, "s", store.Session{Subject: "ann", Name: "Ann", Scopes: []string{"review"}, Data: "d", Expires: late}))
	if n, err := s.Session(ctx, "s"); err != nil || n.Subject != "ann" || n.Data != "d" || !n.Expires.Equal(late) {
		t.Errorf("%+v, %v", n, err)
	}
	must(t, s.RemoveSession(ctx, "s"))
	if _, err := s.Session(ctx, "s"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("removed: %v", err)
	}
	must(t, s.Log(ctx, store.Action{Author: "ann", Action: "token.revoke", Target: "token 1"}))
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
