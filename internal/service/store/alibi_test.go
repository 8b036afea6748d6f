package store_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/shadowcourt/shadowcourt/host/alibi"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/service/store"
)

// answersOfTheAlibi submits answers of each kind, and reads them back. The casebook and profiles do not learn of them.
func answersOfTheAlibi(t *testing.T, s *store.Store) {
	t.Helper()
	suspect := &alibi.Culprit{Commit: "9ab12cd", Title: "Trim input", Ribbon: []alibi.Suspicion{{Commit: "9ab12cd", Probability: 0.98}}}
	sent := []store.Alibi{
		{Verdict: alibi.IsYours, Label: alibi.Caused, Part: alibi.Product, Why: "none of 5 failed on the base", Culprit: suspect, Key: "ed25519:aa"},
		{Verdict: alibi.NotYours, Label: alibi.Preexisting, Why: "fails on the base in the same way"},
		{Verdict: alibi.IsOpen, Why: "the base can't be run"},
	}
	submission := store.Submission{Submitter: "ci", Repository: "shop", Format: store.FormatAlibi, Key: "once"}
	u, err := s.Submit(t.Context(), submission)
	must(t, err)
	var trials []*trial.Trial
	for i := range sent {
		c := aCase("alibi-" + string(rune('a'+i)))
		c.Labels, c.Light = alibi.Labels(), nil
		tried := &trial.Trial{Case: c, Result: trial.Result{
			ID: c.ID, Final: trial.Final{Status: trial.Accepted, Classification: alibi.Caused, Confidence: 0.99},
		}}
		trials = append(trials, tried)
		must(t, u.AddTried(t.Context(), &docket.Entry{Case: c}, store.NewVerdict{Trial: tried, Took: time.Second, Alibi: &sent[i]}))
	}
	d, created, err := u.FinishTried(t.Context(), "body of the alibi", []byte("record\n"))
	must(t, err)
	must(t, u.Abort(t.Context()))
	if !created || d.State != store.Done || d.Tried != 3 || d.Finished.IsZero() {
		t.Errorf("%+v", d)
	}
	u, err = s.Submit(t.Context(), submission)
	must(t, err)
	must(t, u.AddTried(t.Context(), &docket.Entry{Case: trials[0].Case}, store.NewVerdict{Trial: trials[0], Alibi: &sent[0]}))
	again, created, err := u.FinishTried(t.Context(), "body of the alibi", nil)
	must(t, err)
	must(t, u.Abort(t.Context()))
	if created || again.ID != d.ID || again.Tried != 3 {
		t.Errorf("sent again: %v, %+v", created, again)
	}
	list, err := s.Entries(t.Context(), store.EntryFilter{Docket: d.ID})
	must(t, err)
	for i := range list {
		if diff := cmp.Diff(&sent[i], list[i].Alibi); diff != "" || list[i].Label != sent[i].Label || list[i].Generation != 0 {
			t.Errorf("%+v\n%s", list[i], diff)
		}
		whole, err := s.Trial(t.Context(), list[i].ID)
		must(t, err)
		if diff := cmp.Diff(trials[i].Case, whole.Trial.Case); diff != "" || whole.Record == 0 {
			t.Errorf("record %d\n%s", whole.Record, diff)
		}
	}
	box, err := s.Inbox(t.Context(), store.InboxFilter{Repository: "shop"})
	must(t, err)
	if box.Entries != 2 {
		t.Errorf("%d of the answers are in the inbox, and two need somebody", box.Entries)
	}
	correction, err := s.Correct(t.Context(), "ann", alibi.Caused, []store.TrialID{list[0].ID})
	must(t, err)
	if log, err := s.CasebookLog(t.Context(), correction.Revision, "shop"); err != nil || len(log) != 0 {
		t.Errorf("the casebook learned %v, %v", log, err)
	}
	if known, err := s.KnownLabels(t.Context(), store.EntryFilter{}); err != nil || len(known) != 0 {
		t.Errorf("the docket of known labels has from %v, %v", known, err)
	}
	tallies, err := s.Tallies(t.Context(), "shop", time.Time{})
	must(t, err)
	count := map[string]int{}
	for _, tally := range tallies {
		if !tally.Alibi {
			t.Errorf("%+v", tally)
		}
		count[tally.Label+" "+tally.Truth] += tally.Results
	}
	if diff := cmp.Diff(map[string]int{"caused caused": 1, "preexisting ": 1, " ": 1}, count); diff != "" {
		t.Error(diff)
	}
	must(t, s.Recount(t.Context()))
	if records, err := s.Records(t.Context(), d.ID); err != nil || len(records) != 1 {
		t.Errorf("records %v, %v", records, err)
	}
	sent[2].Why = string(make([]byte, 70<<10))
	u, err = s.Submit(t.Context(), store.Submission{Submitter: "ci", Format: store.FormatAlibi})
	must(t, err)
	if err := u.AddTried(t.Context(), &docket.Entry{Case: trials[2].Case}, store.NewVerdict{Trial: trials[2], Alibi: &sent[2]}); err == nil {
		t.Error("an answer of any size is kept")
	}
	must(t, u.Abort(t.Context()))
}
