package moduledir

import (
	"errors"
	"io/fs"
	"os"
	"slices"

	"github.com/shadowcourt/shadowcourt/internal/disk"
)

// DefaultKeep is how many modules the history of a name keeps where nobody says
// otherwise.
const DefaultKeep = 20

// mostSteps bounds the order, in which the same few modules may take turns.
const mostSteps = 1000

// Prune takes modules out of the history of a name until at most keep are left
// beside the one in place: those first that were replaced or rolled back
// longest ago, and never the one that a rollback would go to next. It gives the
// digests of what it removed, in that order. keep is at least 1.
func (d *Dir) Prune(name string, keep int) ([]string, error) {
	if keep < 1 {
		return nil, errors.New("a history keeps one module at least")
	}
	h, err := d.History(name)
	if err != nil {
		return nil, err
	}
	oldest, err := d.byAge(name, &h)
	if err != nil {
		return nil, err
	}
	next, _, err := d.last(name)
	if err != nil && !errors.Is(err, ErrNothingBefore) {
		return nil, err
	}
	if i := slices.Index(oldest, next); i >= 0 {
		oldest = append(slices.Delete(oldest, i, i+1), next) // it goes last of all
	}
	removed := oldest[:max(0, len(oldest)-keep)]
	if err := d.forget(name, h.Order, removed); err != nil {
		return nil, err
	}
	return removed, nil
}

// byAge gives what a history keeps beside the module in place, what was replaced
// longest ago first. What came there before there was a list of that was rolled
// back, or goes by the order.
func (d *Dir) byAge(name string, h *History) ([]string, error) {
	left, err := d.list(name, leftFile)
	if err != nil {
		return nil, err
	}
	age := func(digest string) int {
		if i := slices.Index(left, digest); i >= 0 {
			return len(h.Order) + i
		}
		return lastIndex(h.Order, digest)
	}
	oldest := slices.DeleteFunc(slices.Clone(h.Kept), func(digest string) bool { return digest == h.Now })
	slices.SortStableFunc(oldest, func(a, b string) int { return age(a) - age(b) })
	return oldest, nil
}

// forget removes modules, once no list names them, so that a rollback never
// looks for one that is gone.
func (d *Dir) forget(name string, order, removed []string) error {
	gone := func(digest string) bool { return slices.Contains(removed, digest) }
	rest := slices.DeleteFunc(slices.Clone(order), gone)
	rest = rest[max(0, len(rest)-mostSteps):]
	if len(rest) != len(order) {
		if err := d.setList(name, orderFile, rest); err != nil {
			return err
		}
	}
	if len(removed) == 0 {
		return nil
	}
	left, err := d.list(name, leftFile)
	if err == nil {
		err = d.setList(name, leftFile, slices.DeleteFunc(left, gone))
	}
	if err != nil {
		return err
	}
	for _, digest := range removed {
		if err := os.Remove(d.keptFile(name, digest)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return disk.SyncFolder(d.history(name))
}

// noteLeaving puts a module that leaves its place at the end of those that did.
func (d *Dir) noteLeaving(name, digest string) error {
	left, err := d.list(name, leftFile)
	if err != nil {
		return err
	}
	left = slices.DeleteFunc(left, func(other string) bool { return other == digest })
	return d.setList(name, leftFile, append(left, digest))
}

// lastIndex is where a digest stands last, or -1.
func lastIndex(order []string, digest string) int {
	for i, other := range slices.Backward(order) {
		if other == digest {
			return i
		}
	}
	return -1
}
