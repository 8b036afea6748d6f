package store_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/shadowcourt/shadowcourt/host/alibi"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/service/store"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

func inbox(t *testing.T, s *store.Store) {
	t.Helper()
	ctx := t.Context()
	same := func(id string) docket.Entry {
		e := docket.Entry{Case: aCase(id, "panic: nil map")}
		e.Case.Subject = "one failure"
		return e
	}
	submit(t, s, store.Submission{Submitter: "ci", Repository: "shop", Name: "n"}, same("a"), same("b"), same("c"), entriesOf("sure")[0], entriesOf("lost")[0])
	tryAll(t, s, func(e *store.Claim) store.NewVerdict {
		switch e.Case.ID {
		case "sure":
			return verdictOf(e, "flake", 0.97)
		case "lost":
			return verdictOf(e, "", 0)
		}
		return verdictOf(e, "bug", 0.4)
	})
	count := func(f store.InboxFilter) ([]store.Group, int, error) {
		box, err := s.Inbox(ctx, f)
		return box.Groups, box.Total, err
	}
	groups, total, err := count(store.InboxFilter{})
	must.Do(t, err)
	if total != 2 || len(groups) != 2 || groups[0].Entries != 3 || groups[1].Sample.CaseID != "lost" || groups[0].Value <= groups[1].Value {
		t.Fatalf("%d %+v", total, groups)
	}
	for name, f := range map[string]store.InboxFilter{
		"all":        {Sure: true},
		"repository": {Sure: true, Repository: "shop"},
	} {
		if _, total, err := count(f); err != nil || total != 3 {
			t.Errorf("%s: %d, %v", name, total, err)
		}
	}
	for name, f := range map[string]store.InboxFilter{
		"text": {Text: "LOST"}, "status": {Statuses: []trial.Status{trial.Mistrial}}, "label": {Label: "bug"},
	} {
		if _, total, err := count(f); err != nil || total != 1 {
			t.Errorf("%s: %d, %v", name, total, err)
		}
	}
	if _, total, err := count(store.InboxFilter{Repository: "other"}); err != nil || total != 0 {
		t.Errorf("another repository: %d, %v", total, err)
	}
	labels := must.Get(s.OpenLabels(ctx))(t)
	if diff := cmp.Diff([]store.LabelCount{{"bug", 3}, {"", 1}}, labels); diff != "" {
		t.Error(diff)
	}
	c := must.Get(s.CorrectGroup(ctx, "ann", "flake", groups[0].Key, store.InboxFilter{}))(t)
	if c.Entries != 3 {
		t.Errorf("%+v", c)
	}
	if groups, total, err = count(store.InboxFilter{}); err != nil || total != 1 {
		t.Errorf("after the correction: %d %+v, %v", total, groups, err)
	}
}

func corrects(t *testing.T, s *store.Store) {
	t.Helper()
	ctx := t.Context()
	d := submit(t, s, store.Submission{Submitter: "ci"}, entriesOf("a", "b")...)
	a, b := store.TrialID{Docket: d.ID, Ordinal: 1}, store.TrialID{Docket: d.ID, Ordinal: 2}
	if _, err := s.Correct(ctx, "ann", "bug", []store.TrialID{a}); !errors.Is(err, store.ErrState) {
		t.Errorf("before it was tried: %v", err)
	}
	tryAll(t, s, surely)
	for name, c := range map[string]struct {
		label string
		ids   []store.TrialID
		want  error
	}{
		"label":   {"other", []store.TrialID{a}, store.ErrLabel},
		"nothing": {"bug", nil, store.ErrNotFound},
		"missing": {"bug", []store.TrialID{a, {Docket: d.ID, Ordinal: 9}}, store.ErrNotFound},
		"twice":   {"bug", []store.TrialID{a, a}, store.ErrState},
	} {
		if _, err := s.Correct(ctx, "ann", c.label, c.ids); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	first := must.Get(s.Correct(ctx, "ann", "bug", []store.TrialID{a, b}))(t)
	second := must.Get(s.Correct(ctx, "bob", "flake", []store.TrialID{b}))(t)
	state := func() [2]string {
		list := must.Get(s.Entries(ctx, store.EntryFilter{Docket: d.ID}))(t)
		return [2]string{list[0].Corrected, list[1].Corrected}
	}
	if got := state(); got != [2]string{"bug", "flake"} {
		t.Errorf("%q", got)
	}
	must.Get(s.Undo(ctx, "bob", first.ID))(t)
	if got := state(); got != [2]string{"", "flake"} {
		t.Errorf("the first undone: %q", got)
	}
	must.Get(s.Undo(ctx, "bob", second.ID))(t)
	if got := state(); got != [2]string{"", ""} {
		t.Errorf("both undone: %q", got)
	}
	third := must.Get(s.Correct(ctx, "ann", "bug", []store.TrialID{b}))(t)
	// What is said again is the same correction, also when it is said at once.
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			if c, err := s.Correct(ctx, "ann", "bug", []store.TrialID{b}); err != nil || c != third {
				t.Errorf("said again: %+v, %v", c, err)
			}
		})
	}
	all.Wait()
	fourth := must.Get(s.Correct(ctx, "ann", "flake", []store.TrialID{b}))(t)
	must.Get(s.Undo(ctx, "ann", fourth.ID))(t)
	if got := state(); got != [2]string{"", "bug"} {
		t.Errorf("back to the one before: %q", got)
	}
	if _, err := s.Undo(ctx, "ann", fourth.ID); !errors.Is(err, store.ErrState) {
		t.Errorf("undone twice: %v", err)
	}
	list := must.Get(s.CorrectionsOf(ctx, b))(t)
	if len(list) != 4 || list[0].ID != fourth.ID || list[0].Undone.IsZero() || list[1].ID != third.ID || !list[1].Undone.IsZero() {
		t.Errorf("%+v", list)
	}
}

func casebookLog(t *testing.T, s *store.Store) {
	t.Helper()
	ctx := t.Context()
	d := submit(t, s, store.Submission{Submitter: "ci"}, entriesOf("a", "b")...)
	tryAll(t, s, surely)
	a, b := store.TrialID{Docket: d.ID, Ordinal: 1}, store.TrialID{Docket: d.ID, Ordinal: 2}
	first := must.Get(s.Correct(ctx, "ann", "bug", []store.TrialID{a}))(t)
	must.Get(s.Correct(ctx, "ann", "flake", []store.TrialID{b}))(t)
	if later := submit(t, s, store.Submission{Submitter: "ci"}, entriesOf("c")...); later.Casebook != 2 {
		t.Errorf("a docket behind two corrections sees revision %d", later.Casebook)
	}
	must.Get(s.Undo(ctx, "ann", first.ID))(t)
	for revision, want := range map[int64][]int64{0: nil, 1: {1}, 2: {1, 2}, 3: {2}} {
		if got, err := s.CasebookLog(ctx, revision, ""); err != nil || !slices.Equal(got, want) {
			t.Errorf("revision %d: %v, %v", revision, got, err)
		}
	}
	if _, err := s.CasebookLog(ctx, 4, ""); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("a revision to come: %v", err)
	}
	_, learned, _, err := s.CasebookRun(ctx, 2, "")
	must.Do(t, err)
	if len(learned) != 1 || learned[0].Case.ID != "b" || learned[0].Label != "flake" || learned[0].Origin != "confirmed" || learned[0].Confidence != 0.9 {
		t.Errorf("%+v", learned)
	}
}

func remembers(t *testing.T, s *store.Store) {
	t.Helper()
	ctx := t.Context()
	u := must.Get(s.Submit(ctx, store.Submission{Submitter: "ci", Remember: true}))(t)
	list := entriesOf("a", "b", "c")
	list[1].Truth = &trial.Truth{Classification: "flake"}
	for i := range list {
		must.Do(t, u.Add(ctx, &list[i], nil))
	}
	var err error
	_, _, err = u.Finish(ctx, "x", []string{"quiet"})
	must.Do(t, err)
	tryAll(t, s, func(e *store.Claim) store.NewVerdict {
		if e.Case.ID == "c" {
			return verdictOf(e, "", 0)
		}
		return surely(e)
	})
	suites, learned, _, err := s.CasebookRun(ctx, 1, "")
	must.Do(t, err)
	var got []string
	for _, l := range learned {
		got = append(got, fmt.Sprint(l.Case.ID, l.Origin, l.Status, l.Label))
	}
	if diff := cmp.Diff([]string{"adecidedaffirmedbug", "bconfirmedconfirmedflake", "cdecided"}, got); diff != "" || !cmp.Equal(suites, []string{"quiet"}) {
		t.Error(suites, diff)
	}
}

func generations(t *testing.T, s *store.Store) {
	t.Helper()
	ctx := t.Context()
	digest := must.Get(s.AddBlob(ctx, []byte("wasm")))(t)
	if content, err := s.Blob(ctx, digest); err != nil || string(content) != "wasm" {
		t.Errorf("%q, %v", content, err)
	}
	if _, err := s.AddGeneration(ctx, store.Generation{Parts: store.Parts{Modules: map[string]string{"m": "other"}}}); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("a module that is not there: %v", err)
	}
	parts := store.Parts{Modules: map[string]string{"m": digest}}
	current := must.Get(s.BeginWith(ctx, store.Generation{Parts: parts, Note: "shipped"}))(t)
	if again, err := s.BeginWith(ctx, store.Generation{Parts: parts}); err != nil || again != current {
		t.Errorf("%d and %d, %v", current, again, err)
	}
	g := must.Get(s.AddGeneration(ctx, store.Generation{Parent: current, Parts: parts, Author: "ann", Share: 0.5}))(t)
	got := must.Get(s.Generation(ctx, g.ID))(t)
	if diff := cmp.Diff(g, got); diff != "" {
		t.Error(diff)
	}
	if list, err := s.Generations(ctx, 0, 0); err != nil || len(list) != 2 || list[0].ID != g.ID {
		t.Errorf("%+v, %v", list, err)
	}
	if _, err := s.Submit(ctx, store.Submission{Generation: 99}); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("a docket of no generation: %v", err)
	}
}

// A label that one case of a group may have, all may have: others are another group.
func TestGroupsShareTheirLabels(t *testing.T) {
	t.Parallel()
	s := openLite(t)
	groups := map[string][]string{}
	for i, labels := range [][]string{{"bug", "flake"}, {"flake", "bug"}, {"bug"}, {"bug", "flake", "setup"}} {
		e := docket.Entry{Case: aCase(fmt.Sprint("case ", i), "panic in cart")}
		e.Case.Labels, e.Case.Subject = labels, "panic in cart"
		d := submit(t, s, store.Submission{Submitter: "ci", Format: "jsonl"}, e)
		kept := must.Get(s.Entry(t.Context(), store.TrialID{Docket: d.ID, Ordinal: 1}))(t)
		groups[kept.Group] = append(groups[kept.Group], strings.Join(labels, " "))
	}
	if len(groups) != 3 {
		t.Errorf("the groups are %q", groups)
	}
	for _, list := range groups {
		if len(list) > 1 && !slices.Equal(list, []string{"bug flake", "flake bug"}) {
			t.Errorf("%q are one group", list)
		}
	}
}

// knows is about results whose right label is known.
func knows(t *testing.T, s *store.Store) { //nolint:thelper // a test of the suite
	entries := entriesOf("a", "b", "c", "d")
	for i := range entries {
		entries[i].LabelNames = map[string]string{"bug": "a bug", "flake": "it comes and goes"}
	}
	entries[0].Truth = &trial.Truth{Classification: "flake"}
	entries[1].Truth = &trial.Truth{ExpectedVerdict: "affirm"}
	d := submit(t, s, store.Submission{Submitter: "ci", Name: "nightly", Repository: "example.org/a"}, entries...)
	tryAll(t, s, surely)
	other := submit(t, s, store.Submission{Submitter: "ci", Name: "other", Repository: "example.org/b"}, entriesOf("a")...)
	tryAll(t, s, surely)

	if e, err := s.Entry(t.Context(), store.TrialID{Docket: d.ID, Ordinal: 1}); err != nil || e.DocketName != "nightly" || e.Truth != "flake" || !cmp.Equal(e.LabelNames, entries[0].LabelNames) {
		t.Errorf("%+v, %v", e, err)
	}
	if e, err := s.Entry(t.Context(), store.TrialID{Docket: other.ID, Ordinal: 1}); err != nil || e.DocketName != "other" || e.Truth != "" || e.LabelNames != nil {
		t.Errorf("%+v, %v", e, err)
	}

	// A correction goes before what the docket says.
	must.Get(s.Correct(t.Context(), "ada", "bug", []store.TrialID{{Docket: d.ID, Ordinal: 1}, {Docket: d.ID, Ordinal: 3}}))(t)
	known := must.Get(s.KnownLabels(t.Context(), store.EntryFilter{}))(t)
	if len(known) != 2 || known[0].ID.Ordinal != 1 || known[1].ID.Ordinal != 3 {
		t.Fatalf("known are %+v", known)
	}
	k := known[0]
	if k.Right != "bug" || !k.Corrected || k.Label != "bug" || k.Confidence != 0.9 || k.Light != "bug" || k.Repository != "example.org/a" ||
		k.LabelNames["flake"] != "it comes and goes" || len(k.Labels) != 2 {
		t.Errorf("the first is %+v", k)
	}
	var err error
	if known, err = s.KnownLabels(t.Context(), store.EntryFilter{Repository: "example.org/b"}); err != nil || len(known) != 0 {
		t.Errorf("of the other repository there is %+v, %v", known, err)
	}

	tallies := must.Get(s.Tallies(t.Context(), "", time.Time{}))(t)
	const each = time.Millisecond
	if diff := cmp.Diff([]store.Tally{
		{Label: "bug", Light: "bug", Results: 3, Took: 3 * each},
		{Label: "bug", Light: "bug", Results: 2, Took: 2 * each, Truth: "bug", Corrected: true, Stated: 0.9},
	}, tallies); diff != "" {
		t.Error(diff)
	}
}

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
	u := must.Get(s.Submit(t.Context(), submission))(t)
	var trials []*trial.Trial
	for i := range sent {
		c := aCase("alibi-" + string(rune('a'+i)))
		c.Labels, c.Light = alibi.Labels(), nil
		tried := &trial.Trial{Case: c, Result: trial.Result{
			ID: c.ID, Final: trial.Final{Status: trial.Accepted, Classification: alibi.Caused, Confidence: 0.99},
		}}
		trials = append(trials, tried)
		must.Do(t, u.AddTried(t.Context(), &docket.Entry{Case: c}, store.NewVerdict{Trial: tried, Took: time.Second, Alibi: &sent[i]}))
	}
	d, created, err := u.FinishTried(t.Context(), "body of the alibi", []byte("record\n"))
	must.Do(t, err)
	must.Do(t, u.Abort(t.Context()))
	if !created || d.State != store.Done || d.Tried != 3 || d.Finished.IsZero() {
		t.Errorf("%+v", d)
	}
	u = must.Get(s.Submit(t.Context(), submission))(t)
	must.Do(t, u.AddTried(t.Context(), &docket.Entry{Case: trials[0].Case}, store.NewVerdict{Trial: trials[0], Alibi: &sent[0]}))
	again, created, err := u.FinishTried(t.Context(), "body of the alibi", nil)
	must.Do(t, err)
	must.Do(t, u.Abort(t.Context()))
	if created || again.ID != d.ID || again.Tried != 3 {
		t.Errorf("sent again: %v, %+v", created, again)
	}
	list := must.Get(s.Entries(t.Context(), store.EntryFilter{Docket: d.ID}))(t)
	for i := range list {
		if diff := cmp.Diff(&sent[i], list[i].Alibi); diff != "" || list[i].Label != sent[i].Label || list[i].Generation != 0 {
			t.Errorf("%+v\n%s", list[i], diff)
		}
		whole := must.Get(s.Trial(t.Context(), list[i].ID))(t)
		if diff := cmp.Diff(trials[i].Case, whole.Trial.Case); diff != "" || whole.Record == 0 {
			t.Errorf("record %d\n%s", whole.Record, diff)
		}
	}
	box := must.Get(s.Inbox(t.Context(), store.InboxFilter{Repository: "shop"}))(t)
	if box.Entries != 2 {
		t.Errorf("%d of the answers are in the inbox, and two need somebody", box.Entries)
	}
	correction := must.Get(s.Correct(t.Context(), "ann", alibi.Caused, []store.TrialID{list[0].ID}))(t)
	if log, err := s.CasebookLog(t.Context(), correction.Revision, "shop"); err != nil || len(log) != 0 {
		t.Errorf("the casebook learned %v, %v", log, err)
	}
	if known, err := s.KnownLabels(t.Context(), store.EntryFilter{}); err != nil || len(known) != 0 {
		t.Errorf("the docket of known labels has from %v, %v", known, err)
	}
	tallies := must.Get(s.Tallies(t.Context(), "shop", time.Time{}))(t)
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
	must.Do(t, s.Recount(t.Context()))
	if records, err := s.Records(t.Context(), d.ID); err != nil || len(records) != 1 {
		t.Errorf("records %v, %v", records, err)
	}
	sent[2].Why = string(make([]byte, 70<<10))
	u = must.Get(s.Submit(t.Context(), store.Submission{Submitter: "ci", Format: store.FormatAlibi}))(t)
	if err := u.AddTried(t.Context(), &docket.Entry{Case: trials[2].Case}, store.NewVerdict{Trial: trials[2], Alibi: &sent[2]}); err == nil {
		t.Error("an answer of any size is kept")
	}
	must.Do(t, u.Abort(t.Context()))
}

// counts does what changes entries, in random order: the counts that are kept stay those of the entries.
func counts(t *testing.T, s *store.Store) { //nolint:thelper // a test of the suite
	ctx := t.Context()
	r := rand.New(rand.NewPCG(1, 2))
	labels := []string{"bug", "flake", ""}
	var corrections, dockets []int64
	check := func(what string) {
		t.Helper()
		if err := s.Recount(ctx); err != nil {
			t.Fatalf("after %s: %v", what, err)
		}
	}
	for round := range 24 {
		switch r.IntN(5) {
		case 0, 1:
			var entries []docket.Entry
			for i := range 5 + r.IntN(60) {
				e := docket.Entry{Case: aCase(fmt.Sprintf("%d.%d", round, i), fmt.Sprintf("panic in function %c", 'a'+r.IntN(9)))}
				e.Case.Subject = "a failure"
				if r.IntN(3) == 0 {
					e.Truth = &trial.Truth{Classification: labels[r.IntN(2)]}
				}
				entries = append(entries, e)
			}
			d := submit(t, s, store.Submission{Submitter: "ci", Repository: "r"}, entries...)
			dockets = append(dockets, d.ID)
			tryAll(t, s, func(e *store.Claim) store.NewVerdict {
				return verdictOf(e, labels[r.IntN(3)], 0.3+0.1*float64(r.IntN(7)))
			})
			check("a docket")
		case 2:
			box := must.Get(s.Inbox(ctx, store.InboxFilter{}))(t)
			if len(box.Groups) > 0 {
				c := must.Get(s.CorrectGroup(ctx, "ann", "bug", box.Groups[r.IntN(len(box.Groups))].Key, store.InboxFilter{}))(t)
				corrections = append(corrections, c.ID)
			}
			check("the correction of a group")
		case 3:
			if len(dockets) > 0 {
				id := store.TrialID{Docket: dockets[r.IntN(len(dockets))], Ordinal: 1 + r.IntN(5)}
				c, err := s.Correct(ctx, "bob", "flake", []store.TrialID{id})
				if err == nil {
					corrections = append(corrections, c.ID)
				} else if !errors.Is(err, store.ErrNotFound) { // retention took it
					t.Fatal(err)
				}
			}
			check("the correction of a trial")
		case 4:
			if len(corrections) > 0 {
				_, err := s.Undo(ctx, "ann", corrections[r.IntN(len(corrections))])
				if err != nil && !errors.Is(err, store.ErrState) {
					t.Fatal(err)
				}
			}
			check("an undo")
		}
	}
	must.Get(s.Retain(ctx, store.Keep{Age: time.Nanosecond}))(t)
	check("retention")
	for _, id := range corrections {
		if _, err := s.Undo(ctx, "ann", id); err != nil && !errors.Is(err, store.ErrState) {
			t.Fatal(err)
		}
	}
	must.Get(s.Retain(ctx, store.Keep{Age: time.Nanosecond}))(t)
	check("all undone")
	if box, err := s.Inbox(ctx, store.InboxFilter{}); err != nil || box.Total != 0 {
		t.Errorf("%d groups are left, %v", box.Total, err)
	}
}

// countsAtOnce completes batches and corrects groups at once: what is counted stays that of the entries, and nobody waits in a circle.
func countsAtOnce(t *testing.T, s *store.Store) { //nolint:thelper // a test of the suite
	ctx := t.Context()
	var all sync.WaitGroup
	for n := range 3 {
		var entries []docket.Entry
		for i := range 40 {
			e := docket.Entry{Case: aCase(fmt.Sprintf("%d.%d", n, i), fmt.Sprintf("panic in function %c", 'a'+i%5))}
			e.Case.Subject = "a failure"
			entries = append(entries, e)
		}
		submit(t, s, store.Submission{Submitter: fmt.Sprint("ci", n), Remember: n == 0}, entries...)
		all.Go(func() {
			tryAll(t, s, func(e *store.Claim) store.NewVerdict { return verdictOf(e, "bug", 0.4) })
		})
	}
	for _, author := range []string{"ann", "bob"} { // of one author they would be the same correction
		all.Go(func() {
			for range 15 {
				box, err := s.Inbox(ctx, store.InboxFilter{})
				if err != nil || len(box.Groups) == 0 {
					continue
				}
				c, err := s.CorrectGroup(ctx, author, "flake", box.Groups[0].Key, store.InboxFilter{})
				if err == nil {
					_, err = s.Undo(ctx, author, c.ID)
				}
				if err != nil && !errors.Is(err, store.ErrNotFound) { // the other one corrected it
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	must.Do(t, s.Recount(ctx))
	if box, err := s.Inbox(ctx, store.InboxFilter{}); err != nil || box.Entries != 120 {
		t.Errorf("%d trials need a person, %v", box.Entries, err)
	}
}

// pages reads the inbox page by page, while what was read is corrected.
func pages(t *testing.T, s *store.Store) { //nolint:thelper // a test of the suite
	ctx := t.Context()
	var entries []docket.Entry
	for i := range 23 {
		e := docket.Entry{Case: aCase(strconv.Itoa(i), fmt.Sprintf("panic in function %c", 'a'+i))}
		e.Case.Subject = fmt.Sprintf("failure of %c", 'a'+i)
		entries = append(entries, e)
	}
	var d store.Docket
	for range 2 {
		d = submit(t, s, store.Submission{Submitter: "ci", Repository: "r"}, entries...)
		tryAll(t, s, func(e *store.Claim) store.NewVerdict { return verdictOf(e, "bug", 0.4) })
	}
	// The last one corrects a group of its second page.
	for _, f := range []store.InboxFilter{{Limit: 5, Repository: "r"}, {Limit: 5, Text: "failure OF"}, {Limit: 5}} {
		name := fmt.Sprintf("repository %q, text %q", f.Repository, f.Text)
		seen := map[string]bool{}
		for pages := 1; ; pages++ {
			box := must.Get(s.Inbox(ctx, f))(t)
			for _, g := range box.Groups {
				if seen[g.Key] {
					t.Errorf("%s: group %s is on two pages", name, g.Key)
				}
				if g.Sample.Group != g.Key || g.Sample.ID.Docket != d.ID || g.Entries != 2 || g.Dockets != 2 {
					t.Errorf("%s: group %s has %d entries of %d dockets, the latest is %s of %s", name, g.Key, g.Entries, g.Dockets, g.Sample.ID, g.Sample.Group)
				}
				seen[g.Key] = true
			}
			if pages == 2 && f.Repository+f.Text == "" {
				must.Get(s.CorrectGroup(ctx, "ann", "bug", box.Groups[0].Key, store.InboxFilter{}))(t)
			}
			if f.After = box.Next; f.After == "" {
				break
			}
		}
		if len(seen) != 23 {
			t.Errorf("%s: %d groups on all pages", name, len(seen))
		}
	}
	var ordinals []int
	f := store.EntryFilter{Docket: d.ID, Limit: 10}
	for {
		list := must.Get(s.Entries(ctx, f))(t)
		for i := range list {
			ordinals = append(ordinals, list[i].ID.Ordinal)
			f.After = list[i].ID
		}
		if len(list) < 10 {
			break
		}
	}
	if len(ordinals) != 23 || ordinals[22] != 23 {
		t.Errorf("the docket has the entries %v", ordinals)
	}
}
