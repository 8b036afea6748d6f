//go:build postgres && unix

package work_test

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/internal/run"
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
	examples := entries(t, "go-failures.jsonl", run.JSONL)
	list := make([]docket.Entry, n)
	for i := range list {
		list[i] = caseAt(examples, i)
	}
	return list
}

func TestMeasureSQLite(t *testing.T) {
	list := measured(t)
	for _, workers := range []int{1, 2, 4} {
		s := openStore(t)
		configure := func(c *work.Config) { c.Workers, c.Key = workers, newKey(t) }
		_, stop := start(t, s, configure)
		submitAndWait(t, s, "warm", renamed(list[:32], "warm "))
		stop() // the docket is there before the worker
		d := submit(t, s, store.Submission{Submitter: "ci", Format: run.JSONL}, list)
		began := time.Now()
		_, stop = start(t, s, configure)
		wait(t, s, d.ID)
		t.Logf("SQLite, one process, %d at once: %.0f cases/s", workers, float64(len(list))/time.Since(began).Seconds())
		stop()
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
		wal := walBytes(t, server)
		d := submit(t, m.store, store.Submission{Submitter: "ci", Format: run.JSONL}, list)
		began := time.Now()
		wait(t, m.store, d.ID)
		t.Logf("PostgreSQL, %d processes, one at once in each: %.0f cases/s, %d bytes of WAL for each", processes, float64(len(list))/time.Since(began).Seconds(),
			(walBytes(t, server)-wal)/int64(len(list)))
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

func submitAndWait(t *testing.T, s *store.Store, who string, list []docket.Entry) time.Duration {
	t.Helper()
	began := time.Now()
	wait(t, s, submit(t, s, store.Submission{Submitter: who, Format: run.JSONL}, list).ID)
	return time.Since(began)
}

// smallOnes measures dockets of three cases beside one that keeps all workers busy.
func smallOnes(t *testing.T, s *store.Store, list []docket.Entry) {
	t.Helper()
	large := submit(t, s, store.Submission{Submitter: "large", Format: run.JSONL}, renamed(slices.Concat(list, renamed(list, "more ")), "large "))
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
