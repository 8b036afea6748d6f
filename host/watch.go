package host

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/shadowcourt/shadowcourt/host/internal/court"
	"github.com/shadowcourt/shadowcourt/host/record"
)

// Watch says how a folder of modules is followed.
type Watch struct {
	// Modules holds the NAME.wasm files. They are read again at every tick, and known by their content alone: no time stamp is looked at.
	Modules fs.FS
	// Ticks say when to look. A change counts when two looks in a row saw the same, so that a file that is being written is not taken, and
	// when no swap of a moduledir.Dir is under way, so that none is taken in part.
	Ticks <-chan time.Time
	// Swapped is told what has changed, after trials begin with it. Optional.
	Swapped func(changes []Change)
	// Rejected is called with the reason why modules were not installed, once for each content of the folder; those before go on. Optional.
	Rejected func(error)
}

// Change is a module that a swap replaced, with the digests of both.
type Change struct{ Module, Before, After string }

// Follow swaps modules when those of a folder change, until the context or the ticks end. New ones are compiled, checked and warmed before
// a trial sees them, all or none of them, while trials go on. It calls Swapped and Rejected itself, one at a time.
func (h *Host) Follow(ctx context.Context, w Watch) { follow(ctx, h.court.Runtime, w) }

func follow(ctx context.Context, r *court.Runtime, w Watch) {
	f := newFollower(ctx, r, w)
	for {
		select {
		case <-ctx.Done():
			return
		case _, more := <-w.Ticks:
			if !more || ctx.Err() != nil {
				return
			}
			f.look(ctx)
		}
	}
}

// follower is what Follow remembers. States are digests of all modules, or why they could not be read.
type follower struct {
	runtime *court.Runtime
	watch   Watch
	seen    string // at the last look
	done    string // what was last taken or rejected
}

func newFollower(ctx context.Context, r *court.Runtime, w Watch) *follower {
	return &follower{runtime: r, watch: w, done: stateOf(r.Digests(ctx), nil)}
}

// look reads the folder once, and swaps if it shows something new for the second time.
func (f *follower) look(ctx context.Context) {
	// All files are read and hashed each time: copying keeps time stamps, and two writes within their resolution share one.
	files, err := court.ReadGeneration(f.watch.Modules, f.runtime.ModuleNames())
	if court.Changing(err) {
		f.seen = ""
		return
	}
	digests := make(map[string]string, len(files))
	for name, wasm := range files {
		digests[name] = string(record.DigestOf(wasm))
	}
	state := stateOf(digests, err)
	steady := state == f.seen
	f.seen = state
	if !steady || state == f.done {
		return
	}
	before := f.runtime.Digests(ctx)
	if err == nil {
		err = f.runtime.Install(ctx, court.Files(files))
	}
	if err != nil && (ctx.Err() != nil || errors.Is(err, ErrClosed)) {
		return
	}
	f.done = state
	if err != nil {
		if f.watch.Rejected != nil {
			f.watch.Rejected(err)
		}
		return
	}
	var changes []Change
	for _, name := range slices.Sorted(maps.Keys(digests)) {
		if before[name] != digests[name] {
			changes = append(changes, Change{name, before[name], digests[name]})
		}
	}
	if len(changes) > 0 && f.watch.Swapped != nil {
		f.watch.Swapped(changes)
	}
}

// stateOf tells what a folder holds from what it held before.
func stateOf(digests map[string]string, err error) string {
	if err != nil {
		return "error: " + err.Error()
	}
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(digests)) {
		b.WriteString(name + " " + digests[name] + "\n")
	}
	return b.String()
}
