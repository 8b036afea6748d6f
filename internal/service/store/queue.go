package store

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"

	"github.com/shadowcourt/shadowcourt/internal/disk"
)

// CaseArgs are a job of the queue: a case to try with a generation. What came of it is in the tables, so that a job which is lost, or worked on
// twice, does no harm.
type CaseArgs struct {
	Docket     int64 `json:"docket"`
	Ordinal    int   `json:"ordinal"`
	Generation int64 `json:"generation"`
	// Again distinguishes a job from that of a process that was killed.
	Again string `json:"again,omitempty"`
}

// Kind names the jobs in the queue.
func (CaseArgs) Kind() string { return "shadowcourt_case" }

// MaxAttempts is how often a case is tried. One that workers could not try by then gets a fault in a last job, so that every docket ends.
const MaxAttempts = 25

// InsertOpts has a case queued once.
func (CaseArgs) InsertOpts() river.InsertOpts {
	return river.InsertOpts{MaxAttempts: MaxAttempts + 1, UniqueOpts: river.UniqueOpts{ByArgs: true}}
}

// caseQueue is the queue of a repository, or of a submitter that names none: they take turns, however many cases each has.
func caseQueue(repository, submitter string) string {
	of := "repository " + repository
	if repository == "" {
		of = "submitter " + submitter
	}
	sum := sha256.Sum256([]byte(of))
	return "cases-" + hex.EncodeToString(sum[:8])
}

// maxQueues is how many queues of cases are worked on at once. Others wait until one of them has ended.
const maxQueues = 64

// CaseQueues are the queues in which cases wait, those of the oldest dockets first.
func (s *Store) CaseQueues(ctx context.Context) ([]string, error) {
	list, err := rowsOf(ctx, s.db, `SELECT repository, CASE WHEN repository = '' THEN submitter ELSE '' END FROM dockets
		WHERE state IN ('queued', 'running') GROUP BY 1, 2 ORDER BY min(id) LIMIT $1`, []any{int64(maxQueues)}, func(scan scanner) (string, error) {
		var repository, submitter string
		err := scan(&repository, &submitter)
		return caseQueue(repository, submitter), err
	})
	return list, err
}

// jobsAtOnce bounds one call of the queue.
const jobsAtOnce = 2000

// queueCases queues cases of a docket.
func (t *tx) queueCases(ctx context.Context, d *Docket, ordinals []int) error {
	options := &river.InsertOpts{Queue: caseQueue(d.Repository, d.Submitter)}
	for chunk := range slices.Chunk(ordinals, jobsAtOnce) {
		jobs := make([]river.InsertManyParams, len(chunk))
		for i, ordinal := range chunk {
			jobs[i] = river.InsertManyParams{Args: CaseArgs{Docket: d.ID, Ordinal: ordinal, Generation: d.Generation}, InsertOpts: options}
		}
		if _, err := t.db.queue.InsertManyTx(ctx, t.raw, jobs); err != nil {
			return err
		}
	}
	return nil
}

// removeJobs removes jobs, however many there are.
func (t *tx) removeJobs(ctx context.Context, which *river.JobDeleteManyParams) error {
	for n := jobsAtOnce; n == jobsAtOnce; {
		removed, err := t.db.queue.JobDeleteManyTx(ctx, t.raw, which.First(jobsAtOnce))
		if err != nil {
			return err
		}
		n = len(removed.Jobs)
	}
	return nil
}

// eachJob calls do for the jobs of a kind in a state, those of some queues or of all.
func (t *tx) eachJob(ctx context.Context, kind string, state rivertype.JobState, do func(*rivertype.JobRow) error, queues ...string) error {
	params := river.NewJobListParams().Kinds(kind).Queues(queues...).States(state).OrderBy(river.JobListOrderByID, river.SortOrderAsc).First(jobsAtOnce)
	for {
		list, err := t.db.queue.JobListTx(ctx, t.raw, params)
		if err != nil {
			return err
		}
		for _, job := range list.Jobs {
			if err := do(job); err != nil {
				return err
			}
		}
		if len(list.Jobs) < jobsAtOnce {
			return nil
		}
		params = params.After(list.LastCursor)
	}
}

func caseOf(job *rivertype.JobRow) (args CaseArgs, err error) {
	if err = json.Unmarshal(job.EncodedArgs, &args); err != nil {
		err = fmt.Errorf("job %d: %w", job.ID, err)
	}
	return args, err
}

// cancelCases cancels the trials of a docket that go on, whose workers hear of it, and removes the jobs that wait.
func (t *tx) cancelCases(ctx context.Context, d *Docket) error {
	var waiting []int64
	for _, state := range []rivertype.JobState{rivertype.JobStateRunning, rivertype.JobStateAvailable, rivertype.JobStateScheduled, rivertype.JobStateRetryable} {
		if err := t.eachJob(ctx, CaseArgs{}.Kind(), state, func(job *rivertype.JobRow) error {
			args, err := caseOf(job)
			if err == nil && args.Docket == d.ID && state == rivertype.JobStateRunning {
				_, err = t.db.queue.JobCancelTx(ctx, t.raw, job.ID)
			} else if args.Docket == d.ID {
				waiting = append(waiting, job.ID)
			}
			return err
		}, caseQueue(d.Repository, d.Submitter)); err != nil {
			return err
		}
	}
	for chunk := range slices.Chunk(waiting, jobsAtOnce) {
		if err := t.removeJobs(ctx, river.NewJobDeleteManyParams().IDs(chunk...)); err != nil {
			return err
		}
	}
	return nil
}

// requeue queues again the cases that a process had that was killed, of a database that one process works on: nobody else has them. The queue takes
// the jobs themselves for lost only after some time, and they find nothing to do then. Messages wait for that.
func (t *tx) requeue(ctx context.Context) error {
	again := rand.Text()
	seen := map[CaseArgs]bool{} // once, however often it was killed
	return t.eachJob(ctx, CaseArgs{}.Kind(), rivertype.JobStateRunning, func(job *rivertype.JobRow) error {
		args, err := caseOf(job)
		if args.Again = again; err != nil || seen[args] {
			return err
		}
		seen[args] = true
		_, err = t.db.queue.InsertTx(ctx, t.raw, args, &river.InsertOpts{Queue: job.Queue})
		return err
	})
}

// EndDiscarded gives cases a fault whose last job was lost with its worker: the queue discards it.
func (s *Store) EndDiscarded(ctx context.Context) error {
	var list []CaseArgs
	var ids []int64
	if err := s.write(ctx, func(t *tx) error {
		list, ids = nil, nil
		return t.eachJob(ctx, CaseArgs{}.Kind(), rivertype.JobStateDiscarded, func(job *rivertype.JobRow) error {
			args, err := caseOf(job)
			list, ids = append(list, args), append(ids, job.ID)
			return err
		})
	}); err != nil {
		return err
	}
	for i, args := range list {
		c, err := s.BeginCase(ctx, args)
		if err == nil {
			err = s.CompleteCase(ctx, c, "", &Outcome{Fault: c.Untried()})
		}
		if err != nil && !errors.Is(err, ErrEnded) {
			return err
		}
		if _, err := s.db.queue.JobDelete(ctx, ids[i]); err != nil {
			return err
		}
	}
	return nil
}

// Waiting counts the cases of dockets that have not ended.
func (s *Store) Waiting(ctx context.Context) (cases int64, err error) {
	err = one(ctx, s.db, `SELECT CAST(coalesce(sum(cases - tried - faults), 0) AS BIGINT) FROM dockets WHERE state IN ('queued', 'running')`, nil, &cases)
	return cases, err
}

// Worker opens a client of the queue that works.
func (s *Store) Worker(config *river.Config) (*river.Client[*sql.Tx], error) {
	return river.NewClient(s.db.driver, config)
}

// ErrInUse: another process tries the cases of this SQLite file.
var ErrInUse = errors.New("another process works on this database")

// ClaimWork says that this process is going to try cases. On SQLite one process at a time may, else the error is ErrInUse, and what the last
// one had when it was killed waits again; on PostgreSQL any number may. The caller calls release when it has stopped.
func (s *Store) ClaimWork(ctx context.Context) (release func(), err error) {
	if s.db.pool != nil {
		return func() {}, nil
	}
	file, err := os.OpenFile(s.db.path+".worker", os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	release = func() { _ = disk.Release(file) }
	if err = disk.TryLock(file); errors.Is(err, disk.ErrLocked) {
		err = fmt.Errorf("%s: %w", s.db.path, ErrInUse)
	}
	if err == nil {
		err = s.write(ctx, func(t *tx) error { return t.requeue(ctx) })
	}
	if err != nil {
		release()
		return nil, err
	}
	return release, nil
}
