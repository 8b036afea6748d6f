//go:build postgres && unix

package work_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/record"
	"github.com/shadowcourt/shadowcourt/internal/input"
	"github.com/shadowcourt/shadowcourt/internal/service/store"
	"github.com/shadowcourt/shadowcourt/internal/service/work"
	"github.com/shadowcourt/shadowcourt/internal/testkit/pgtest"
)

// The measurements print what they find, and assert nothing. `make service-bench` runs them.

func measured(t *testing.T) []docket.Entry {
	t.Helper()
	n := stormCases(t, 0)
	if n == 0 || os.Getenv("SHADOWCOURT_SERVICE_MEASURE") == "" {
		t.Skip("measured by `make service-bench`")
	}
	examples := entries(t, "go-failures.jsonl", input.JSONL)
	list := make([]docket.Entry, n)
	for i := range list {
		list[i] = caseAt(examples, i)
	}
	return list
}

// A host alone, as `try` has one.
func TestMeasureHost(t *testing.T) {
	list := measured(t)
	for _, workers := range []int{1, 2, 4} {
		for _, key := range []*record.Key{nil, newKey(t)} {
			took, busy := alone(t, list, workers, key)
			report(t, fmt.Sprintf("a host alone, %d at once, records: %v", workers, key != nil), len(list), took, busy)
		}
	}
}

func TestMeasureSQLite(t *testing.T) {
	list := measured(t)
	for _, workers := range []int{1, 2, 4} {
		for _, key := range []*record.Key{nil, newKey(t)} {
			s := openStore(t)
			configure := func(c *work.Config) { c.Workers, c.Key = workers, key }
			_, stop := start(t, s, configure)
			submitAndWait(t, s, "warm", renamed(list[:32], "warm "))
			stop() // the docket is there before the worker, as in a host alone
			d := submit(t, s, store.Submission{Submitter: "ci", Format: input.JSONL}, list)
			before, began := cpu(t), time.Now()
			_, stop = start(t, s, configure)
			wait(t, s, d.ID)
			report(t, fmt.Sprintf("SQLite, one process, %d at once, records: %v", workers, key != nil), len(list), time.Since(began), cpu(t)-before)
			stop()
		}
	}
}

func TestMeasurePostgres(t *testing.T) {
	list := measured(t)
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
		wal, busy, own := walBytes(t, server), cpuOf(t, workers), cpu(t)
		d := submit(t, m.store, store.Submission{Submitter: "ci", Format: input.JSONL}, list)
		own = cpu(t) - own
		began := time.Now()
		wait(t, m.store, d.ID)
		report(t, fmt.Sprintf("PostgreSQL, %d processes, one at once in each, records: true", processes), len(list), time.Since(began), cpuOf(t, workers)-busy)
		t.Logf("  beside that %d bytes of WAL and %s of the process that submits for each case", (walBytes(t, server)-wal)/int64(len(list)),
			(own / time.Duration(len(list))).Round(10*time.Microsecond))
		if processes == 2 {
			smallOnes(t, m.store, list)
		}
		for _, c := range workers {
			_ = c.Process.Signal(syscall.SIGTERM)
			_ = c.Wait()
		}
	}
}

// walBytes is how much the server has written to its log.
func walBytes(t *testing.T, server *pgtest.Server) int64 {
	t.Helper()
	text, err := server.SQL(t.Context(), "postgres", "SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::bigint")
	must(t, err)
	n, err := strconv.ParseInt(text, 10, 64)
	must(t, err)
	return n
}

// cpu is the time that this process has kept processors busy: other programs on the machine don't change it.
func cpu(t *testing.T) time.Duration {
	t.Helper()
	var r syscall.Rusage
	must(t, syscall.Getrusage(syscall.RUSAGE_SELF, &r))
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

// cpuOf is that of other processes, as Linux tells it.
func cpuOf(t *testing.T, programs []*exec.Cmd) (all time.Duration) {
	t.Helper()
	for _, p := range programs {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.Process.Pid))
		if err != nil {
			return 0 // another system
		}
		_, rest, _ := strings.Cut(string(text), ") ")
		fields := strings.Fields(rest)
		for _, field := range fields[11:13] {
			ticks, err := strconv.ParseInt(field, 10, 64)
			must(t, err)
			all += time.Duration(ticks) * 10 * time.Millisecond
		}
	}
	return all
}

func report(t *testing.T, what string, n int, took, busy time.Duration) {
	t.Helper()
	t.Logf("%s: %.0f cases/s, %s of processor time for each", what, rate(n, took), (busy / time.Duration(n)).Round(10*time.Microsecond))
}

func rate(n int, took time.Duration) float64 { return float64(n) / took.Seconds() }

// alone opens a host and tries cases without a service.
func alone(t *testing.T, list []docket.Entry, workers int, key *record.Key) (took, busy time.Duration) {
	t.Helper()
	before, began := cpu(t), time.Now()
	h, err := openHost(t.Context(), &work.Opening{Format: input.JSONL})
	must(t, err)
	defer func() { must(t, h.Close(context.WithoutCancel(t.Context()))) }()
	parts, err := h.Configuration(t.Context())
	must(t, err)
	header, err := h.RecordHeader(parts)
	must(t, err)
	var out *record.Writer
	if key != nil {
		out, err = record.Begin(io.Discard, key, header)
		must(t, err)
	}
	for tried := range h.TryAll(t.Context(), func(yield func(docket.Entry, error) bool) {
		for i := range list {
			if !yield(list[i], nil) {
				return
			}
		}
	}, workers) {
		must(t, tried.Err)
		if out != nil {
			must(t, out.Append(tried.Record))
		}
	}
	if out != nil {
		must(t, out.Finish())
	}
	return time.Since(began), cpu(t) - before
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
