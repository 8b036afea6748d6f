package store

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/rivertype"
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

// Queued are the jobs of cases that wait, in their order.
func (s *Store) Queued(ctx context.Context) (list []CaseArgs, queues []string, err error) {
	err = s.db.write(ctx, func(t *tx) error {
		return t.eachJob(ctx, CaseArgs{}.Kind(), rivertype.JobStateAvailable, func(job *rivertype.JobRow) error {
			args, err := caseOf(job)
			list, queues = append(list, args), append(queues, job.Queue)
			return err
		})
	})
	return list, queues, err
}

// QueuedMessages are the messages that wait, in their order.
func (s *Store) QueuedMessages(ctx context.Context) (list []MessageArgs, err error) {
	err = s.db.write(ctx, func(t *tx) error {
		return t.eachJob(ctx, MessageArgs{}.Kind(), rivertype.JobStateAvailable, func(job *rivertype.JobRow) error {
			var m MessageArgs
			err := json.Unmarshal(job.EncodedArgs, &m)
			list = append(list, m)
			return err
		})
	})
	return list, err
}

// DocumentsKept counts the texts that are kept by themselves, and their bytes before compression.
func (s *Store) DocumentsKept(ctx context.Context) (n, bytes int64, err error) {
	err = one(ctx, s.db, `SELECT count(*), CAST(coalesce(sum(size), 0) AS BIGINT) FROM documents`, nil, &n, &bytes)
	return n, bytes, err
}

// AddQueueVersion notes that the tables of the queue have a version.
func (s *Store) AddQueueVersion(ctx context.Context, version int) error {
	_, err := s.db.driver.GetExecutor().MigrationInsertMany(ctx, &riverdriver.MigrationInsertManyParams{Line: riverdriver.MigrationLineMain, Versions: []int{version}})
	return err
}

// Exec changes the tables past the store, as somebody with the database's password can.
func (s *Store) Exec(ctx context.Context, statement string, args ...any) error {
	return s.db.write(ctx, func(t *tx) error {
		_, err := t.exec(ctx, statement, args...)
		return err
	})
}
