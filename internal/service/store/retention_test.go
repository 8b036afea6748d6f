package store_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/internal/service/store"
)

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
	_, err := s.Correct(ctx, "ann", "flake", []store.TrialID{{Docket: old.ID, Ordinal: 4}})
	must(t, err)
	c.millis.Add(4 * month.Milliseconds())
	young := submit(t, s, store.Submission{}, entry("young", long+"young"), entry("shared", long+"shared"))
	tryAll(t, s, surely)
	waiting := submit(t, s, store.Submission{}, entry("waits", long+"waits"))

	removed, err := s.Retain(ctx, store.Keep{Age: 3 * month})
	must(t, err)
	// The docket stays for its correction; of the cases "old", "with members" and "member" go. The verdict of "shared" is that of
	// the later docket, too.
	want := store.Removed{Entries: 3, Verdicts: 2, Cases: 3, Documents: 3, Records: 2}
	if removed != want {
		t.Errorf("removed %+v instead of %+v", removed, want)
	}
	again, err := s.Retain(ctx, store.Keep{Age: 3 * month})
	must(t, err)
	if again != (store.Removed{}) {
		t.Errorf("removed again: %+v", again)
	}
	for _, id := range []store.TrialID{{Docket: old.ID, Ordinal: 4}, {Docket: young.ID, Ordinal: 1}, {Docket: young.ID, Ordinal: 2}, {Docket: waiting.ID, Ordinal: 1}} {
		if _, err := s.Trial(ctx, id); err != nil {
			t.Errorf("%s: %v", id, err)
		}
	}
	if _, _, _, err := s.CasebookRun(ctx, 1, ""); err != nil {
		t.Errorf("what the casebook learned: %v", err)
	}

	if removed, err = s.Retain(ctx, store.Keep{Bytes: 1}); err != nil || removed.Dockets != 0 {
		t.Errorf("for want of room, of dockets whose cases can't go yet: %+v, %v", removed, err)
	}
	c.millis.Add(month.Milliseconds())
	removed, err = s.Retain(ctx, store.Keep{Bytes: 1})
	must(t, err)
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
	removed, err = s.Retain(ctx, store.Keep{Age: 3 * month})
	must(t, err)
	must(t, s.Recount(ctx))
	if _, err := s.Docket(ctx, large.ID); removed.Entries < int64(len(many)) || !errors.Is(err, store.ErrNotFound) {
		t.Errorf("of a large docket: %+v, %v", removed, err)
	}
}

func TestRetention(t *testing.T) {
	t.Parallel()
	c := &clock{}
	retains(t, openWith(t, t.TempDir()+"/shadowcourt.db", c), c)
}
