package work

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/shadowcourt/shadowcourt/host/casebook"
	"github.com/shadowcourt/shadowcourt/host/internal/tempdir"
	"github.com/shadowcourt/shadowcourt/host/knowledge"
	"github.com/shadowcourt/shadowcourt/host/service/store"
)

// idleBooks is how many revisions of the casebook stay open that no batch uses.
const idleBooks = 4

// books builds casebooks from the log of the store, one for each revision that a docket sees. It is safe for concurrent use.
type books struct {
	store *store.Store

	mu       sync.Mutex
	dir      *tempdir.Dir
	book     *casebook.Book // what was replayed last
	replayed []int64        // the revisions in it
	files    int
	now      time.Time // of the revision that is replayed
	open     map[int64]*openBook
	clock    int64
}

// openBook is a snapshot at one revision.
type openBook struct {
	snapshot *casebook.Snapshot
	users    int
	used     int64
}

// get gives the casebook at a revision; nil for revision 0, at which nothing is known. The caller calls release once.
func (b *books) get(ctx context.Context, revision int64) (s *casebook.Snapshot, release func(), err error) {
	if revision == 0 {
		return nil, func() {}, nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	o := b.open[revision]
	if o == nil {
		snapshot, err := b.build(ctx, revision)
		if err != nil {
			return nil, nil, fmt.Errorf("casebook at revision %d: %w", revision, err)
		}
		o = &openBook{snapshot: snapshot}
		b.open[revision] = o
	}
	o.users++
	return o.snapshot, func() { b.release(o) }, nil
}

func (b *books) release(o *openBook) {
	b.mu.Lock()
	defer b.mu.Unlock()
	o.users--
	b.clock++
	o.used = b.clock
	_ = b.closeIdle(idleBooks) // it is a copy in a temporary folder
}

// closeIdle closes the snapshots that nobody uses, until at most so many are left.
func (b *books) closeIdle(most int) error {
	var idle []int64
	for revision, o := range b.open {
		if o.users == 0 {
			idle = append(idle, revision)
		}
	}
	slices.SortFunc(idle, func(x, y int64) int { return int(b.open[x].used - b.open[y].used) })
	var err error
	for _, revision := range idle[:max(len(idle)-most, 0)] {
		err = errors.Join(err, b.open[revision].snapshot.Close())
		delete(b.open, revision)
	}
	return err
}

// build replays the log up to a revision. What was replayed before is continued where it is a beginning of it; a correction that
// was taken back needs a new book.
func (b *books) build(ctx context.Context, revision int64) (*casebook.Snapshot, error) {
	log, err := b.store.CasebookLog(ctx, revision)
	if err != nil {
		return nil, err
	}
	if b.book == nil || len(b.replayed) > len(log) || !slices.Equal(b.replayed, log[:len(b.replayed)]) {
		if err := b.begin(ctx); err != nil {
			return nil, err
		}
	}
	for _, next := range log[len(b.replayed):] {
		if err := b.replay(ctx, next); err != nil {
			return nil, errors.Join(err, b.drop())
		}
		b.replayed = append(b.replayed, next)
	}
	return b.book.Snapshot(ctx)
}

// begin opens an empty book.
func (b *books) begin(ctx context.Context) error {
	err := b.drop()
	if err == nil && b.dir == nil {
		b.dir, err = tempdir.New("shadowcourt-service")
	}
	if err != nil {
		return err
	}
	b.files++
	b.book, err = casebook.Open(ctx, b.file(), casebook.Options{Now: func() time.Time { return b.now }})
	return err
}

func (b *books) file() string {
	return filepath.Join(b.dir.Path, fmt.Sprintf("casebook-%d.db", b.files))
}

// drop forgets the book.
func (b *books) drop() error {
	if b.book == nil {
		return nil
	}
	err := errors.Join(b.book.Close(), os.Remove(b.file()))
	b.book, b.replayed = nil, nil
	return err
}

// replay adds one revision of the log.
func (b *books) replay(ctx context.Context, revision int64) error {
	suites, learned, created, err := b.store.CasebookRun(ctx, revision)
	if err != nil {
		return err
	}
	run := casebook.Run{Suites: suites}
	for i := range learned {
		l := &learned[i]
		entry := casebook.Entry{CaseID: l.Case.ID, Group: l.Case.Group, Failure: knowledge.Failure(l.Case)}
		if l.Status != "" {
			entry.Verdict = &casebook.Verdict{
				Origin: casebook.Origin(l.Origin), Status: l.Status, Classification: l.Label, Confidence: l.Confidence,
			}
		}
		run.Entries = append(run.Entries, entry)
	}
	b.now = created
	_, err = b.book.Remember(ctx, run)
	return err
}

// close removes everything. No snapshot is in use any more.
func (b *books) close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	err := errors.Join(b.closeIdle(0), b.drop())
	if b.dir != nil {
		err = errors.Join(err, b.dir.Remove())
	}
	return err
}
