//go:build postgres && unix

package work_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/run/input"
	"github.com/shadowcourt/shadowcourt/host/service/store"
	"github.com/shadowcourt/shadowcourt/host/service/work"
)

// TestMeasure prints how many cases a second the service tries beside a host alone, and how long a small docket takes beside a
// large one. `make service-bench` runs it; it asserts nothing.
func TestMeasure(t *testing.T) {
	n := stormCases(t, 0)
	if n == 0 || os.Getenv("SHADOWCOURT_SERVICE_MEASURE") == "" {
		t.Skip("measured by `make service-bench`")
	}
	examples := entries(t, "go-failures.jsonl", input.JSONL)
	list := make([]docket.Entry, n)
	for i := range list {
		list[i] = caseAt(examples, i)
	}
	for _, workers := range []int{1, 2} {
		t.Logf("a host alone, %d at once: %.0f cases/s", workers, rate(n, alone(t, list, workers)))
	}
	for _, workers := range []int{1, 2} {
		s := openStore(t)
		_, stop := start(t, s, func(c *work.Config) { c.Workers, c.Formats, c.Key = workers, []string{input.JSONL}, newKey(t) })
		t.Logf("SQLite, one process, %d at once, with records: %.0f cases/s", workers, rate(n, served(t, s, list)))
		stop()
	}
	server := startPostgres(t)
	for _, processes := range []int{1, 2, 4} {
		url, err := server.Database(t.Context())
		must(t, err)
		m := newStorm(t, url)
		var workers []*exec.Cmd
		for range processes {
			workers = append(workers, m.spawn(t))
		}
		submitAndWait(t, m.store, "warm", renamed(list[:64], "warm "))
		t.Logf("PostgreSQL, %d processes, one at once in each, with records: %.0f cases/s", processes, rate(n, served(t, m.store, list)))
		if processes == 2 {
			smallOnes(t, m.store, list)
		}
		for _, c := range workers {
			_ = c.Process.Signal(syscall.SIGTERM)
			_ = c.Wait()
		}
	}
}

func rate(n int, took time.Duration) float64 { return float64(n) / took.Seconds() }

func alone(t *testing.T, list []docket.Entry, workers int) time.Duration {
	t.Helper()
	h, err := openHost(t.Context(), &work.Opening{Format: input.JSONL})
	must(t, err)
	defer func() { must(t, h.Close(context.WithoutCancel(t.Context()))) }()
	began := time.Now()
	for tried := range h.TryAll(t.Context(), func(yield func(docket.Entry, error) bool) {
		for i := range list {
			if !yield(list[i], nil) {
				return
			}
		}
	}, workers) {
		must(t, tried.Err)
	}
	return time.Since(began)
}

// served is the time from the end of the upload to the last verdict.
func served(t *testing.T, s *store.Store, list []docket.Entry) time.Duration {
	t.Helper()
	d := submit(t, s, store.Submission{Submitter: "ci", Format: input.JSONL}, list)
	began := time.Now()
	wait(t, s, d.ID)
	return time.Since(began)
}

func submitAndWait(t *testing.T, s *store.Store, who string, list []docket.Entry) time.Duration {
	t.Helper()
	began := time.Now()
	wait(t, s, submit(t, s, store.Submission{Submitter: who, Format: input.JSONL}, list).ID)
	return time.Since(began)
}

// smallOnes measures dockets of three cases beside one that keeps all workers busy.
func smallOnes(t *testing.T, s *store.Store, list []docket.Entry) {
	t.Helper()
	large := submit(t, s, store.Submission{Submitter: "large", Format: input.JSONL}, renamed(slices.Concat(list, renamed(list, "more ")), "large "))
	var took []time.Duration
	for i := range 100 {
		if d, err := s.Docket(t.Context(), large.ID); err != nil || d.State.Ended() {
			break
		}
		took = append(took, submitAndWait(t, s, "small", renamed(list[:3], fmt.Sprint("small ", i, " "))))
	}
	slices.Sort(took)
	t.Logf("%d dockets of 3 cases beside one of %d: submit to verdict p50 %s, p99 %s", len(took), 2*len(list),
		took[len(took)/2].Round(time.Millisecond), took[len(took)*99/100].Round(time.Millisecond))
	wait(t, s, large.ID)
}
