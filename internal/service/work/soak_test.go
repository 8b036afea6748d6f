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

// sample is what a process holds at a moment.
type sample struct {
	cases, goroutines, files int
	heap, resident           int64 // bytes; heap behind a collection
}

func (s sample) String() string {
	return fmt.Sprintf("%d cases: heap %.1f MiB, resident %.1f MiB, %d goroutines, %d files", s.cases, float64(s.heap)/(1<<20), float64(s.resident)/(1<<20),
		s.goroutines, s.files)
}

func takeSample(t *testing.T, cases int) sample {
	t.Helper()
	debug.FreeOSMemory()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	s := sample{cases: cases, goroutines: runtime.NumGoroutine(), heap: int64(m.HeapAlloc)}
	if text, err := os.ReadFile("/proc/self/statm"); err == nil {
		pages, err := strconv.ParseInt(strings.Fields(string(text))[1], 10, 64)
		must(t, err)
		s.resident = pages * int64(os.Getpagesize())
	}
	if files, err := os.ReadDir("/proc/self/fd"); err == nil {
		s.files = len(files)
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
	var samples []sample
	cases := 0
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
		cases += len(list) + 8
		if round%5 == 4 {
			_, err = s.Retain(t.Context(), store.Keep{Age: 2 * time.Minute})
			must(t, err)
			samples = append(samples, takeSample(t, cases))
			t.Log(samples[len(samples)-1])
		}
	}
	flat(t, samples)
}

// flat compares the medians of the second and the last quarter of a run: the first one fills caches.
func flat(t *testing.T, samples []sample) {
	t.Helper()
	quarter := len(samples) / 4
	for what, of := range map[string]struct {
		value func(sample) int64
		room  int64
	}{
		"heap":       {func(s sample) int64 { return s.heap }, 16 << 20},
		"resident":   {func(s sample) int64 { return s.resident }, 64 << 20},
		"goroutines": {func(s sample) int64 { return int64(s.goroutines) }, 10},
		"files":      {func(s sample) int64 { return int64(s.files) }, 10},
	} {
		middle := func(part []sample) int64 {
			var values []int64
			for _, s := range part {
				values = append(values, of.value(s))
			}
			slices.Sort(values)
			return values[len(values)/2]
		}
		before, after := middle(samples[quarter:2*quarter]), middle(samples[len(samples)-quarter:])
		t.Logf("%s: median %d in the second quarter, %d in the last", what, before, after)
		if after > before+max(before/5, of.room) {
			t.Errorf("%s grows from %d to %d", what, before, after)
		}
	}
}
