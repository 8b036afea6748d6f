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
	"github.com/shadowcourt/shadowcourt/internal/disk"
	"github.com/shadowcourt/shadowcourt/internal/run"
	"github.com/shadowcourt/shadowcourt/internal/service/store"
)

// idleBooks is how many revisions of the casebook stay open that no batch uses.
const idleBooks = 4

// books builds casebooks from the log of the store, one for each repository and revision that a docket sees. It is safe for concurrent use.
type books struct {
	store *store.Store

	mu    sync.Mutex
	dir   *disk.Dir
	of    map[string]*replayed // by repository
	files int
	now   time.Time // of the revision that is replayed
	open  map[bookKey]*openBook
	clock int64
}

// bookKey names what a docket sees of the casebook: what was learned of its repository up to a revision.
type bookKey struct {
	revision   int64
	repository string
}

// replayed is a book with the revisions in it.
type replayed struct {
	book      *casebook.Book
	file      string
	revisions []int64
}

// openBook is a snapshot at one revision.
type openBook struct {
	snapshot *casebook.Snapshot
	users    int
	used     int64
}

// get gives the casebook of a docket; nil where nothing is known. The caller calls release once.
func (b *books) get(ctx context.Context, key bookKey) (s *casebook.Snapshot, release func(), err error) {
	if key.revision == 0 {
		return nil, func() {}, nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	o := b.open[key]
	if o == nil {
		snapshot, err := b.build(ctx, key)
		if err != nil {
			return nil, nil, fmt.Errorf("casebook at revision %d: %w", key.revision, err)
		}
		if snapshot == nil {
			return nil, func() {}, nil
		}
		o = &openBook{snapshot: snapshot}
		b.open[key] = o
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
	var idle []bookKey
	for key, o := range b.open {
		if o.users == 0 {
			idle = append(idle, key)
		}
	}
	slices.SortFunc(idle, func(x, y bookKey) int { return int(b.open[x].used - b.open[y].used) })
	var err error
	for _, key := range idle[:max(len(idle)-most, 0)] {
		err = errors.Join(err, b.open[key].snapshot.Close())
		delete(b.open, key)
	}
	return err
}

// build replays the log of a repository up to a revision; nil where it is empty. What was replayed before is continued where it is a
// beginning of it; a correction that was taken back needs a new book.
func (b *books) build(ctx context.Context, key bookKey) (*casebook.Snapshot, error) {
	log, err := b.store.CasebookLog(ctx, key.revision, key.repository)
	if err != nil || len(log) == 0 {
		return nil, err
	}
	r := b.of[key.repository]
	if r == nil || len(r.revisions) > len(log) || !slices.Equal(r.revisions, log[:len(r.revisions)]) {
		if r, err = b.begin(ctx, key.repository); err != nil {
			return nil, err
		}
	}
	for _, next := range log[len(r.revisions):] {
		if err := b.replay(ctx, r.book, next, key.repository); err != nil {
			return nil, errors.Join(err, b.drop(key.repository))
		}
		r.revisions = append(r.revisions, next)
	}
	return r.book.Snapshot(ctx)
}

// begin opens an empty book for a repository.
func (b *books) begin(ctx context.Context, repository string) (*replayed, error) {
	err := b.drop(repository)
	if err == nil && b.dir == nil {
		b.dir, err = disk.TempDir("shadowcourt-service")
	}
	if err != nil {
		return nil, err
	}
	b.files++
	r := &replayed{file: filepath.Join(b.dir.Path, fmt.Sprintf("casebook-%d.db", b.files))}
	if r.book, err = casebook.Open(ctx, r.file, casebook.Options{Now: func() time.Time { return b.now }}); err != nil {
		return nil, err
	}
	b.of[repository] = r
	return r, nil
}

// drop forgets the book of a repository.
func (b *books) drop(repository string) error {
	r := b.of[repository]
	if r == nil {
		return nil
	}
	delete(b.of, repository)
	return errors.Join(r.book.Close(), os.Remove(r.file))
}

// replay adds one revision of the log.
func (b *books) replay(ctx context.Context, book *casebook.Book, revision int64, repository string) error {
	suites, learned, created, err := b.store.CasebookRun(ctx, revision, repository)
	if err != nil {
		return err
	}
	learn := casebook.Run{Suites: suites}
	for i := range learned {
		l := &learned[i]
		entry := casebook.Entry{CaseID: l.Case.ID, Group: l.Case.Group, Failure: run.Failure(l.Case)}
		if l.Status != "" {
			entry.Verdict = &casebook.Verdict{
				Origin: casebook.Origin(l.Origin), Status: l.Status, Classification: l.Label, Confidence: l.Confidence,
			}
		}
		learn.Entries = append(learn.Entries, entry)
	}
	b.now = created
	_, err = book.Remember(ctx, learn)
	return err
}

// close removes everything. No snapshot is in use any more.
func (b *books) close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	err := b.closeIdle(0)
	for repository := range b.of {
		err = errors.Join(err, b.drop(repository))
	}
	if b.dir != nil {
		err = errors.Join(err, b.dir.Remove())
	}
	return err
}
