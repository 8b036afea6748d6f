package moduledir_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/host/moduledir"
)

func digestOf(content string) string { return moduledir.Digest([]byte(content)) }

// prunes compares what is removed, and that the folder has no more than what is left.
func prunes(t *testing.T, d *moduledir.Dir, path string, keep int, want ...string) {
	t.Helper()
	removed, err := d.Prune("judge", keep)
	if err != nil {
		t.Fatal(err)
	}
	for i := range want {
		want[i] = digestOf(want[i])
	}
	if !slices.Equal(removed, want) {
		t.Errorf("removed %q, want %q", removed, want)
	}
	h, err := d.History("judge")
	if err != nil {
		t.Fatal(err)
	}
	for _, digest := range removed {
		if slices.Contains(h.Order, digest) || slices.Contains(h.Kept, digest) {
			t.Errorf("%s is in the history still: %+v", digest, h)
		}
	}
	for _, digest := range h.Order {
		if !slices.Contains(h.Kept, digest) {
			t.Errorf("the order names %s, which is gone", digest)
		}
	}
	left, err := os.ReadFile(filepath.Join(path, ".history", "judge", "left"))
	if err != nil || len(strings.Fields(string(left))) > keep+1 {
		t.Errorf("left: %q, %v", left, err)
	}
}

func TestTheOldestGoFirst(t *testing.T) {
	t.Parallel()
	d, path := open(t)
	for i := range 8 {
		replace(t, d, strconv.Itoa(i))
	}
	prunes(t, d, path, 7)
	prunes(t, d, path, 5, "0", "1")
	replace(t, d, "3") // again: it is in place, and was not removed
	replace(t, d, "8") // and is the youngest now
	prunes(t, d, path, 3, "2", "4", "5")
	for _, want := range []string{"3", "7", "6", "3"} {
		rollback(t, d, "")
		holds(t, path, want)
	}
	if _, err := d.Rollback("judge", ""); !errors.Is(err, moduledir.ErrNothingBefore) {
		t.Errorf("behind the oldest: %v", err)
	}
}

// What was rolled back is kept as long as others; what a rollback would take
// next is kept however old it is, and so is what is in place.
func TestTheNextOfARollbackStays(t *testing.T) {
	t.Parallel()
	d, path := open(t)
	for _, content := range []string{"a", "b", "c", "d"} {
		replace(t, d, content)
	}
	rollback(t, d, "")
	rollback(t, d, "") // b is in place, a next; d and c were rolled back, d first
	prunes(t, d, path, 2, "d")
	prunes(t, d, path, 1, "c")
	prunes(t, d, path, 1)
	holds(t, path, "b")
	if h, err := d.History("judge"); err != nil || !slices.Contains(h.Kept, digestOf("b")) {
		t.Errorf("the copy of what is in place went: %+v, %v", h, err)
	}
	rollback(t, d, "")
	holds(t, path, "a")
	if _, err := d.Prune("judge", 0); err == nil {
		t.Error("nothing at all was kept")
	}
	if removed, err := d.Prune("nobody", 1); err != nil || len(removed) > 0 {
		t.Errorf("without a history: %q, %v", removed, err)
	}
}

// A history from before there was the list goes by its order; one that was cut
// short between its lists and its files is put right.
func TestAHistoryWithoutTheListOfAges(t *testing.T) {
	t.Parallel()
	d, path := open(t)
	for _, content := range []string{"a", "b", "c", "d", "e"} {
		replace(t, d, content)
	}
	rollback(t, d, "")
	if err := os.Remove(filepath.Join(path, ".history", "judge", "left")); err != nil {
		t.Fatal(err)
	}
	replace(t, d, "f") // d leaves, and is the only one whose age is known
	prunes(t, d, path, 3, "e", "a")
	replace(t, d, "g")
	prunes(t, d, path, 2, "b", "c")
}

// Two modules that take turns don't make the order grow for ever.
func TestTheOrderIsBounded(t *testing.T) {
	t.Parallel()
	d, path := open(t)
	for _, content := range []string{"a", "b", "a"} {
		replace(t, d, content)
	}
	order := filepath.Join(path, ".history", "judge", "order")
	turns := strings.Repeat(digestOf("a")+"\n"+digestOf("b")+"\n", 2000)
	if err := os.WriteFile(order, []byte(turns), 0o600); err != nil {
		t.Fatal(err)
	}
	prunes(t, d, path, 20)
	if h, err := d.History("judge"); err != nil || len(h.Order) != 1000 || h.Order[999] != digestOf("b") {
		t.Errorf("%d steps, %v", len(h.Order), err)
	}
	rollback(t, d, "")
	holds(t, path, "b")
}
