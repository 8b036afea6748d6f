package store_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/service/store"
)

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
			box, err := s.Inbox(ctx, store.InboxFilter{})
			must(t, err)
			if len(box.Groups) > 0 {
				c, err := s.CorrectGroup(ctx, "ann", "bug", box.Groups[r.IntN(len(box.Groups))].Key, store.InboxFilter{})
				must(t, err)
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
	_, err := s.Retain(ctx, store.Keep{Age: time.Nanosecond})
	must(t, err)
	check("retention")
	for _, id := range corrections {
		if _, err := s.Undo(ctx, "ann", id); err != nil && !errors.Is(err, store.ErrState) {
			t.Fatal(err)
		}
	}
	_, err = s.Retain(ctx, store.Keep{Age: time.Nanosecond})
	must(t, err)
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
	must(t, s.Recount(ctx))
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
			box, err := s.Inbox(ctx, f)
			must(t, err)
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
				_, err := s.CorrectGroup(ctx, "ann", "bug", box.Groups[0].Key, store.InboxFilter{})
				must(t, err)
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
		list, err := s.Entries(ctx, f)
		must(t, err)
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
