package store

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"github.com/riverqueue/river/rivermigrate"
)

// dialect is what the tables of the two databases differ in.
type dialect struct{ id, bytes, records string }

func (d dialect) of(statement string) string {
	return strings.NewReplacer("{id}", d.id, "{bytes}", d.bytes, "{records}", d.records).Replace(statement)
}

// Migrate brings the tables up to those of this program, and gives the names of the migrations that it ran. Several programs may
// call it at once.
func (s *Store) Migrate(ctx context.Context) ([]string, error) {
	ran, err := s.db.migrate(ctx, false)
	if err != nil {
		return ran, fmt.Errorf("migrate the %s database: %w", s.db.name(), err)
	}
	return ran, nil
}

// CheckSchema says whether the tables are those of this program. The error is a *MigrationError, or one of the database.
func (s *Store) CheckSchema(ctx context.Context) error {
	pending, err := s.db.migrate(ctx, true)
	if err == nil && len(pending) > 0 {
		return &MigrationError{Database: s.db.name(), Pending: pending}
	}
	return err
}

// applied is the version of the tables; 0 where there are none. Tables that this program can't bring up to its own are a *MigrationError.
func applied(ctx context.Context, q querier, name string) (version int64, err error) {
	err = one(ctx, q, `SELECT coalesce(max(version), 0) FROM migrations`, nil, &version)
	if err == nil && version > firstVersion-1+int64(len(migrations)) {
		err = &MigrationError{Database: name}
	}
	if err == nil && version > 0 && version < firstVersion && version != 18 {
		err = &MigrationError{Database: name, TooOld: true}
	}
	return version, err
}

// hasTables says whether a database has the table of migrations.
func hasTables(ctx context.Context, d *database) (bool, error) {
	query := `SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = 'migrations'`
	if d.name() == "postgres" {
		query = `SELECT count(*) FROM pg_catalog.pg_tables WHERE tablename = 'migrations' AND schemaname = current_schema()`
	}
	var n int64
	err := one(ctx, d, query, nil, &n)
	return n > 0, err
}

// pendingAt are the migrations of tables of a version.
func pendingAt(version int64) []migration {
	if version == 18 {
		return append([]migration{from18}, migrations[1:]...)
	}
	return migrations[max(version-firstVersion+1, 0):]
}

// migrate brings the tables and those of the queue up to those of this program, or says what it would do. It keeps other programs from it:
// the queue's migrations are several transactions.
func (d *database) migrate(ctx context.Context, check bool) (names []string, err error) {
	queue, err := rivermigrate.New(d.driver, nil)
	if err != nil {
		return nil, err
	}
	do := func() error {
		if check {
			names, err = d.pending(ctx, queue)
		} else {
			names, err = d.upgrade(ctx, queue)
		}
		return err
	}
	switch {
	case d.pool == nil:
		err = d.aloneOnFile(do)
	case check:
		err = do()
	default:
		err = d.aloneOnServer(ctx, do)
	}
	return names, err
}

func (d *database) upgrade(ctx context.Context, queue *rivermigrate.Migrator[*sql.Tx]) (names []string, err error) {
	words := sqliteWords
	if d.pool != nil {
		words = postgresWords
	}
	if _, err := queue.Migrate(ctx, rivermigrate.DirectionUp, nil); err != nil {
		return nil, err
	}
	err = d.write(ctx, func(t *tx) error {
		names = nil
		t.run(ctx, `CREATE TABLE IF NOT EXISTS migrations (version BIGINT PRIMARY KEY, name TEXT NOT NULL)`)
		version, err := applied(ctx, t, d.name())
		if err != nil {
			return err
		}
		pending := pendingAt(version)
		for i, m := range pending {
			for _, statement := range m.statements {
				if _, err := t.exec(ctx, words.of(statement)); err != nil {
					return fmt.Errorf("%s: %w", m.name, err)
				}
			}
			if m.then != nil {
				if err := m.then(ctx, t); err != nil {
					return fmt.Errorf("%s: %w", m.name, err)
				}
			}
			next := firstVersion + int64(len(migrations)-len(pending)+i)
			t.run(ctx, `INSERT INTO migrations (version, name) VALUES ($1, $2)`, next, m.name)
			names = append(names, m.name)
		}
		return nil
	})
	return names, err
}

func (d *database) pending(ctx context.Context, queue *rivermigrate.Migrator[*sql.Tx]) (names []string, err error) {
	var version int64
	has, err := hasTables(ctx, d)
	if err == nil && has {
		version, err = applied(ctx, d, d.name())
	}
	if err != nil {
		return nil, err
	}
	valid, err := queue.Validate(ctx, nil)
	if err != nil {
		return nil, err
	}
	if !valid.OK {
		names = append(names, "queue")
	}
	for _, m := range pendingAt(version) {
		names = append(names, m.name)
	}
	return names, nil
}
