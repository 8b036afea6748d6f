package work_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/internal/run"
	"github.com/shadowcourt/shadowcourt/internal/service/store"
	"github.com/shadowcourt/shadowcourt/internal/service/work"
)

// TestAccept_SV3_SlowCasesLetOthersGoFirst: one worker has two dockets whose cases take half a minute each by its clock, as with a module that
// spins until its limit. Others wait for one such case at a time, and not for the batch; every case is tried once.
func TestAccept_SV3_SlowCasesLetOthersGoFirst(t *testing.T) {
	t.Parallel()
	slowCasesLetOthersGoFirst(t, openStore(t))
}

func slowCasesLetOthersGoFirst(t *testing.T, s *store.Store) {
	t.Helper()
	var seconds atomic.Int64
	clock := func() time.Time { return time.Unix(seconds.Add(30), 0) }
	all := entries(t, "go-failures.jsonl", run.JSONL)
	some := func(prefix string, n int) (list []docket.Entry) {
		for len(list) < n {
			list = append(list, renamed(all[:min(len(all), n-len(list))], fmt.Sprint(prefix, len(list), "-"))...)
		}
		return list
	}
	slow := []store.Docket{
		submit(t, s, store.Submission{Format: run.JSONL, Submitter: "slow"}, some("slow", 96)),
		submit(t, s, store.Submission{Format: run.JSONL, Submitter: "also slow"}, some("also", 96)),
	}
	small := submit(t, s, store.Submission{Format: run.JSONL, Submitter: "small"}, some("small", 3))

	var mu sync.Mutex
	order := []int64{}
	key := newKey(t)
	_, stop := start(t, s, func(c *work.Config) {
		c.Workers, c.Now, c.Key = 1, clock, key
		c.OnTrial = func(trial work.Trial) {
			mu.Lock()
			defer mu.Unlock()
			order = append(order, trial.Docket)
		}
	})
	ended := wait(t, s, small.ID)
	for _, d := range slow {
		if d := wait(t, s, d.ID); d.Tried != 96 || d.Faults != 0 {
			t.Errorf("%+v", d)
		}
	}
	stop()
	if ended.Tried != 3 {
		t.Errorf("%+v", ended)
	}
	before, between, longest := 0, 0, 0
	left := 3
	for _, id := range order {
		if id == small.ID {
			left--
			longest, between = max(longest, between), 0
		} else if left > 0 {
			before++
			between++
		}
	}
	// The dockets take turns, a case each, and the worker may have fetched a batch or two before.
	if longest > 6 || before > 16 || len(order) != 195 {
		t.Errorf("the small docket waited for %d slow cases at once, and %d in all, of %d: %v", longest, before, len(order), order)
	}
	for _, d := range slow {
		if n := verify(t, s, d.ID, key); n != 96 {
			t.Errorf("the records have %d trials", n)
		}
	}
}
