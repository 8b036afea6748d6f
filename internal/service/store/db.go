package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/riverdriver/riverdatabasesql"
	"github.com/riverqueue/river/riverdriver/riversqlite"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/shadowcourt/shadowcourt/internal/disk"
)

// querier is a pool or a transaction. Placeholders are $1, $2 and so on, in the order in which they first appear: SQLite numbers them by
// their place.
type querier interface {
	exec(ctx context.Context, query string, args ...any) (affected int64, err error)
	query(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// handle is a querier of database/sql.
type handle struct {
	db interface {
		ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
		QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	}
}

func (h handle) exec(ctx context.Context, query string, args ...any) (int64, error) {
	result, err := h.db.ExecContext(ctx, query, printable(args)...)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

func (h handle) query(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	return h.db.QueryContext(ctx, query, printable(args)...)
}

// printable has only texts that PostgreSQL takes: what is looked for may be anything.
func printable(args []any) []any {
	for i, a := range args {
		if s, ok := a.(string); ok {
			args[i] = text(s, len(s))
		}
	}
	return args
}

// scanner reads the columns of a row.
type scanner = func(to ...any) error

// each calls do for every row.
func each(ctx context.Context, q querier, query string, args []any, do func(scan scanner) error) error {
	r, err := q.query(ctx, query, args...)
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }() // Err says what went wrong
	for r.Next() {
		if err := do(r.Scan); err != nil {
			return err
		}
	}
	return r.Err()
}

// rowsOf reads all rows, each with read. The list is never nil.
func rowsOf[T any](ctx context.Context, q querier, query string, args []any, read func(scanner) (T, error)) ([]T, error) {
	out := []T{}
	err := each(ctx, q, query, args, func(scan scanner) error {
		row, err := read(scan)
		out = append(out, row)
		return err
	})
	return out, err
}

// rowOf reads the first row; ErrNotFound, with what was looked for, where there is none.
func rowOf[T any](ctx context.Context, q querier, what, query string, args []any, read func(scanner) (T, error)) (T, error) {
	rows, err := rowsOf(ctx, q, query, args, read)
	return first(what, rows, err)
}

// first gives the first row of a list that was read; ErrNotFound, with what was looked for, where there is none.
func first[T any](what string, rows []T, err error) (row T, _ error) {
	if err == nil && len(rows) == 0 {
		err = fmt.Errorf("%s: %w", what, ErrNotFound)
	}
	if err != nil {
		return row, err
	}
	return rows[0], nil
}

// value reads rows of one column.
func value[T any](scan scanner) (v T, err error) {
	err = scan(&v)
	return v, err
}

// one reads the first row; ErrNotFound where there is none.
func one(ctx context.Context, q querier, query string, args []any, to ...any) error {
	_, err := rowOf(ctx, q, "row", query, args, func(scan scanner) (struct{}, error) { return struct{}{}, scan(to...) })
	return err
}

// isNotFound says whether there was no row.
func isNotFound(err error) bool { return errors.Is(err, ErrNotFound) }

// database is a SQLite file or a PostgreSQL server.
type database struct {
	handle // reads
	reader *sql.DB
	writer *sql.DB // the same on PostgreSQL
	driver riverdriver.Driver[*sql.Tx]
	queue  *river.Client[*sql.Tx] // inserts only
	send   func(Event)

	path string        // of a SQLite file
	pool *pgxpool.Pool // of PostgreSQL; nil on SQLite
}

// opened finishes what both kinds have in common.
func (d *database) opened(config *Config) (err error) {
	d.queue, err = river.NewClient(d.driver, &river.Config{Logger: config.Logger})
	return err
}

func (d *database) name() string {
	if d.pool != nil {
		return "postgres"
	}
	return "sqlite"
}

// position is the function that gives the place of a text in another one, 0 for none.
func (d *database) position() string {
	if d.pool != nil {
		return "strpos"
	}
	return "instr"
}

// writeAttempts is how often a transaction that lost against another one is tried.
const writeAttempts = 10

// write runs do in a transaction that is committed when do returns nil; again where PostgreSQL rolled it back for another one.
func (d *database) write(ctx context.Context, do func(*tx) error) (err error) {
	for range writeAttempts {
		own := &tx{db: d}
		if err = own.begin(ctx, do); err == nil {
			d.publish(ctx, own.events)
			return nil
		}
		if !lostRace(err) {
			break
		}
	}
	return explain(err)
}

// snapshot runs do in a transaction that only reads, and sees one state.
func (d *database) snapshot(ctx context.Context, do func(querier) error) error {
	options := &sql.TxOptions{}
	if d.pool != nil {
		options = &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true}
	}
	t, err := d.reader.BeginTx(ctx, options)
	if err != nil {
		return explain(err)
	}
	defer func() { _ = t.Rollback() }() // it changed nothing
	return explain(do(handle{t}))
}

// close closes the connections.
func (d *database) close() {
	_ = d.reader.Close()
	_ = d.writer.Close()
	if d.pool != nil {
		d.pool.Close()
	}
}

// explain finds the errors of a database that takes no changes.
func explain(err error) error {
	if isFull(err) {
		return fmt.Errorf("%w: %w", ErrFull, err)
	}
	return err
}

// tx is a transaction that changes the database. After the first statement that fails, further ones fail with its error, and nothing is
// committed.
type tx struct {
	handle
	raw    *sql.Tx
	db     *database
	events []Event // of this transaction, for subscribers
	err    error   // of run
}

func (t *tx) begin(ctx context.Context, do func(*tx) error) (err error) {
	if t.raw, err = t.db.writer.BeginTx(ctx, nil); err != nil {
		return err
	}
	t.handle = handle{t.raw}
	if err = do(t); err == nil {
		err = t.err
	}
	if err == nil {
		err = t.raw.Commit()
	}
	if err != nil {
		_ = t.raw.Rollback() // the error before says why
	}
	return err
}

// run runs a statement whose error is that of the transaction, and whose effect nobody asks for.
func (t *tx) run(ctx context.Context, query string, args ...any) { _, _ = t.exec(ctx, query, args...) }

func (t *tx) exec(ctx context.Context, query string, args ...any) (affected int64, err error) {
	if t.err == nil {
		affected, t.err = t.handle.exec(ctx, query, args...)
	}
	return affected, t.err
}

func (t *tx) query(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	if t.err != nil {
		return nil, t.err
	}
	return t.handle.query(ctx, query, args...)
}

// notify sends an event to all subscribers when the transaction is committed. Those of dockets are sent right after it: PostgreSQL commits
// one transaction at a time that notifies, and every trial has such an event. Whoever misses one looks again some seconds later.
func (t *tx) notify(ctx context.Context, e Event) error {
	t.events = append(t.events, e)
	if t.db.pool != nil && e.Kind != EventDocket {
		t.run(ctx, `SELECT pg_notify($1, $2)`, channel, e.String())
	}
	return t.err
}

// publish sends the events of a transaction that was committed; see tx.notify. On PostgreSQL the subscribers of this process get them as others do.
func (d *database) publish(ctx context.Context, events []Event) {
	for _, e := range events {
		if d.pool == nil {
			d.send(e)
		} else if e.Kind == EventDocket {
			_, _ = d.exec(ctx, `SELECT pg_notify($1, $2)`, channel, e.String())
		}
	}
}

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

// IsBusy says whether an error passes: the file is locked, or the server can't be reached, stops, or had another transaction go first.
func IsBusy(err error) bool {
	if coded, ok := errors.AsType[*sqlite.Error](err); ok {
		return coded.Code()&0xff == sqlite3.SQLITE_BUSY
	}
	_, unreached := errors.AsType[*pgconn.ConnectError](err)
	return unreached || errors.Is(err, io.ErrUnexpectedEOF) || lostRace(err) || postgresCode(err, "57P01")
}

const (
	maxConns = 16
	// listenPause is between two attempts to listen.
	listenPause = 500 * time.Millisecond
	// migrationLock is the key of PostgreSQL's advisory lock, "SCmig" in letters.
	migrationLock = 0x53436d6967
)

var postgresWords = dialect{
	id: "BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY", bytes: "BYTEA",
	records: `ALTER TABLE records ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY;
		SELECT setval(pg_get_serial_sequence('records', 'id'), (SELECT coalesce(max(id), 0) + 1 FROM records), false)`,
}

func openPostgres(ctx context.Context, config *Config, send func(Event)) (*database, error) {
	options, err := pgxpool.ParseConfig(config.Database)
	if err != nil {
		// The message of pgx holds no password, but the text of the URL may.
		return nil, errors.New("--database: not a valid postgres:// URL")
	}
	options.MaxConns = maxConns
	pool, err := pgxpool.NewWithConfig(context.WithoutCancel(ctx), options)
	if err != nil {
		return nil, fmt.Errorf("open the database: %w", err)
	}
	db := stdlib.OpenDBFromPool(pool)
	d := &database{handle: handle{db}, reader: db, writer: db, driver: riverdatabasesql.NewWithPgxListener(db, pool), send: send, pool: pool}
	if err = pool.Ping(ctx); err == nil {
		err = d.opened(config)
	}
	if err != nil {
		d.close()
		return nil, fmt.Errorf("open the database: %w", err)
	}
	return d, nil
}

// postgresCode says whether an error of the server has one of some codes.
func postgresCode(err error, codes ...string) bool {
	coded, ok := errors.AsType[*pgconn.PgError](err)
	return ok && slices.Contains(codes, coded.Code)
}

// lostRace says whether a transaction was rolled back for another one: a deadlock, or no serial order.
func lostRace(err error) bool { return postgresCode(err, "40P01", "40001") }

// aloneOnServer does something while no other program does, of those that migrate the database.
func (d *database) aloneOnServer(ctx context.Context, do func() error) error {
	c, err := d.writer.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }()
	if _, err := c.ExecContext(ctx, `SELECT pg_advisory_lock($1)`, int64(migrationLock)); err != nil {
		return err
	}
	err = do()
	_, unlocked := c.ExecContext(context.WithoutCancel(ctx), `SELECT pg_advisory_unlock($1)`, int64(migrationLock))
	return errors.Join(err, unlocked)
}

// listen passes on events of all processes until the context ends; between two connections some may be missed, which lost says. On SQLite
// there is one process, which needs none.
func (d *database) listen(ctx context.Context, events func(Event), lost func(error)) {
	if d.pool == nil {
		return
	}
	for ctx.Err() == nil {
		err := d.listenOnce(ctx, events)
		if ctx.Err() != nil {
			return
		}
		lost(err)
		select {
		case <-ctx.Done():
		case <-time.After(listenPause):
		}
	}
}

func (d *database) listenOnce(ctx context.Context, events func(Event)) error {
	// A connection of its own: the pool's are for questions.
	c, err := pgx.ConnectConfig(ctx, d.pool.Config().ConnConfig)
	if err != nil {
		return err
	}
	defer func() { _ = c.Close(context.WithoutCancel(ctx)) }()
	if _, err := c.Exec(ctx, "LISTEN "+channel); err != nil {
		return err
	}
	events(Event{Kind: EventResync})
	for {
		n, err := c.WaitForNotification(ctx)
		if err != nil {
			return err
		}
		if e, ok := parseEvent(n.Payload); ok {
			events(e)
		}
	}
}
