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
	"github.com/shadowcourt/shadowcourt/internal/testkit/check"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

func inbox(t *testing.T, s *store.Store) {
	t.Helper()
	ctx := t.Context()
	alike := func(id string) docket.Entry {
		e := docket.Entry{Case: aCase(id, "panic: nil map")}
		e.Case.Subject = "one failure"
		return e
	}
	entries := append(entriesOf("sure", "lost"), alike("a"), alike("b"), alike("c"))
	submit(t, s, store.Submission{Submitter: "ci", Repository: "shop", Name: "n"}, entries...)
	tryAll(t, s, func(e *store.Claim) store.NewVerdict {
		switch e.Case.ID {
		case "sure":
			return verdictOf(e, "flake", 0.97)
		case "lost":
			return verdictOf(e, "", 0)
		}
		return verdictOf(e, "bug", 0.4)
	})
	box := must.Get(s.Inbox(ctx, store.InboxFilter{}))(t)
	groups := box.Groups
	if box.Total != 2 || len(groups) != 2 || groups[0].Entries != 3 || groups[1].Sample.CaseID != "lost" || groups[0].Value <= groups[1].Value {
		t.Fatalf("%+v", box)
	}
	for _, tc := range []struct {
		name   string
		filter store.InboxFilter
		want   int
	}{
		{"all", store.InboxFilter{Sure: true}, 3},
		{"repository", store.InboxFilter{Sure: true, Repository: "shop"}, 3},
		{"text", store.InboxFilter{Text: "LOST"}, 1},
		{"status", store.InboxFilter{Statuses: []trial.Status{trial.Mistrial}}, 1},
		{"label", store.InboxFilter{Label: "bug"}, 1},
		{"another repository", store.InboxFilter{Repository: "other"}, 0},
	} {
		same(t, tc.name, must.Get(s.Inbox(ctx, tc.filter))(t).Total, tc.want)
	}
	same(t, "labels", must.Get(s.OpenLabels(ctx))(t), []store.LabelCount{{"bug", 3}, {"", 1}})
	same(t, "corrected", must.Get(s.CorrectGroup(ctx, "ann", "flake", groups[0].Key, store.InboxFilter{}))(t).Entries, 3)
	same(t, "groups after the correction", must.Get(s.Inbox(ctx, store.InboxFilter{}))(t).Total, 1)
}

func corrects(t *testing.T, s *store.Store) {
	t.Helper()
	ctx := t.Context()
	d := submit(t, s, store.Submission{Submitter: "ci"}, entriesOf("a", "b")...)
	a, b := store.TrialID{Docket: d.ID, Ordinal: 1}, store.TrialID{Docket: d.ID, Ordinal: 2}
	check.Is(t, check.Err(s.Correct(ctx, "ann", "bug", []store.TrialID{a})), store.ErrState, "before it was tried")
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
		check.Is(t, check.Err(s.Correct(ctx, "ann", c.label, c.ids)), c.want, name)
	}
	first := must.Get(s.Correct(ctx, "ann", "bug", []store.TrialID{a, b}))(t)
	second := must.Get(s.Correct(ctx, "bob", "flake", []store.TrialID{b}))(t)
	expect := func(what string, want ...string) {
		t.Helper()
		list := must.Get(s.Entries(ctx, store.EntryFilter{Docket: d.ID}))(t)
		same(t, what, []string{list[0].Corrected, list[1].Corrected}, want)
	}
	expect("both corrected", "bug", "flake")
	must.Get(s.Undo(ctx, "bob", first.ID))(t)
	expect("the first undone", "", "flake")
	must.Get(s.Undo(ctx, "bob", second.ID))(t)
	expect("both undone", "", "")
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
	expect("back to the one before", "", "bug")
	check.Is(t, check.Err(s.Undo(ctx, "ann", fourth.ID)), store.ErrState, "undone twice")
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
	later := submit(t, s, store.Submission{Submitter: "ci"}, entriesOf("c")...)
	same(t, "the revision that a docket behind two corrections sees", later.Casebook, int64(2))
	must.Get(s.Undo(ctx, "ann", first.ID))(t)
	for revision, want := range map[int64][]int64{0: nil, 1: {1}, 2: {1, 2}, 3: {2}} {
		if got, err := s.CasebookLog(ctx, revision, ""); err != nil || !slices.Equal(got, want) {
			t.Errorf("revision %d: %v, %v", revision, got, err)
		}
	}
	check.Is(t, check.Err(s.CasebookLog(ctx, 4, "")), store.ErrNotFound, "a revision to come")
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
	_, _, err := u.Finish(ctx, "x", []string{"quiet"})
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
	same(t, "learned", got, []string{"adecidedaffirmedbug", "bconfirmedconfirmedflake", "cdecided"})
	same(t, "suites", suites, []string{"quiet"})
}

func generations(t *testing.T, s *store.Store) {
	t.Helper()
	ctx := t.Context()
	digest := must.Get(s.AddBlob(ctx, []byte("wasm")))(t)
	same(t, "the module", string(must.Get(s.Blob(ctx, digest))(t)), "wasm")
	unknown := store.Parts{Modules: map[string]string{"m": "other"}}
	check.Is(t, check.Err(s.AddGeneration(ctx, store.Generation{Parts: unknown})), store.ErrNotFound, "a module that is not there")
	parts := store.Parts{Modules: map[string]string{"m": digest}}
	current := must.Get(s.BeginWith(ctx, store.Generation{Parts: parts, Note: "shipped"}))(t)
	same(t, "the generation that is there already", must.Get(s.BeginWith(ctx, store.Generation{Parts: parts}))(t), current)
	g := must.Get(s.AddGeneration(ctx, store.Generation{Parent: current, Parts: parts, Author: "ann", Share: 0.5}))(t)
	same(t, "the generation", must.Get(s.Generation(ctx, g.ID))(t), g)
	if list, err := s.Generations(ctx, 0, 0); err != nil || len(list) != 2 || list[0].ID != g.ID {
		t.Errorf("%+v, %v", list, err)
	}
	check.Is(t, check.Err(s.Submit(ctx, store.Submission{Generation: 99})), store.ErrNotFound, "a docket of no generation")
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
	check.Equal(t, len(groups), 3, "the groups", groups)
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
	same(t, "known labels", known, []store.Known{
		{ID: store.TrialID{Docket: d.ID, Ordinal: 1}, Right: "bug"}, {ID: store.TrialID{Docket: d.ID, Ordinal: 3}, Right: "bug"},
	})
	same(t, "known labels of the other repository", len(must.Get(s.KnownLabels(t.Context(), store.EntryFilter{Repository: "example.org/b"}))(t)), 0)

	const each = time.Millisecond
	same(t, "tallies", must.Get(s.Tallies(t.Context(), "", time.Time{}))(t), []store.Tally{
		{Label: "bug", Light: "bug", Results: 3, Took: 3 * each},
		{Label: "bug", Light: "bug", Results: 2, Took: 2 * each, Truth: "bug", Corrected: true, Stated: 0.9},
	})
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
	same(t, "answers in the inbox, of which two need somebody", box.Entries, 2)
	correction := must.Get(s.Correct(t.Context(), "ann", alibi.Caused, []store.TrialID{list[0].ID}))(t)
	same(t, "what the casebook learned", len(must.Get(s.CasebookLog(t.Context(), correction.Revision, "shop"))(t)), 0)
	same(t, "known labels", len(must.Get(s.KnownLabels(t.Context(), store.EntryFilter{}))(t)), 0)
	tallies := must.Get(s.Tallies(t.Context(), "shop", time.Time{}))(t)
	count := map[string]int{}
	for _, tally := range tallies {
		if !tally.Alibi {
			t.Errorf("%+v", tally)
		}
		count[tally.Label+" "+tally.Truth] += tally.Results
	}
	same(t, "tallies", count, map[string]int{"caused caused": 1, "preexisting ": 1, " ": 1})
	must.Do(t, s.Recount(t.Context()))
	same(t, "records", len(must.Get(s.Records(t.Context(), d.ID))(t)), 1)
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
		must.Do(t, s.Recount(ctx), "after", what)
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
	same(t, "groups that are left", must.Get(s.Inbox(ctx, store.InboxFilter{}))(t).Total, 0)
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
	same(t, "trials that need a person", must.Get(s.Inbox(ctx, store.InboxFilter{}))(t).Entries, 120)
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
		check.Equal(t, len(seen), 23, name, "groups on all pages")
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
