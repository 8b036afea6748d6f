package casebook

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

const (
	// applicationID marks the file as a casebook: "SCcb".
	applicationID = 0x53436362
	schemaVersion = 2
)

// Verdicts stand in cases; words is the index of their texts. Runs are numbered in the order
// in which they were remembered: suites says what was run in each, sightings which failures were seen. Calls of Remember take turns:
// of two verdicts on a case that of the later turn counts.
var schema = []string{
	`CREATE TABLE cases (
	id INTEGER PRIMARY KEY,
	case_id TEXT NOT NULL,
	exact TEXT NOT NULL,
	grp TEXT NOT NULL,
	subject TEXT NOT NULL,
	status TEXT NOT NULL,
	classification TEXT NOT NULL,
	confidence REAL NOT NULL,
	origin TEXT NOT NULL,
	first_run INTEGER NOT NULL,
	turn INTEGER NOT NULL,
	remembered INTEGER NOT NULL,
	body TEXT NOT NULL,
	UNIQUE (case_id, exact, origin, status, classification)
) STRICT`,
	`CREATE INDEX cases_exact ON cases (exact)`,
	`CREATE TABLE runs (seq INTEGER PRIMARY KEY, key TEXT NOT NULL) STRICT`,
	`CREATE TABLE suites (suite TEXT NOT NULL, run INTEGER NOT NULL, PRIMARY KEY (suite, run)) STRICT, WITHOUT ROWID`,
	`CREATE TABLE sightings (exact TEXT NOT NULL, run INTEGER NOT NULL, case_id TEXT NOT NULL, PRIMARY KEY (exact, run, case_id)) STRICT, WITHOUT ROWID`,
	`CREATE INDEX suites_run ON suites (run)`,
	`CREATE INDEX runs_key ON runs (key)`,
	`CREATE VIRTUAL TABLE words USING fts5(subject, body, content='cases', content_rowid='id', tokenize="unicode61 remove_diacritics 2")`,
	`CREATE VIRTUAL TABLE vocabulary USING fts5vocab(words, row)`,
}

// connect opens a pool on a file with the given mode (rw or ro).
func connect(path, mode string, busy time.Duration, extra ...string) (*sql.DB, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	query := url.Values{"mode": {mode}, "_txlock": {"immediate"}, "_pragma": append([]string{
		"busy_timeout(" + strconv.FormatInt(busy.Milliseconds(), 10) + ")",
		"trusted_schema(0)", "cell_size_check(1)", "synchronous(extra)", // a commit removes the journal: that, too, must be on the disk
	}, extra...)}
	location := url.URL{Scheme: "file", Path: filepath.ToSlash(abs), RawQuery: query.Encode()}
	return sql.Open("sqlite", location.String())
}

// rowser is what a database, a connection and a transaction have in common.
type rowser interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// version1 has the tables of version 1, which kept sketches to find failures that are only similar. Such a book is read as it is, and
// upgraded when it is opened for writing.
func version1() []string {
	list := slices.Clone(schema)
	list[0] = strings.Replace(list[0], "\tgrp", "\tloose TEXT NOT NULL,\n\tsketch BLOB NOT NULL,\n\tgrp", 1)
	return append(list, `CREATE INDEX cases_loose ON cases (loose)`,
		`CREATE TABLE found_by (band INTEGER NOT NULL, id INTEGER NOT NULL, PRIMARY KEY (band, id)) STRICT, WITHOUT ROWID`)
}

// checkSchema gives the version of a casebook, 0 of a file without tables. Any other file is an error.
func checkSchema(ctx context.Context, db rowser) (version int, err error) {
	var id, tables int
	if err := db.QueryRowContext(ctx, `SELECT (SELECT application_id FROM pragma_application_id),
		(SELECT user_version FROM pragma_user_version), (SELECT count(*) FROM sqlite_schema)`).Scan(&id, &version, &tables); err != nil {
		return 0, err
	}
	switch {
	case id == 0 && version == 0 && tables == 0:
		return 0, nil
	case id != applicationID:
		return 0, ErrNotCasebook
	case version > schemaVersion:
		return 0, fmt.Errorf("%w: %d, and this program knows up to %d", ErrNewer, version, schemaVersion)
	case version < 1:
		return 0, fmt.Errorf("%w: version %d", ErrCorrupt, version)
	case version == 1:
		return version, checkTables(ctx, db, version1())
	}
	return version, checkTables(ctx, db, schema)
}

// each goes through the rows of a query.
func each(ctx context.Context, db rowser, do func(*sql.Rows) error, query string, args ...any) (err error) {
	rows, err := db.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		if err := do(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// checkTables rejects a file whose tables are others than ours: it may hold triggers and views that run when it is read.
func checkTables(ctx context.Context, db rowser, schema []string) error {
	have := map[string]bool{}
	err := each(ctx, db, func(rows *sql.Rows) error {
		var text string
		err := rows.Scan(&text)
		have[text] = true
		return err
	}, `SELECT coalesce(sql, '') FROM sqlite_schema
		WHERE NOT (type = 'index' AND sql IS NULL)
		AND NOT (type = 'table' AND name IN ('words_data', 'words_idx', 'words_docsize', 'words_config'))`)
	if err != nil {
		return err
	}
	for _, want := range schema {
		if !have[want] {
			return fmt.Errorf("%w: it has no %s", ErrCorrupt, strings.SplitN(want, "(", 2)[0])
		}
	}
	if len(have) != len(schema) {
		return fmt.Errorf("%w: it has %d tables and indexes instead of %d", ErrCorrupt, len(have), len(schema))
	}
	return nil
}

// createSchema writes the tables of a new book, or upgrades those of version 1, within a transaction of the caller.
func createSchema(ctx context.Context, tx *sql.Tx, version int) error {
	statements := append(slices.Clone(schema), fmt.Sprintf("PRAGMA application_id = %d", applicationID))
	if version == 1 {
		const kept = "id, case_id, exact, grp, subject, status, classification, confidence, origin, first_run, turn, remembered, body"
		statements = []string{
			"ALTER TABLE cases RENAME TO older", schema[0], "INSERT INTO cases (" + kept + ") SELECT " + kept + " FROM older",
			"DROP TABLE older", schema[1], "DROP TABLE found_by", // the indexes of a table go with it
		}
	}
	for _, statement := range append(statements, fmt.Sprintf("PRAGMA user_version = %d", schemaVersion)) {
		if _, err := tx.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	return nil
}

var (
	// ErrNewer: the book was written by a later version of this program.
	ErrNewer = errors.New("the casebook is of a newer version")
	// ErrNotCasebook: the file is something else, perhaps another program's database.
	ErrNotCasebook = errors.New("not a casebook")
	// ErrCorrupt: the file is damaged. Nothing is repaired: take the last copy, or begin a new book.
	ErrCorrupt = errors.New("the casebook is damaged")
	// ErrBusy: another program held the book for longer than Options.BusyTimeout.
	ErrBusy = errors.New("the casebook is in use by another program")
	// ErrDisk: the disk is full, or failed. What was remembered before is there.
	ErrDisk = errors.New("the disk of the casebook is full, or failed")
	// ErrUnfinished: a program was killed while it wrote, and the file can't be written, so that the change can't be rolled back.
	ErrUnfinished = errors.New("a change of the casebook was not finished; open it once where its file can be written")
	// ErrEntry: an entry can't be remembered as it is.
	ErrEntry = errors.New("invalid entry")
)

// explain wraps an error of the database so that errors.Is finds its cause.
func explain(op, path string, err error) error {
	if err == nil {
		return nil
	}
	if coded, ok := errors.AsType[*sqlite.Error](err); ok {
		switch coded.Code() & 0xff { // the rest are details of the cause
		case sqlite3.SQLITE_READONLY:
			if coded.Code() == sqlite3.SQLITE_READONLY_ROLLBACK {
				err = fmt.Errorf("%w: %w", ErrUnfinished, err)
			}
		case sqlite3.SQLITE_CORRUPT:
			err = fmt.Errorf("%w: %w", ErrCorrupt, err)
		case sqlite3.SQLITE_NOTADB:
			err = fmt.Errorf("%w: %w", ErrNotCasebook, err)
		case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
			err = fmt.Errorf("%w: %w", ErrBusy, err)
		case sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR:
			err = fmt.Errorf("%w: %w", ErrDisk, err)
		}
	}
	return fmt.Errorf("casebook %s: %s: %w", path, op, err)
}
