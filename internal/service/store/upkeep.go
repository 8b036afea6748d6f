package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/riverqueue/river"

	"github.com/shadowcourt/shadowcourt/internal/disk"
)

// ErrInUse: another process tries the cases of this SQLite file.
var ErrInUse = errors.New("another process works on this database")

// ClaimWork says that this process is going to try cases. On SQLite one process at a time may, else the error is ErrInUse; what
// one before left unfinished is queued again. On PostgreSQL any number may. The caller calls release when it has stopped.
func (s *Store) ClaimWork(ctx context.Context) (release func(), err error) {
	d, ok := s.db.(*lite)
	if !ok {
		return func() {}, nil
	}
	file, err := os.OpenFile(d.path+".worker", os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	release = func() { _ = disk.Release(file) }
	if err := disk.TryLock(file); err != nil {
		release()
		if errors.Is(err, disk.ErrLocked) {
			err = fmt.Errorf("%s: %w", d.path, ErrInUse)
		}
		return nil, err
	}
	err = s.write(ctx, func(t *tx) error {
		// Leases, too: by a clock that was set back one may end in hours.
		for _, table := range []string{"workers", "leases"} {
			if _, err := t.exec(ctx, `DELETE FROM `+table); err != nil {
				return err
			}
		}
		_, err := t.exec(ctx, `UPDATE river_job SET state = 'available' WHERE state = 'running'`)
		return err
	})
	if err != nil {
		release()
		return nil, err
	}
	return release, nil
}

// leaseTime is how long the worker that looks after the others does so without being seen.
const leaseTime = 5 * time.Second

// Beat says that a worker lives. Of the live workers one leads: it gets the number of beats of each, to notice by its own clock
// whose stand still.
func (s *Store) Beat(ctx context.Context, w WorkerInfo) (beats map[string]int64, leads bool, err error) {
	err = s.write(ctx, func(t *tx) error {
		beats, leads = nil, false
		now, err := s.clock(ctx, t)
		if err != nil {
			return err
		}
		if _, err := t.exec(ctx, `INSERT INTO workers (id, role, machine, version, started, beats, seen) VALUES ($1, '', $2, $3, $4, 0, $4)
			ON CONFLICT (id) DO UPDATE SET seen = excluded.seen, beats = workers.beats + 1`,
			w.ID, text(w.Machine, maxName), text(w.Version, maxName), now); err != nil {
			return err
		}
		n, err := t.exec(ctx, `INSERT INTO leases (name, holder, expires) VALUES ('upkeep', $1, $2)
			ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, expires = excluded.expires
			WHERE leases.holder = excluded.holder OR leases.expires < $3`, w.ID, now+leaseTime.Microseconds(), now)
		leads = n > 0
		return err
	})
	if err != nil || !leads {
		return nil, false, err
	}
	beats = map[string]int64{}
	err = each(ctx, s.db, `SELECT id, beats FROM workers`, nil, func(scan func(...any) error) error {
		var id string
		var n int64
		err := scan(&id, &n)
		beats[id] = n
		return err
	})
	return beats, true, err
}

// RunningJob is a job that the queue has given to a worker.
type RunningJob struct {
	ID      int64
	Attempt int
	Worker  string
}

// RunningJobs lists the jobs that workers have; of one worker, or with "" of all.
func (s *Store) RunningJobs(ctx context.Context, worker string) ([]RunningJob, error) {
	var w where
	w.add("state = 'running'")
	w.equal(s.holder(), worker)
	list := []RunningJob{}
	err := each(ctx, s.db, `SELECT id, attempt, coalesce(`+s.holder()+`, '') FROM river_job`+w.text(), w.args, func(scan func(...any) error) error {
		var j RunningJob
		err := scan(&j.ID, &j.Attempt, &j.Worker)
		list = append(list, j)
		return err
	})
	return list, err
}

// holder is the worker that the queue gave a job to, as an expression.
func (s *Store) holder() string {
	if s.db.name() == "postgres" {
		return `attempted_by[array_upper(attempted_by, 1)]`
	}
	return `json_extract(attempted_by, '$[#-1]')`
}

// Release queues a job again whose worker is gone, in its old place. Nothing happens when it has ended or was taken again. The
// queue's own rescue waits an hour, since it does not know who lives.
func (s *Store) Release(ctx context.Context, j RunningJob) error {
	return s.write(ctx, func(t *tx) error {
		_, err := t.exec(ctx, `UPDATE river_job SET state = 'available' WHERE id = $1 AND state = 'running' AND attempt = $2`, j.ID, int64(j.Attempt))
		return err
	})
}

// RestoreOrder puts batches that were tried again after an error back into their fair place: the queue schedules them for now,
// which is behind all others.
func (s *Store) RestoreOrder(ctx context.Context) error {
	return s.write(ctx, func(t *tx) error { return t.order(ctx, "") })
}

// RepairQueue queues batches again that have not ended and whose jobs have: a worker that was taken for dead may have ended the
// job of its successor, which then died. It gives how many there were.
func (s *Store) RepairQueue(ctx context.Context) (n int, err error) {
	err = s.write(ctx, func(t *tx) error {
		type lost struct{ batch, job int64 }
		var list []lost
		if err := each(ctx, t, `SELECT b.id, b.job FROM batches b LEFT JOIN river_job j ON j.id = b.job
			WHERE b.state IN ('queued', 'running') AND (j.id IS NULL OR j.state IN ('completed', 'discarded', 'cancelled')) ORDER BY b.id LIMIT 1000`, nil,
			func(scan func(...any) error) error {
				var l lost
				err := scan(&l.batch, &l.job)
				list = append(list, l)
				return err
			}); err != nil {
			return err
		}
		n = 0
		for _, l := range list {
			ids, err := t.db.insertJobs(ctx, t, []river.InsertManyParams{jobOf(l.batch)})
			if err != nil {
				return err
			}
			// Another leader may have been here first: then its job does the work, and this one finds nothing to do.
			changed, err := t.exec(ctx, `UPDATE batches SET job = $1 WHERE id = $2 AND job = $3`, ids[0], l.batch, l.job)
			if err != nil {
				return err
			}
			n += int(changed)
		}
		if n == 0 {
			return nil
		}
		return t.order(ctx, "")
	})
	return n, err
}

// QueueDepth is what waits to be tried.
type QueueDepth struct {
	Queued, Running int // batches
	Cases           int // of dockets that have not ended
}

// Depth measures the queue.
func (s *Store) Depth(ctx context.Context) (d QueueDepth, err error) {
	err = s.db.snapshot(ctx, func(q querier) error {
		if err := one(ctx, q, `SELECT CAST(coalesce(sum(CASE WHEN state = 'queued' THEN 1 ELSE 0 END), 0) AS BIGINT), count(*) FROM batches
			WHERE state IN ('queued', 'running')`, nil, &d.Queued, &d.Running); err != nil {
			return err
		}
		d.Running -= d.Queued
		return one(ctx, q, `SELECT CAST(coalesce(sum(cases - tried - faults), 0) AS BIGINT) FROM dockets WHERE state IN ('queued', 'running')`, nil, &d.Cases)
	})
	return d, err
}

// Worker opens a client of the queue that works on batches.
func (s *Store) Worker(config *river.Config) (Worker, error) { return s.db.worker(config) }

// CountVerdicts counts all verdicts.
func (s *Store) CountVerdicts(ctx context.Context) (n int, err error) {
	err = one(ctx, s.db, `SELECT count(*) FROM verdicts`, nil, &n)
	return n, err
}
