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
	"github.com/shadowcourt/shadowcourt/internal/knowledge"
	"github.com/shadowcourt/shadowcourt/internal/service/store"
	"github.com/shadowcourt/shadowcourt/internal/tempdir"
)

// books builds casebooks from the log of the store, one for each repository and revision that a docket sees. It is safe for concurrent use.
type books struct {
	shelf[bookKey, *casebook.Snapshot] // nil where nothing is known
	store                              *store.Store

	building sync.Mutex
	dir      *tempdir.Dir
	of       map[string]*replayed // by repository
	files    int
	now      time.Time // of the revision that is replayed
}

func newBooks(s *store.Store) *books {
	b := &books{store: s, of: map[string]*replayed{}}
	b.openOne = b.build
	b.close = func(s *casebook.Snapshot) error {
		if s == nil {
			return nil
		}
		return s.Close()
	}
	return b
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

// build opens the casebook that a docket sees.
func (b *books) build(ctx context.Context, key bookKey) (*casebook.Snapshot, error) {
	if key.revision == 0 {
		return nil, nil //nolint:nilnil // nothing is known
	}
	s, err := b.replayTo(ctx, key)
	if err != nil {
		return nil, fmt.Errorf("casebook at revision %d: %w", key.revision, err)
	}
	return s, nil
}

// replayTo replays the log of a repository up to a revision; nil where it is empty. What was replayed before is continued where it is a
// beginning of it; a correction that was taken back needs a new book.
func (b *books) replayTo(ctx context.Context, key bookKey) (*casebook.Snapshot, error) {
	b.building.Lock()
	defer b.building.Unlock()
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
			return nil, errors.Join(err, b.forget(key.repository))
		}
		r.revisions = append(r.revisions, next)
	}
	return r.book.Snapshot(ctx)
}

// begin opens an empty book for a repository.
func (b *books) begin(ctx context.Context, repository string) (*replayed, error) {
	err := b.forget(repository)
	if err == nil && b.dir == nil {
		b.dir, err = tempdir.New("shadowcourt-service")
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

// forget closes the book of a repository.
func (b *books) forget(repository string) error {
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
	run := casebook.Run{Suites: suites}
	for i := range learned {
		l := &learned[i]
		entry := casebook.Entry{CaseID: l.Case.ID, Group: l.Case.Group, Failure: knowledge.Failure(&l.Case)}
		if l.Status != "" {
			entry.Verdict = &casebook.Verdict{
				Origin: casebook.Origin(l.Origin), Status: l.Status, Classification: l.Label, Confidence: l.Confidence,
			}
		}
		run.Entries = append(run.Entries, entry)
	}
	b.now = created
	_, err = book.Remember(ctx, run)
	return err
}

// end removes everything. No snapshot is in use any more.
func (b *books) end() error {
	err := b.shelf.end()
	for repository := range b.of {
		err = errors.Join(err, b.forget(repository))
	}
	if b.dir != nil {
		err = errors.Join(err, b.dir.Remove())
	}
	return err
}
