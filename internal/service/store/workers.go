package store

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/shadowcourt/shadowcourt/internal/disk"
)

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
