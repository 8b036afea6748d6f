package store_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/service/store"
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
	must(t, err)
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
	labels, err := s.OpenLabels(ctx)
	must(t, err)
	if diff := cmp.Diff([]store.LabelCount{{"bug", 3}, {"", 1}}, labels); diff != "" {
		t.Error(diff)
	}
	c, err := s.CorrectGroup(ctx, "ann", "flake", groups[0].Key, store.InboxFilter{})
	must(t, err)
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
	first, err := s.Correct(ctx, "ann", "bug", []store.TrialID{a, b})
	must(t, err)
	second, err := s.Correct(ctx, "bob", "flake", []store.TrialID{b})
	must(t, err)
	state := func() [2]string {
		list, err := s.Entries(ctx, store.EntryFilter{Docket: d.ID})
		must(t, err)
		return [2]string{list[0].Corrected, list[1].Corrected}
	}
	if got := state(); got != [2]string{"bug", "flake"} {
		t.Errorf("%q", got)
	}
	_, err = s.Undo(ctx, "bob", first.ID)
	must(t, err)
	if got := state(); got != [2]string{"", "flake"} {
		t.Errorf("the first undone: %q", got)
	}
	_, err = s.Undo(ctx, "bob", second.ID)
	must(t, err)
	if got := state(); got != [2]string{"", ""} {
		t.Errorf("both undone: %q", got)
	}
	third, err := s.Correct(ctx, "ann", "bug", []store.TrialID{b})
	must(t, err)
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
	fourth, err := s.Correct(ctx, "ann", "flake", []store.TrialID{b})
	must(t, err)
	_, err = s.Undo(ctx, "ann", fourth.ID)
	must(t, err)
	if got := state(); got != [2]string{"", "bug"} {
		t.Errorf("back to the one before: %q", got)
	}
	if _, err := s.Undo(ctx, "ann", fourth.ID); !errors.Is(err, store.ErrState) {
		t.Errorf("undone twice: %v", err)
	}
	list, err := s.CorrectionsOf(ctx, b)
	must(t, err)
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
	first, err := s.Correct(ctx, "ann", "bug", []store.TrialID{a})
	must(t, err)
	_, err = s.Correct(ctx, "ann", "flake", []store.TrialID{b})
	must(t, err)
	if later := submit(t, s, store.Submission{Submitter: "ci"}, entriesOf("c")...); later.Casebook != 2 {
		t.Errorf("a docket behind two corrections sees revision %d", later.Casebook)
	}
	_, err = s.Undo(ctx, "ann", first.ID)
	must(t, err)
	for revision, want := range map[int64][]int64{0: nil, 1: {1}, 2: {1, 2}, 3: {2}} {
		if got, err := s.CasebookLog(ctx, revision, ""); err != nil || !slices.Equal(got, want) {
			t.Errorf("revision %d: %v, %v", revision, got, err)
		}
	}
	if _, err := s.CasebookLog(ctx, 4, ""); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("a revision to come: %v", err)
	}
	_, learned, _, err := s.CasebookRun(ctx, 2, "")
	must(t, err)
	if len(learned) != 1 || learned[0].Case.ID != "b" || learned[0].Label != "flake" || learned[0].Origin != "confirmed" || learned[0].Confidence != 0.9 {
		t.Errorf("%+v", learned)
	}
}

func remembers(t *testing.T, s *store.Store) {
	t.Helper()
	ctx := t.Context()
	u, err := s.Submit(ctx, store.Submission{Submitter: "ci", Remember: true})
	must(t, err)
	list := entriesOf("a", "b", "c")
	list[1].Truth = &trial.Truth{Classification: "flake"}
	for i := range list {
		must(t, u.Add(ctx, &list[i], nil))
	}
	_, _, err = u.Finish(ctx, "x", []string{"quiet"})
	must(t, err)
	tryAll(t, s, func(e *store.Claim) store.NewVerdict {
		if e.Case.ID == "c" {
			return verdictOf(e, "", 0)
		}
		return surely(e)
	})
	suites, learned, _, err := s.CasebookRun(ctx, 1, "")
	must(t, err)
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
	digest, err := s.AddBlob(ctx, []byte("wasm"))
	must(t, err)
	if content, err := s.Blob(ctx, digest); err != nil || string(content) != "wasm" {
		t.Errorf("%q, %v", content, err)
	}
	if _, err := s.AddGeneration(ctx, store.Generation{Parts: store.Parts{Modules: map[string]string{"m": "other"}}}); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("a module that is not there: %v", err)
	}
	parts := store.Parts{Modules: map[string]string{"m": digest}}
	current, err := s.BeginWith(ctx, store.Generation{Parts: parts, Note: "shipped"})
	must(t, err)
	if again, err := s.BeginWith(ctx, store.Generation{Parts: parts}); err != nil || again != current {
		t.Errorf("%d and %d, %v", current, again, err)
	}
	g, err := s.AddGeneration(ctx, store.Generation{Parent: current, Parts: parts, Author: "ann", Share: 0.5})
	must(t, err)
	got, err := s.Generation(ctx, g.ID)
	must(t, err)
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
		kept, err := s.Entry(t.Context(), store.TrialID{Docket: d.ID, Ordinal: 1})
		must(t, err)
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
