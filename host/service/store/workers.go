package store

import (
	"context"
	"time"
)

// WorkerInfo is a process that tries cases.
type WorkerInfo struct {
	ID, Machine, Version string
	Started, Seen        time.Time
	// Running is how many batches it has begun, Generations which ones they have.
	Running int
}

const workerColumns = `w.id, w.machine, w.version, w.started, w.seen,
	(SELECT count(*) FROM batches b WHERE b.worker = w.id AND b.state = 'running')`

// liveWorkers are those that were seen within WorkerTimeout, by the clock that the rows are written with.
func liveWorkers(ctx context.Context, q querier, now int64) ([]WorkerInfo, error) {
	list := []WorkerInfo{}
	err := each(ctx, q, `SELECT `+workerColumns+` FROM workers w WHERE w.seen > $1 ORDER BY w.id`, []any{now - WorkerTimeout.Microseconds()},
		func(scan func(...any) error) error {
			var w WorkerInfo
			var started, seen int64
			err := scan(&w.ID, &w.Machine, &w.Version, &started, &seen, &w.Running)
			w.Started, w.Seen = at(started), at(seen)
			list = append(list, w)
			return err
		})
	return list, err
}

// Workers lists the live ones.
func (s *Store) Workers(ctx context.Context) (list []WorkerInfo, err error) {
	err = s.db.snapshot(ctx, func(q querier) error {
		list, err = liveWorkers(ctx, q, s.now())
		return err
	})
	return list, err
}

// RegisterWorker adds a worker, or the same one again. Its times are set.
func (s *Store) RegisterWorker(ctx context.Context, w WorkerInfo) error {
	return s.db.write(ctx, func(t *tx) error {
		_, err := t.exec(ctx, `INSERT INTO workers (id, role, machine, version, started, beats, seen) VALUES ($1, '', $2, $3, $4, 0, $4)
			ON CONFLICT (id) DO UPDATE SET seen = excluded.seen`, w.ID, text(w.Machine, maxName), text(w.Version, maxName), s.now())
		return err
	})
}

// RemoveWorker removes a worker that has stopped.
func (s *Store) RemoveWorker(ctx context.Context, id string) error {
	return s.db.write(ctx, func(t *tx) error {
		_, err := t.exec(ctx, `DELETE FROM workers WHERE id = $1`, id)
		return err
	})
}

// BatchInfo is a batch as it stands in the queue.
type BatchInfo struct {
	ID          int64
	Tag         int64 // batches with smaller tags come first
	First, Last int   // ordinals
	State       string
	Attempt     int
	Worker      string
	Generation  int64
}

// Batches lists those of a docket, in its order.
func (s *Store) Batches(ctx context.Context, docketID int64) ([]BatchInfo, error) {
	list := []BatchInfo{}
	err := each(ctx, s.db, `SELECT id, tag, first, last, state, attempt, worker, generation FROM batches WHERE docket = $1 ORDER BY first`, []any{docketID},
		func(scan func(...any) error) error {
			var b BatchInfo
			err := scan(&b.ID, &b.Tag, &b.First, &b.Last, &b.State, &b.Attempt, &b.Worker, &b.Generation)
			list = append(list, b)
			return err
		})
	return list, err
}

// DocumentsKept counts the texts that are kept by themselves, and their bytes before compression.
func (s *Store) DocumentsKept(ctx context.Context) (n, bytes int64, err error) {
	err = one(ctx, s.db, `SELECT count(*), CAST(coalesce(sum(size), 0) AS BIGINT) FROM documents`, nil, &n, &bytes)
	return n, bytes, err
}
