package store

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"time"

	"github.com/shadowcourt/shadowcourt/internal/disk"
)

// ErrInUse: another process tries the cases of this SQLite file.
var ErrInUse = errors.New("another process works on this database")

// ClaimWork says that this process is going to try cases. On SQLite one process at a time may, else the error is ErrInUse; on PostgreSQL
// any number may. The caller calls release when it has stopped.
func (s *Store) ClaimWork(ctx context.Context) (release func(), err error) {
	d := s.db
	if d.pool != nil {
		return func() {}, nil
	}
	file, err := os.OpenFile(d.path+".worker", os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	release = func() { _ = disk.Release(file) }
	if err = disk.TryLock(file); errors.Is(err, disk.ErrLocked) {
		err = fmt.Errorf("%s: %w", d.path, ErrInUse)
	}
	if err == nil {
		err = s.change(ctx, `DELETE FROM workers`)
	}
	if err != nil {
		release()
		return nil, err
	}
	return release, nil
}

// WorkerInfo is a process that tries cases.
type WorkerInfo struct {
	ID, Machine, Version string
	Started, Seen        time.Time
	// Running is how many batches it has begun.
	Running int
}

// WorkerTimeout is how long a worker may be silent before it counts as dead.
const WorkerTimeout = 10 * time.Second

// clock is the time by which workers are seen. The clocks of machines may differ by hours, and jump: on PostgreSQL it is the server's. On
// SQLite there is one process.
func (s *Store) clock(ctx context.Context, q querier) (now int64, err error) {
	if s.db.name() == "sqlite" {
		return s.now(), nil
	}
	err = one(ctx, q, `SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS BIGINT)`, nil, &now)
	return now, err
}

// liveWorkers are those that were seen within WorkerTimeout. On SQLite the rows of others were removed when this process began.
func (s *Store) liveWorkers(ctx context.Context, q querier) ([]WorkerInfo, error) {
	since := int64(math.MinInt64)
	if s.db.name() != "sqlite" {
		now, err := s.clock(ctx, q)
		if err != nil {
			return nil, err
		}
		since = now - WorkerTimeout.Microseconds()
	}
	return rowsOf(ctx, q, `SELECT w.id, w.machine, w.version, w.started, w.seen, (SELECT count(*) FROM batches b WHERE b.worker = w.id AND b.state = 'running')
		FROM workers w WHERE w.seen > $1 ORDER BY w.id`, []any{since}, func(scan scanner) (w WorkerInfo, err error) {
		err = scan(&w.ID, &w.Machine, &w.Version, moment{&w.Started}, moment{&w.Seen}, &w.Running)
		return w, err
	})
}

// Workers lists the live ones.
func (s *Store) Workers(ctx context.Context) (list []WorkerInfo, err error) {
	err = s.db.snapshot(ctx, func(q querier) error {
		list, err = s.liveWorkers(ctx, q)
		return err
	})
	return list, err
}

// Beat says that a worker lives, which batches it has (nil: that is not known now) and how many more it could take. Batches that it has begun
// and does not have, and those of workers that are not there, wait again. Where more batches wait than there are tickets, as when the worker of one was killed,
// others are added. beats are how often each worker has said so: a worker can notice by its own clock whose stand still.
func (s *Store) Beat(ctx context.Context, w WorkerInfo, has []int64, free int) (beats map[string]int64, err error) {
	err = s.write(ctx, func(t *tx) error {
		now, err := s.clock(ctx, t)
		if err != nil {
			return err
		}
		t.run(ctx, `INSERT INTO workers (id, machine, version, started, beats, seen) VALUES ($1, $2, $3, $4, 0, $4)
			ON CONFLICT (id) DO UPDATE SET seen = excluded.seen, beats = workers.beats + 1`,
			w.ID, text(w.Machine, maxName), text(w.Version, maxName), now)
		if has != nil {
			var own where
			own.add("worker = ?", w.ID)
			if len(has) > 0 {
				own.in("id NOT", anys(has))
			}
			t.run(ctx, `UPDATE batches SET state = 'queued'`+own.text()+` AND state = 'running'`, own.args...)
		}
		if err := t.orphans(ctx); err != nil {
			return err
		}
		var waiting int
		if err := one(ctx, t, `SELECT count(*) FROM (SELECT 1 FROM batches WHERE state = 'queued' LIMIT $1) waiting`, []any{int64(max(free, 0))}, &waiting); err != nil {
			return err
		}
		if err := t.wake(ctx, waiting); err != nil {
			return err
		}
		beats = map[string]int64{}
		return each(ctx, t, `SELECT id, beats FROM workers`, nil, func(scan scanner) error {
			var id string
			var n int64
			err := scan(&id, &n)
			beats[id] = n
			return err
		})
	})
	return beats, err
}

// orphans queues the batches again whose workers are gone.
func (t *tx) orphans(ctx context.Context) error {
	n, err := t.exec(ctx, `UPDATE batches SET state = 'queued' WHERE state = 'running' AND NOT EXISTS (SELECT 1 FROM workers w WHERE w.id = batches.worker)`)
	if err != nil {
		return err
	}
	return t.wake(ctx, int(n))
}

// RemoveWorker removes a worker that has stopped, or is silent: its batches wait again.
func (s *Store) RemoveWorker(ctx context.Context, id string) error {
	return s.write(ctx, func(t *tx) error {
		t.run(ctx, `DELETE FROM workers WHERE id = $1`, id)
		return t.orphans(ctx)
	})
}
