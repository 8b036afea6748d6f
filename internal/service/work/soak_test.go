//go:build unix

package work_test

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/shadowcourt/shadowcourt/internal/run"
	"github.com/shadowcourt/shadowcourt/internal/service/store"
	"github.com/shadowcourt/shadowcourt/internal/service/work"
)

// takeSample is what a process holds at a moment: bytes of the heap behind a collection and of memory, goroutines and files.
func takeSample(t *testing.T) (s [4]int64) {
	t.Helper()
	debug.FreeOSMemory()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	s[0], s[2] = int64(m.HeapAlloc), int64(runtime.NumGoroutine())
	if text, err := os.ReadFile("/proc/self/statm"); err == nil {
		pages, err := strconv.ParseInt(strings.Fields(string(text))[1], 10, 64)
		must(t, err)
		s[1] = pages * int64(os.Getpagesize())
	}
	if files, err := os.ReadDir("/proc/self/fd"); err == nil {
		s[3] = int64(len(files))
	}
	return s
}

// A worker goes on for `SHADOWCOURT_SOAK` (`make service-soak`: 30 minutes) with dockets, swaps, pinned dockets, corrections and their
// undoing, and retention. What it holds between two rounds does not grow: neither memory nor goroutines nor files.
func TestAccept_SV2_Soak(t *testing.T) {
	length, err := time.ParseDuration(os.Getenv("SHADOWCOURT_SOAK"))
	if err != nil {
		t.Skip("SHADOWCOURT_SOAK has no length: run `make service-soak`")
	}
	s := openStore(t)
	key := newKey(t)
	start(t, s, func(c *work.Config) { c.Key = key })
	first, err := s.CurrentGeneration(t.Context())
	must(t, err)
	list := entries(t, "go-failures.jsonl", run.JSONL)
	var samples [][4]int64
	ctx, cancel := context.WithTimeout(t.Context(), length)
	defer cancel()
	for round := 0; ctx.Err() == nil || len(samples) < 12; round++ {
		d := submit(t, s, store.Submission{Submitter: fmt.Sprint("ci ", round%3), Format: run.JSONL}, renamed(list, fmt.Sprint(round, " ")))
		pinned := submit(t, s, store.Submission{Submitter: "pinned", Format: run.JSONL, Generation: first}, renamed(list[:8], fmt.Sprint("pinned ", round, " ")))
		if round%10 == 9 { // other modules each time
			next := swapped(t, s, first, "specter", changed(t, "specter", strconv.Itoa(round)))
			_, err := s.Activate(t.Context(), "soak", next.ID)
			must(t, err)
		}
		for _, id := range []int64{d.ID, pinned.ID} {
			if ended := wait(t, s, id); ended.State != store.Done || ended.Faults != 0 {
				t.Fatalf("%+v", ended)
			}
		}
		if round%5 == 0 {
			e, err := s.Entry(t.Context(), store.TrialID{Docket: d.ID, Ordinal: 1})
			must(t, err)
			c, err := s.Correct(t.Context(), "ann", e.Labels[round%len(e.Labels)], []store.TrialID{e.ID})
			must(t, err)
			if round%2 == 0 {
				_, err = s.Undo(t.Context(), "ann", c.ID)
				must(t, err)
			}
		}
		if round%5 == 4 {
			_, err = s.Retain(t.Context(), store.Keep{Age: 2 * time.Minute})
			must(t, err)
			samples = append(samples, takeSample(t))
		}
	}
	// Medians of the second and the last quarter: the first one fills caches.
	quarter := len(samples) / 4
	for i, what := range []string{"heap", "resident", "goroutines", "files"} {
		middle := func(part [][4]int64) int64 {
			var values []int64
			for _, s := range part {
				values = append(values, s[i])
			}
			slices.Sort(values)
			return values[len(values)/2]
		}
		before, after, room := middle(samples[quarter:2*quarter]), middle(samples[len(samples)-quarter:]), []int64{16 << 20, 64 << 20, 10, 10}[i]
		t.Logf("%s: median %d in the second quarter, %d in the last", what, before, after)
		if after > before+max(before/5, room) {
			t.Errorf("%s grows from %d to %d", what, before, after)
		}
	}
}
