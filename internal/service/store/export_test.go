package store

import (
	"context"
	"fmt"
	"strings"
)

// Recount says where the counts that are kept are not those of the entries.
func (s *Store) Recount(ctx context.Context) error {
	all := strings.NewReplacer("{sign}", "1", "{condition}", "1 = 1")
	return s.db.write(ctx, func(t *tx) error {
		t.run(ctx, `CREATE TEMPORARY TABLE recount AS SELECT * FROM tallies WHERE 1 = 0`)
		t.run(ctx, `INSERT INTO recount `+all.Replace(countResults))
		for _, pair := range [][2]string{{"tallies", "recount"}, {"recount", "tallies"}} {
			var same []string
			for key := range strings.SplitSeq("docket, generation, status, label, light, truth, corrected, open, confidence, entries, micros, fuel", ", ") {
				same = append(same, "b."+key+" = a."+key)
			}
			dockets, err := rowsOf(ctx, t, `SELECT a.docket FROM `+pair[0]+` a WHERE NOT EXISTS
				(SELECT 1 FROM `+pair[1]+` b WHERE `+strings.Join(same, " AND ")+` AND abs(b.stated - a.stated) < 1e-6)`, nil, value[int64])
			if err == nil && len(dockets) > 0 {
				err = fmt.Errorf("%s has rows of %v that %s has not", pair[0], dockets, pair[1])
			}
			if err != nil {
				return err
			}
		}
		t.run(ctx, `DROP TABLE recount`)
		return nil
	})
}

// Plan is how SQLite carries a query out.
func (s *Store) Plan(ctx context.Context, query string, args ...any) (plan []string, err error) {
	return rowsOf(ctx, s.db, "EXPLAIN QUERY PLAN "+query, args, func(scan scanner) (detail string, err error) {
		var id, parent, unused int64
		err = scan(&id, &parent, &unused, &detail)
		return detail, err
	})
}

// BatchInfo is a batch as it stands in the queue.
type BatchInfo struct {
	ID, Tag     int64
	First, Last int // ordinals
	State       string
	Worker      string
}

// Batches lists those of a docket, in its order.
func (s *Store) Batches(ctx context.Context, docketID int64) ([]BatchInfo, error) {
	return rowsOf(ctx, s.db, `SELECT id, tag, first, last, state, worker FROM batches WHERE docket = $1 ORDER BY first`, []any{docketID},
		func(scan scanner) (b BatchInfo, err error) {
			err = scan(&b.ID, &b.Tag, &b.First, &b.Last, &b.State, &b.Worker)
			return b, err
		})
}

// DocumentsKept counts the texts that are kept by themselves, and their bytes before compression.
func (s *Store) DocumentsKept(ctx context.Context) (n, bytes int64, err error) {
	err = one(ctx, s.db, `SELECT count(*), CAST(coalesce(sum(size), 0) AS BIGINT) FROM documents`, nil, &n, &bytes)
	return n, bytes, err
}

// Before14 takes the tables back to version 14.
func (s *Store) Before14(ctx context.Context) error {
	return s.db.write(ctx, func(t *tx) error {
		for _, statement := range []string{
			`CREATE TABLE leases (name TEXT PRIMARY KEY, holder TEXT NOT NULL, expires BIGINT NOT NULL)`, `ALTER TABLE workers ADD COLUMN role TEXT NOT NULL DEFAULT ''`,
			`ALTER TABLE batches ADD COLUMN job BIGINT NOT NULL DEFAULT 0`, `CREATE INDEX batches_tag ON batches (tag) WHERE state IN ('queued', 'running')`,
			`DROP INDEX batches_queued`, `DROP INDEX batches_running`, `DELETE FROM migrations`, `INSERT INTO migrations (version, name) VALUES (14, '14 about')`,
			`CREATE TABLE configurations (digest TEXT PRIMARY KEY, parts TEXT NOT NULL)`, `ALTER TABLE entries DROP COLUMN known`, `ALTER TABLE entries DROP COLUMN alibi`, `CREATE TABLE inbox (grp TEXT PRIMARY KEY)`,
			`CREATE TABLE refits (name TEXT)`, `CREATE TABLE audit_chain (number BIGINT)`, `ALTER TABLE audit_log ADD COLUMN number BIGINT NOT NULL DEFAULT 0`,
			`ALTER TABLE audit_log ADD COLUMN digest TEXT NOT NULL DEFAULT ''`, `CREATE INDEX audit_log_number ON audit_log (number)`, `DROP TABLE webhooks`, `DROP TABLE webhook_deliveries`,
		} {
			if _, err := t.exec(ctx, statement); err != nil {
				return err
			}
		}
		return nil
	})
}

// Exec changes the tables past the store, as somebody with the database's password can.
func (s *Store) Exec(ctx context.Context, statement string, args ...any) error {
	return s.db.write(ctx, func(t *tx) error {
		_, err := t.exec(ctx, statement, args...)
		return err
	})
}
