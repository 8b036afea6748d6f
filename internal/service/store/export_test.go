package store

import (
	"context"
	"fmt"
	"strings"
)

// Recount says where the counts that are kept are not those of the entries.
func (s *Store) Recount(ctx context.Context) error {
	words := dialect{classification: classificationLite}
	if s.db.name() == "postgres" {
		words.classification = classificationPostgres
	}
	for _, c := range []struct{ keys, sums, table, count string }{
		{"docket, generation, status, label, light, truth, corrected, open, confidence", "entries, stated, micros, fuel", "tallies", countResults},
		{"grp, entries, cases, dockets, first, latest", "doubt, weight", "inbox", countGroups},
	} {
		if err := s.db.write(ctx, func(t *tx) error {
			if _, err := t.exec(ctx, `CREATE TEMPORARY TABLE recount AS SELECT * FROM `+c.table+` WHERE 1 = 0`); err != nil {
				return err
			}
			if _, err := t.exec(ctx, `INSERT INTO recount `+words.of(c.count)); err != nil {
				return err
			}
			for _, pair := range [][2]string{{c.table, "recount"}, {"recount", c.table}} {
				var same []string
				for key := range strings.SplitSeq(c.keys, ", ") {
					same = append(same, "b."+key+" = a."+key)
				}
				for sum := range strings.SplitSeq(c.sums, ", ") {
					same = append(same, "abs(b."+sum+" - a."+sum+") < 1e-6")
				}
				if err := each(ctx, t, `SELECT a.`+strings.Split(c.keys, ", ")[0]+` FROM `+pair[0]+` a WHERE NOT EXISTS (SELECT 1 FROM `+pair[1]+` b WHERE `+strings.Join(same, " AND ")+`)`, nil,
					func(scan func(...any) error) error {
						var key any
						if err := scan(&key); err != nil {
							return err
						}
						return fmt.Errorf("%s has rows of %v that %s has not", pair[0], key, pair[1])
					}); err != nil {
					return err
				}
			}
			_, err := t.exec(ctx, `DROP TABLE recount`)
			return err
		}); err != nil {
			return err
		}
	}
	return nil
}

// Plan is how SQLite carries a query out.
func (s *Store) Plan(ctx context.Context, query string, args ...any) (plan []string, err error) {
	err = each(ctx, s.db, "EXPLAIN QUERY PLAN "+query, args, func(scan func(...any) error) error {
		var id, parent, unused int64
		var detail string
		err := scan(&id, &parent, &unused, &detail)
		plan = append(plan, detail)
		return err
	})
	return plan, err
}

// WithoutCounts takes the tables back to those before the counts.
func (s *Store) WithoutCounts(ctx context.Context) error {
	return s.db.write(ctx, func(t *tx) error {
		for _, statement := range []string{
			`DROP TABLE tallies`, `DROP TABLE inbox`, `DROP TABLE refits`, `DROP INDEX entries_inbox`, `DROP INDEX entries_flipped`, `DROP INDEX entries_waiting`,
			`ALTER TABLE verdicts DROP COLUMN about`, `ALTER TABLE entries DROP COLUMN about`, `DROP INDEX audit_log_number`, `DROP TABLE audit_chain`, `ALTER TABLE audit_log DROP COLUMN number`, `ALTER TABLE audit_log DROP COLUMN digest`,
			`ALTER TABLE dockets DROP COLUMN answered`, `ALTER TABLE tokens DROP COLUMN repositories`,
			`ALTER TABLE casebook_log DROP COLUMN repository`, `ALTER TABLE casebook_entries DROP COLUMN repository`,
			`CREATE INDEX entries_open ON entries (created) WHERE correction = 0 AND status <> ''`, `DELETE FROM migrations WHERE version >= 8`,
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
