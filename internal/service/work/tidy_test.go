package work_test

import (
	"errors"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/shadowcourt/shadowcourt/internal/service/store"
	"github.com/shadowcourt/shadowcourt/internal/service/work"
)

// The worker that leads removes old dockets, and uploads that nobody goes on with.
func TestTheLeadingWorkerTidiesUp(t *testing.T) {
	t.Parallel()
	var later atomic.Int64
	s, err := store.Open(t.Context(), store.Config{
		Database: filepath.Join(t.TempDir(), "shadowcourt.db"), Now: func() time.Time { return time.Now().Add(time.Duration(later.Load())) },
	})
	must(t, err)
	t.Cleanup(s.Close)
	_, err = s.Migrate(t.Context())
	must(t, err)
	_, err = work.Begin(t.Context(), s)
	must(t, err)
	_, stop := start(t, s, nil)
	list := entries(t, "tour.jsonl", "jsonl")[:2]
	d := submit(t, s, store.Submission{Submitter: "ann", Format: "jsonl"}, list)
	wait(t, s, d.ID)
	stop()
	left, err := s.Submit(t.Context(), store.Submission{Submitter: "ann", Format: "jsonl"})
	must(t, err)
	must(t, left.Add(t.Context(), &list[0], nil))
	later.Store(int64(91 * 24 * time.Hour))
	_, stop = start(t, s, func(c *work.Config) { c.Keep = store.Keep{Age: 90 * 24 * time.Hour} })
	defer stop()
	for {
		_, err := s.Docket(t.Context(), d.ID)
		if errors.Is(err, store.ErrNotFound) {
			break
		}
		must(t, err)
		time.Sleep(10 * time.Millisecond)
	}
	if _, _, err := left.Finish(t.Context(), "body", nil); !errors.Is(err, store.ErrState) {
		t.Errorf("an upload that nobody went on with for 91 days: %v", err)
	}
}
