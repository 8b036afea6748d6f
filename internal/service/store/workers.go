package store

import (
	"context"
	"math"
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

// clock is the time by which workers are seen and leases end. The clocks of machines may differ by hours, and jump: on PostgreSQL it is
// the server's. On SQLite there is one process.
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
	list := []WorkerInfo{}
	err := each(ctx, q, `SELECT `+workerColumns+` FROM workers w WHERE w.seen > $1 ORDER BY w.id`, []any{since},
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
		list, err = s.liveWorkers(ctx, q)
		return err
	})
	return list, err
}

// RegisterWorker adds a worker, or the same one again. Its times are set.
func (s *Store) RegisterWorker(ctx context.Context, w WorkerInfo) error {
	return s.write(ctx, func(t *tx) error {
		now, err := s.clock(ctx, t)
		if err != nil {
			return err
		}
		_, err = t.exec(ctx, `INSERT INTO workers (id, role, machine, version, started, beats, seen) VALUES ($1, '', $2, $3, $4, 0, $4)
			ON CONFLICT (id) DO UPDATE SET seen = excluded.seen`, w.ID, text(w.Machine, maxName), text(w.Version, maxName), now)
		return err
	})
}

// RemoveWorker removes a worker that has stopped.
func (s *Store) RemoveWorker(ctx context.Context, id string) error {
	return s.write(ctx, func(t *tx) error {
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
