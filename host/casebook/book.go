// Package casebook is the memory of earlier cases: what failed, how it looked, and what was decided of it.
//
// A Book is one SQLite file that programs may share. While a docket is tried, nobody looks at the file itself but at a
// Snapshot of it: a private copy that can't change, and whose digest belongs to the configuration of the docket. Verdicts
// go into the book afterwards, with Book.Remember, and only when somebody asks for it.
//
// An earlier case is found in two ways. Snapshot.Recall looks for the fingerprint of a failure, which Take makes from its
// text and which leaves out what differs between two runs of the same failure: times, addresses, temporary paths, line
// numbers. Snapshot.Correlate searches the text. Nothing here knows of a particular language, tool or team.
package casebook

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"
)

// Options are those of Open. The zero value is useful.
type Options struct {
	// Now tells when a case is remembered. Without it entries have the time 0, 1970.
	Now func() time.Time
	// BusyTimeout is how long to wait for other programs that write into the book: 5 seconds by default.
	BusyTimeout time.Duration
}

// Book is a casebook that can be written. Its methods may be called concurrently, and several programs may have the same book open.
type Book struct {
	db   *sql.DB
	path string
	now  func() time.Time
}

// Open opens the book in a file, or makes one, for its owner alone: it holds what logs hold. The folder must exist.
// Errors: ErrNewer, ErrNotCasebook, ErrCorrupt, ErrBusy and those of the file system. The caller closes it.
func Open(ctx context.Context, path string, opts Options) (*Book, error) {
	if opts.Now == nil {
		opts.Now = func() time.Time { return time.Unix(0, 0) }
	}
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("casebook: %w", err)
	}
	if err := file.Close(); err != nil {
		return nil, fmt.Errorf("casebook: %w", err)
	}
	db, err := connect(path, "rw", busyTimeout(opts))
	if err != nil {
		return nil, explain("open", path, err)
	}
	db.SetMaxOpenConns(1) // one writer; readers have snapshots
	b := &Book{db: db, path: path, now: opts.Now}
	if err := b.prepare(ctx); err != nil {
		return nil, errors.Join(explain("open", path, err), db.Close())
	}
	return b, nil
}

func busyTimeout(opts Options) time.Duration {
	if opts.BusyTimeout <= 0 {
		return 5 * time.Second
	}
	return opts.BusyTimeout
}

// prepare makes the tables of a new book, and upgrades those of an older one. Two programs may try to: the transaction is taken for writing at once.
func (b *Book) prepare(ctx context.Context) (err error) {
	if version, err := checkSchema(ctx, b.db); err != nil || version == schemaVersion {
		return err
	}
	tx, err := b.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer rollback(tx, &err)
	version, err := checkSchema(ctx, tx)
	if err != nil || version == schemaVersion {
		return err
	}
	if err := createSchema(ctx, tx, version); err != nil {
		return err
	}
	return tx.Commit()
}

// rollback ends a transaction that was not committed. When there is an error already, that is the cause: SQLite ends a
// transaction by itself when the disk is full or cannot be written, and then rejects the ROLLBACK.
func rollback(tx *sql.Tx, err *error) {
	if undone := tx.Rollback(); *err == nil && !errors.Is(undone, sql.ErrTxDone) {
		*err = undone
	}
}

// Snapshot copies the book as it is now. Its caller closes it; it stays whole when the book changes or is closed.
func (b *Book) Snapshot(ctx context.Context) (*Snapshot, error) { return snapshotOf(ctx, b.db, b.path) }

// Close closes the book. Snapshots stay open.
func (b *Book) Close() error { return explain("close", b.path, b.db.Close()) }

// OpenReadOnly takes a snapshot of the book in a file. It writes into the file only to roll back what a program that was killed had begun to
// write. An absent file is an error that wraps fs.ErrNotExist, one that can't be rolled back ErrUnfinished; the others are as those of Open.
func OpenReadOnly(ctx context.Context, path string, opts Options) (*Snapshot, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("casebook: %w", err)
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("casebook: %w", &fs.PathError{Op: "open", Path: path, Err: ErrNotCasebook})
	}
	s, err := read(ctx, path, "ro", opts)
	if errors.Is(err, ErrUnfinished) {
		return read(ctx, path, "rw", opts) // SQLite rolls back when it opens a file for writing
	}
	return s, err
}

func read(ctx context.Context, path, mode string, opts Options) (s *Snapshot, err error) {
	db, err := connect(path, mode, busyTimeout(opts))
	if err != nil {
		return nil, explain("open", path, err)
	}
	defer func() { err = errors.Join(err, explain("close", path, db.Close())) }()
	version, err := checkSchema(ctx, db)
	if err == nil && version == 0 {
		err = fmt.Errorf("%w: nothing was ever remembered in it", ErrNotCasebook)
	}
	if err != nil {
		return nil, explain("open", path, err)
	}
	return snapshotOf(ctx, db, path)
}
