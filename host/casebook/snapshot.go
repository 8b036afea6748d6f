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
	"path/filepath"
	"strconv"
	"time"

	"github.com/shadowcourt/shadowcourt/internal/disk"
)

// maxReaders bounds the connections of a snapshot; more callers wait for one.
const maxReaders = 8

// Snapshot is a book as it was at one moment. Its methods may be called concurrently.
type Snapshot struct {
	db     *sql.DB
	path   string // of the book, for errors
	folder *disk.Dir
	digest string
	cases  int
}

// snapshotOf copies the book into a temporary file of its own, which needs no locks.
func snapshotOf(ctx context.Context, book *sql.DB, path string) (_ *Snapshot, err error) {
	folder, err := disk.TempDir("shadowcourt-casebook")
	if err != nil {
		return nil, fmt.Errorf("casebook %s: %w", path, err)
	}
	s := &Snapshot{path: path, folder: folder}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.Close())
		}
	}()
	file := filepath.Join(folder.Path, "snapshot.db")
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
	version, err := checkSchema(ctx, s.db)
	if err == nil && version == 0 {
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

// Digest is the SHA-256 of what the snapshot holds, in hexadecimal digits: the same for the same runs, whatever the order of
// the cases within each.
func (s *Snapshot) Digest() string { return s.digest }

// Len is the number of cases, with each verdict of a case counted.
func (s *Snapshot) Len() int { return s.cases }

// Close removes the copy. Nothing may be asked afterwards.
func (s *Snapshot) Close() error {
	var err error
	if s.db != nil {
		err = s.db.Close()
	}
	return errors.Join(err, s.folder.Remove())
}

// read goes through all that can be asked about once, in the order of the keys.
func (s *Snapshot) read(ctx context.Context) error {
	h := sha256.New()
	writeString(h, formVersion)
	err := each(ctx, s.db, func(rows *sql.Rows) error {
		s.cases++
		return addCase(h, rows)
	}, `SELECT case_id, exact, origin, status, classification, grp, subject, body, confidence,
		first_run, turn
		FROM cases ORDER BY case_id, exact, origin, status, classification`)
	for _, query := range []string{
		`SELECT suite, '', run FROM suites ORDER BY run, suite`,
		`SELECT exact, case_id, run FROM sightings ORDER BY run, exact, case_id`,
	} {
		if err == nil {
			writeString(h, query)
			err = each(ctx, s.db, func(rows *sql.Rows) error {
				var what, of, run string
				err := rows.Scan(&what, &of, &run)
				writeStrings(h, what, of, run)
				return err
			}, query)
		}
	}
	s.digest = hex.EncodeToString(h.Sum(nil))
	return err
}

func addCase(h hash.Hash, rows *sql.Rows) error {
	var texts [8]string
	var confidence float64
	var first, turn int64
	if err := rows.Scan(&texts[0], &texts[1], &texts[2], &texts[3], &texts[4], &texts[5], &texts[6], &texts[7],
		&confidence, &first, &turn); err != nil {
		return err
	}
	if origin := Origin(texts[2]); !(confidence >= 0 && confidence <= 1) || origin != Decided && origin != Confirmed || first < 1 || turn < 1 {
		return fmt.Errorf("%w: case %q has a value that can't be", ErrCorrupt, texts[0])
	}
	writeStrings(h, texts[:]...)
	writeStrings(h, strconv.FormatUint(math.Float64bits(confidence), 16), strconv.FormatInt(first, 10), strconv.FormatInt(turn, 10))
	return nil
}

func writeStrings(h hash.Hash, texts ...string) {
	for _, text := range texts {
		writeString(h, text)
	}
}
