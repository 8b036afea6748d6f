package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"

	"github.com/riverqueue/river/riverdriver/riversqlite"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/shadowcourt/shadowcourt/internal/disk"
)

// sqliteReaders is how many reads go on at once, beside one write.
const sqliteReaders = 8

var sqliteWords = dialect{
	id: "INTEGER PRIMARY KEY AUTOINCREMENT", bytes: "BLOB",
	records: `ALTER TABLE records RENAME TO records18;
		CREATE TABLE records (id INTEGER PRIMARY KEY AUTOINCREMENT, size BIGINT NOT NULL, body BLOB NOT NULL, created BIGINT NOT NULL);
		INSERT INTO records (id, size, body, created) SELECT id, size, body, created FROM records18;
		DROP TABLE records18`,
}

// openSQLite opens a file with a write-ahead log: one connection writes, others read meanwhile.
func openSQLite(ctx context.Context, config *Config, send func(Event)) (*database, error) {
	path, err := filepath.Abs(config.Database)
	if err != nil {
		return nil, err
	}
	// For its owner alone: it holds what logs hold.
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err == nil {
		err = file.Close()
	}
	if err != nil {
		return nil, fmt.Errorf("open the database: %w", err)
	}
	d := &database{path: path, send: send}
	if d.writer, err = connect(path, "_txlock=immediate", "journal_mode(wal)"); err != nil {
		return nil, err
	}
	d.writer.SetMaxOpenConns(1)
	if d.reader, err = connect(path, "_txlock=deferred", "query_only(1)"); err != nil {
		return nil, errors.Join(err, d.writer.Close())
	}
	d.reader.SetMaxOpenConns(sqliteReaders)
	d.reader.SetMaxIdleConns(sqliteReaders)
	d.handle, d.driver = handle{d.reader}, riversqlite.New(d.writer)
	// The writer makes the log, which readers need. SQLite waits for nobody meanwhile, so that one process at a time does it.
	if err = d.aloneOnFile(func() error { return d.writer.PingContext(ctx) }); err == nil {
		err = d.opened(config)
	}
	if err != nil {
		d.close()
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	return d, nil
}

func connect(path, option string, pragmas ...string) (*sql.DB, error) {
	query := url.Values{"_pragma": append([]string{
		"busy_timeout(10000)", "foreign_keys(1)", "synchronous(full)", "trusted_schema(0)", "cell_size_check(1)", "temp_store(memory)",
	}, pragmas...)}
	location := url.URL{Scheme: "file", Path: filepath.ToSlash(path), RawQuery: query.Encode() + "&" + option}
	return sql.Open("sqlite", location.String())
}

// aloneOnFile does something while no other process does, of those that open or migrate the database.
func (d *database) aloneOnFile(do func() error) error {
	file, err := os.OpenFile(d.path+".lock", os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	if err := disk.Lock(file); err != nil {
		return err
	}
	return do()
}

// isFull says whether the database's disk is full or can't be written, or the server takes no changes.
func isFull(err error) bool {
	if coded, ok := errors.AsType[*sqlite.Error](err); ok {
		switch coded.Code() & 0xff {
		case sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN:
			return true
		}
	}
	return postgresCode(err, "53100", "25006")
}
