package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/riverqueue/river"
)

// querier is what a pool and a transaction of either database have in common. Placeholders are $1, $2 and so on, in the order
// in which they first appear: SQLite numbers them by their place.
type querier interface {
	exec(ctx context.Context, query string, args ...any) (affected int64, err error)
	query(ctx context.Context, query string, args ...any) (rows, error)
}

// rows are the rows of a query, to be closed.
type rows interface {
	Next() bool
	Scan(to ...any) error
	Err() error
	Close()
}

// scanner reads the columns of a row.
type scanner = func(to ...any) error

// each calls do for every row.
func each(ctx context.Context, q querier, query string, args []any, do func(scan scanner) error) error {
	r, err := q.query(ctx, query, args...)
	if err != nil {
		return err
	}
	defer r.Close()
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
	if err == nil && len(rows) == 0 {
		err = fmt.Errorf("%s: %w", what, ErrNotFound)
	}
	if err != nil {
		var none T
		return none, err
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

// tx is a transaction that changes the database. After the first statement that fails, further ones fail with its error, and nothing is
// committed.
type tx struct {
	querier
	db     database
	lite   *sql.Tx // nil on PostgreSQL
	pg     pgx.Tx  // nil on SQLite
	events []Event // of this transaction, for subscribers of this process
	err    error   // of run
}

// run runs a statement whose error is that of the transaction, and whose effect nobody asks for.
func (t *tx) run(ctx context.Context, query string, args ...any) { _, _ = t.exec(ctx, query, args...) }

func (t *tx) exec(ctx context.Context, query string, args ...any) (affected int64, err error) {
	if t.err == nil {
		affected, t.err = t.querier.exec(ctx, query, args...)
	}
	return affected, t.err
}

func (t *tx) query(ctx context.Context, query string, args ...any) (rows, error) {
	if t.err != nil {
		return nil, t.err
	}
	return t.querier.query(ctx, query, args...)
}

// apply runs do, and gives the error of the transaction.
func (t *tx) apply(do func(*tx) error) error {
	if err := do(t); err != nil {
		return err
	}
	return t.err
}

// notify tells all subscribers of an event when the transaction is committed. Those of dockets are told right behind it: PostgreSQL commits
// one transaction at a time that notifies, and every batch has such an event. Whoever misses one looks again some seconds later.
func (t *tx) notify(ctx context.Context, e Event) error {
	t.events = append(t.events, e)
	if t.pg == nil || e.Kind == EventDocket {
		return nil
	}
	_, err := t.exec(ctx, `SELECT pg_notify($1, $2)`, channel, e.String())
	return err
}

// database is SQLite or PostgreSQL.
type database interface {
	querier
	name() string
	// position is the function that gives the place of a text in another one, 0 for none.
	position() string
	// write runs do in a transaction that is committed when do returns nil.
	write(ctx context.Context, do func(*tx) error) error
	// snapshot runs do in a transaction that only reads, and sees one state.
	snapshot(ctx context.Context, do func(querier) error) error
	// skipLocked ends a query for a row that is going to be changed: rows that others are changing are left to them.
	skipLocked() string
	// insertJobs wakes workers.
	insertJobs(ctx context.Context, t *tx, jobs []river.InsertManyParams) error
	// worker opens a client of the queue that works.
	worker(config *river.Config) (Worker, error)
	migrate(ctx context.Context, check bool) (pending []string, err error)
	// listen passes on events of other processes until the context ends.
	listen(ctx context.Context, events func(Event), lost func(error))
	close()
}

// Worker is a client of the queue that works on jobs. It stops when the context of Start ends.
type Worker interface {
	Start(ctx context.Context) error
	Stopped() <-chan struct{}
}

// liteQuerier is a pool or a transaction of database/sql.
type liteQuerier struct {
	db interface {
		ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
		QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	}
}

func (q liteQuerier) exec(ctx context.Context, query string, args ...any) (int64, error) {
	result, err := q.db.ExecContext(ctx, query, args...)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

func (q liteQuerier) query(ctx context.Context, query string, args ...any) (rows, error) {
	r, err := q.db.QueryContext(ctx, query, args...) //nolint:sqlclosecheck,rowserrcheck // the caller closes them
	if err != nil {
		return nil, err
	}
	return liteRows{r}, nil
}

type liteRows struct{ *sql.Rows }

func (r liteRows) Close() { _ = r.Rows.Close() } // Err says what went wrong

// pgQuerier is a pool or a transaction of pgx.
type pgQuerier struct {
	db interface {
		Exec(ctx context.Context, query string, args ...any) (pgconn.CommandTag, error)
		Query(ctx context.Context, query string, args ...any) (pgx.Rows, error)
	}
}

func (q pgQuerier) exec(ctx context.Context, query string, args ...any) (int64, error) {
	tag, err := q.db.Exec(ctx, query, printable(args)...)
	return tag.RowsAffected(), err
}

func (q pgQuerier) query(ctx context.Context, query string, args ...any) (rows, error) {
	return q.db.Query(ctx, query, printable(args)...)
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

// isNotFound says whether there was no row.
func isNotFound(err error) bool { return errors.Is(err, ErrNotFound) }
