package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riversqlite"
	"github.com/riverqueue/river/rivermigrate"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/shadowcourt/shadowcourt/internal/disk"
)

// sqliteReaders is how many reads go on at once, beside one write.
const sqliteReaders = 8

// lite is a SQLite file with a write-ahead log: one connection writes, others read meanwhile.
type lite struct {
	liteQuerier // reads
	path        string
	writer      *sql.DB
	reader      *sql.DB
	queue       *river.Client[*sql.Tx] // inserts only
	send        func(Event)
}

func openSQLite(ctx context.Context, config *Config, send func(Event)) (*lite, error) {
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
	d := &lite{path: path, send: send}
	if d.writer, err = connect(path, "_txlock=immediate", "journal_mode(wal)"); err != nil {
		return nil, err
	}
	d.writer.SetMaxOpenConns(1)
	if d.reader, err = connect(path, "_txlock=deferred", "query_only(1)"); err != nil {
		return nil, errors.Join(err, d.writer.Close())
	}
	d.reader.SetMaxOpenConns(sqliteReaders)
	d.reader.SetMaxIdleConns(sqliteReaders)
	d.liteQuerier = liteQuerier{d.reader}
	// The writer makes the log, which readers need. SQLite waits for nobody meanwhile, so that one process at a time does it.
	if err = d.alone(func() error { return d.writer.PingContext(ctx) }); err == nil {
		d.queue, err = river.NewClient(riversqlite.New(d.writer), &river.Config{Logger: config.Logger})
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

func (*lite) name() string { return "sqlite" }

func (*lite) position() string { return "instr" }

// write changes the database. Errors that SQLite gives when it has ended the transaction by itself hide none behind them.
func (d *lite) write(ctx context.Context, do func(*tx) error) error {
	t, err := d.writer.BeginTx(ctx, nil)
	if err != nil {
		return explainLite(err)
	}
	own := &tx{querier: liteQuerier{t}, db: d, lite: t}
	if err := own.apply(do); err != nil {
		_ = t.Rollback() // the error before says why
		return explainLite(err)
	}
	if err := t.Commit(); err != nil {
		_ = t.Rollback()
		return explainLite(err)
	}
	for _, e := range own.events {
		d.send(e)
	}
	return nil
}

func (d *lite) snapshot(ctx context.Context, do func(querier) error) error {
	t, err := d.reader.BeginTx(ctx, nil)
	if err != nil {
		return explainLite(err)
	}
	defer func() { _ = t.Rollback() }() // it changed nothing
	return explainLite(do(liteQuerier{t}))
}

func (*lite) skipLocked() string { return "" }

func (d *lite) insertJobs(ctx context.Context, t *tx, jobs []river.InsertManyParams) error {
	_, err := d.queue.InsertManyTx(ctx, t.lite, jobs)
	return err
}

func (d *lite) worker(config *river.Config) (Worker, error) {
	return river.NewClient(riversqlite.New(d.writer), config)
}

func (d *lite) migrate(ctx context.Context, check bool) (names []string, err error) {
	words := dialect{id: "INTEGER PRIMARY KEY AUTOINCREMENT", bytes: "BLOB", classification: `json_extract(truth, '$.Classification')`}
	queue, err := rivermigrate.New(riversqlite.New(d.writer), nil)
	if err != nil {
		return nil, err
	}
	err = d.alone(func() error {
		names, err = migrate(ctx, d, words, queue, check)
		return err
	})
	return names, err
}

// alone does something while no other process does, of those that open or migrate the database.
func (d *lite) alone(do func() error) error {
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

// listen has nothing to do: one process has the file.
func (*lite) listen(ctx context.Context, _ func(Event), _ func(error)) { <-ctx.Done() }

func (d *lite) close() {
	_ = d.reader.Close()
	_ = d.writer.Close()
}

func explainLite(err error) error {
	if coded, ok := errors.AsType[*sqlite.Error](err); ok {
		switch coded.Code() & 0xff {
		case sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN:
			return fmt.Errorf("%w: %w", ErrFull, err)
		}
	}
	return err
}
