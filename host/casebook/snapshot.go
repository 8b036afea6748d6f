package casebook

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// maxReaders bounds the connections of a snapshot; more callers wait for one.
const maxReaders = 8

// Snapshot is a book as it was at one moment. Its methods may be called concurrently.
type Snapshot struct {
	db     *sql.DB
	path   string // of the book, for errors
	folder string
	digest string
	cases  int
}

// snapshotOf copies the book into a file of its own, which nobody else knows and which needs no locks.
func snapshotOf(ctx context.Context, book *sql.DB, path string) (_ *Snapshot, err error) {
	folder, err := os.MkdirTemp("", "casebook-")
	if err != nil {
		return nil, fmt.Errorf("casebook %s: %w", path, err)
	}
	s := &Snapshot{path: path, folder: folder}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.Close())
		}
	}()
	file := filepath.Join(folder, "snapshot.db")
	if _, err := book.ExecContext(ctx, `VACUUM INTO ?`, file); err != nil {
		return nil, explain("snapshot", path, err)
	}
	s.db, err = connect(file, "ro", time.Second, "query_only(1)")
	if err != nil {
		return nil, explain("snapshot", path, err)
	}
	s.db.SetMaxOpenConns(maxReaders)
	s.db.SetMaxIdleConns(maxReaders)
	// What was copied is checked again: the first look was before the transaction that copied it.
	empty, err := checkSchema(ctx, s.db)
	if err == nil && empty {
		err = ErrNotCasebook
	}
	if err == nil {
		err = s.read(ctx)
	}
	if err != nil {
		return nil, explain("snapshot", path, err)
	}
	return s, nil
}

// Digest is the SHA-256 of what the snapshot holds, in hexadecimal digits: the same for the same cases, in whatever order
// they were remembered.
func (s *Snapshot) Digest() string { return s.digest }

// Len is the number of cases, with each verdict of a case counted.
func (s *Snapshot) Len() int { return s.cases }

// Close removes the copy. Nothing may be asked afterwards.
func (s *Snapshot) Close() error {
	var err error
	if s.db != nil {
		err = s.db.Close()
	}
	return errors.Join(err, os.RemoveAll(s.folder))
}

// read goes through all cases once, in the order of their keys.
func (s *Snapshot) read(ctx context.Context) (err error) {
	rows, err := s.db.QueryContext(ctx, `SELECT case_id, exact, status, classification, loose, grp, subject, body, sketch,
		confidence, remembered FROM cases ORDER BY case_id, exact, status, classification`)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	h := sha256.New()
	writeString(h, formVersion)
	for rows.Next() {
		if err := addRow(h, rows); err != nil {
			return err
		}
		s.cases++
	}
	s.digest = hex.EncodeToString(h.Sum(nil))
	return rows.Err()
}

func addRow(h hash.Hash, rows *sql.Rows) error {
	var texts [8]string
	var sketch []byte
	var confidence float64
	var remembered int64
	if err := rows.Scan(&texts[0], &texts[1], &texts[2], &texts[3], &texts[4], &texts[5], &texts[6], &texts[7], &sketch,
		&confidence, &remembered); err != nil {
		return err
	}
	if _, ok := sketchFrom(sketch); !ok || !(confidence >= 0 && confidence <= 1) {
		return fmt.Errorf("%w: case %q has a value that can't be", ErrCorrupt, texts[0])
	}
	for _, text := range texts {
		writeString(h, text)
	}
	writeString(h, string(sketch))
	writeString(h, strconv.FormatUint(math.Float64bits(confidence), 16))
	writeString(h, strconv.FormatInt(remembered, 10))
	return nil
}
