//go:build unix

package work_test

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/shadowcourt/shadowcourt/host/alibi"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/record"
	"github.com/shadowcourt/shadowcourt/internal/run"
	"github.com/shadowcourt/shadowcourt/internal/service/store"
	"github.com/shadowcourt/shadowcourt/internal/service/work"
	"github.com/shadowcourt/shadowcourt/internal/testkit/check"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
	"github.com/shadowcourt/shadowcourt/internal/testkit/tier"
)

// casesFlag is how many cases the tests of faults try. `make service-faults` has 20,000.
const casesFlag = "SHADOWCOURT_SERVICE_CASES"

// storm is a run of workers that are killed while they try cases.
type storm struct {
	store                        *store.Store
	database                     string
	key                          *record.Key
	keyFile                      string
	cases                        int
	workers                      []*exec.Cmd
	kills, swaps, restarts, cuts int // to be made
	// jumps is how often the clock of a worker jumps by up to an hour. Without any, the clocks are the machine's.
	jumps int
	clock *jumpingClock // of this process
	// restart stops the server and runs it again, cut cuts its connections; nil for none.
	restart, cut func() error

	killed, swapped, restarted, wasCut, jumped int
	generations                                []int64
	plan                                       []planned
}

// planned is a docket that is to be submitted.
type planned struct {
	generation int64 // named; 0 for none
	from, to   int   // of the cases
	id         int64
}

func stormCases(t testing.TB, byDefault int) int {
	t.Helper()
	text := os.Getenv(casesFlag)
	if text == "" {
		return byDefault
	}
	return must.Get(strconv.Atoi(text))(t)
}

func newStorm(t testing.TB, database string) *storm {
	t.Helper()
	clock := &jumpingClock{}
	s := &storm{store: openClocked(t, database, clock.now), clock: clock, database: database, key: newKey(t), keyFile: filepath.Join(t.TempDir(), "key")}
	text := must.Get(s.key.PEM())(t)
	must.Do(t, os.WriteFile(s.keyFile, text, 0o600))
	first := must.Get(s.store.CurrentGeneration(t.Context()))(t)
	s.generations = []int64{first}
	for _, note := range []string{"one", "two"} {
		s.generations = append(s.generations, swapped(t, s.store, first, "specter", changed(t, "specter", note)).ID)
	}
	g := must.Get(s.store.Generation(t.Context(), first))(t)
	parts := store.Parts{Modules: g.Modules, Canary: map[string]string{}}
	parts.Canary["specter"] = must.Get(s.store.AddBlob(t.Context(), changed(t, "specter", "canary")))(t)
	canary := must.Get(s.store.AddGeneration(t.Context(), store.Generation{Parts: parts, Share: 0.5}))(t)
	s.generations = append(s.generations, canary.ID)
	return s
}

// spawn starts a worker in a process of its own.
func (s *storm) spawn(t testing.TB) *exec.Cmd {
	t.Helper()
	self := must.Get(os.Executable())(t)
	c := exec.CommandContext(context.WithoutCancel(t.Context()), self)
	c.Env = append(os.Environ(), workerFlag+"="+s.database, keyFlag+"="+s.keyFile)
	if s.jumps > 0 {
		c.Env = append(c.Env, clockFlag+"=1")
	}
	c.Stderr = os.Stderr
	must.Do(t, c.Start())
	return c
}

// jump has the clock of a worker jump, and that of this process.
func (s *storm) jump(t testing.TB) {
	t.Helper()
	must.Do(t, s.workers[rand.IntN(len(s.workers))].Process.Signal(syscall.SIGUSR1))
	s.clock.jump()
	s.jumped++
}

func (s *storm) kill(t testing.TB, i int, how os.Signal) {
	t.Helper()
	must.Do(t, s.workers[i].Process.Signal(how))
	_ = s.workers[i].Wait() // it says that it was killed
}

// again does something until it works: the server may be away.
func again(t testing.TB, do func() error) {
	t.Helper()
	until := time.Now().Add(2 * time.Minute)
	for {
		err := do()
		if err == nil {
			return
		}
		if time.Now().After(until) {
			t.Fatal(err)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// caseAt is a case of the storm: one of the examples under another id.
func caseAt(examples []docket.Entry, i int) docket.Entry {
	return renamed(examples[i%len(examples):][:1], fmt.Sprint("case ", i, " "))[0]
}

const stormDocket = 50

// run tries all cases while it does its worst.
func (s *storm) run(t testing.TB, workers int) {
	t.Helper()
	examples := entries(t, "go-failures.jsonl", run.JSONL)
	// Every other docket with whatever generation is in force when it is submitted, the others with two that they name.
	for from := 0; from < s.cases; from += stormDocket {
		p := planned{from: from, to: min(from+stormDocket, s.cases)}
		if from/stormDocket%2 == 0 {
			s.plan = append(s.plan, p)
			continue
		}
		for _, g := range s.generations[:2] {
			p.generation = g
			s.plan = append(s.plan, p)
		}
	}
	for range workers {
		s.workers = append(s.workers, s.spawn(t))
	}
	defer func() {
		for _, w := range s.workers {
			_ = w.Process.Kill()
			_ = w.Wait()
		}
	}()
	began := time.Now()
	var share atomic.Int64 // of the work that is done, in millionths
	done := make(chan struct{})
	var swapper sync.WaitGroup
	swapper.Go(func() { s.swapAll(t, &share, done) })
	s.drive(t, examples, &share)
	close(done)
	swapper.Wait()
	t.Logf("%d cases, %d trials asked for, in %s: %d workers killed, %d restarts, %d times connections cut, %d swaps, %d jumps of clocks",
		s.cases, s.asked(), time.Since(began).Round(time.Second), s.killed, s.restarted, s.wasCut, s.swapped, s.jumped)
}

func (s *storm) asked() (n int) {
	for _, p := range s.plan {
		n += p.to - p.from
	}
	return n
}

// drive submits the dockets one by one, and kills in step with what is done.
func (s *storm) drive(t testing.TB, examples []docket.Entry, share *atomic.Int64) {
	t.Helper()
	next := 0
	for {
		tried, waiting := 0, 0
		for i := range s.plan[:next] {
			again(t, func() error {
				d, err := s.store.Docket(t.Context(), s.plan[i].id)
				if err == nil {
					tried += d.Tried + d.Faults
					waiting += d.Cases - d.Tried - d.Faults
				}
				return err
			})
		}
		if next < len(s.plan) && waiting < 3*stormDocket {
			s.submit(t, examples, &s.plan[next], next)
			next++
		}
		part := float64(tried) / float64(s.asked())
		share.Store(int64(part * 1e6))
		if s.jumped < s.jumps && float64(s.jumped) < 2*part*float64(s.jumps) {
			s.jump(t)
		}
		if next == len(s.plan) && waiting == 0 {
			return
		}
		switch {
		case float64(s.killed) < part*float64(s.kills+1)-1 || s.killed == 0 && part > 0 && s.kills > 0:
			i := rand.IntN(len(s.workers))
			s.kill(t, i, syscall.SIGKILL)
			s.workers[i] = s.spawn(t)
			s.killed++
		case s.restart != nil && float64(s.restarted) < part*float64(s.restarts+1)-1:
			must.Do(t, s.restart())
			s.restarted++
		case s.cut != nil && float64(s.wasCut) < part*float64(s.cuts+1)-1:
			again(t, s.cut)
			s.wasCut++
		}
		time.Sleep(30 * time.Millisecond)
	}
}

// submit submits a docket with a key, as often as it takes.
func (s *storm) submit(t testing.TB, examples []docket.Entry, p *planned, number int) {
	t.Helper()
	again(t, func() error {
		u, err := s.store.Submit(t.Context(), store.Submission{
			Submitter: fmt.Sprint("ci ", number%3), Format: run.JSONL, Key: fmt.Sprint("docket ", number), Generation: p.generation,
		})
		if err != nil {
			return err
		}
		defer func() { _ = u.Abort(context.WithoutCancel(t.Context())) }()
		for i := p.from; i < p.to; i++ {
			entry := caseAt(examples, i)
			if err := u.Add(t.Context(), &entry, nil); err != nil {
				return err
			}
		}
		d, _, err := u.Finish(t.Context(), "body", nil)
		p.id = d.ID
		return err
	})
}

// swapAll activates one generation after the other.
func (s *storm) swapAll(t testing.TB, share *atomic.Int64, done chan struct{}) {
	t.Helper()
	for s.swapped < s.swaps {
		if float64(s.swapped) >= float64(share.Load())/1e6*float64(s.swaps+1) {
			select {
			case <-done:
				return
			case <-time.After(20 * time.Millisecond):
			}
			continue
		}
		generation := s.generations[(s.swapped+1)%len(s.generations)]
		if _, err := s.store.Activate(t.Context(), "storm", generation); err == nil {
			s.swapped++
		} else {
			time.Sleep(50 * time.Millisecond) // the server is away for a moment
		}
	}
}

// check looks whether every case has exactly one verdict for each generation that was asked for, by the modules of that
// generation, in a record that verifies.
func (s *storm) check(t testing.TB) {
	t.Helper()
	modules, canaries := map[int64][]string{}, map[int64]int{}
	for _, id := range s.generations {
		g := must.Get(s.store.Generation(t.Context(), id))(t)
		modules[id] = slices.Collect(maps.Values(g.Modules))
	}
	recorded := map[int64]map[string]string{} // digest of the result, by record and id of the case
	used := map[int64]int{}
	for _, p := range s.plan {
		d := must.Get(s.store.Docket(t.Context(), p.id))(t)
		if d.State != store.Done || d.Tried != p.to-p.from || d.Faults != 0 || p.generation != 0 && d.Generation != p.generation {
			t.Errorf("docket %d of %d cases: %+v", p.id, p.to-p.from, d)
		}
		for tried, err := range s.store.Results(t.Context(), p.id, 1) {
			must.Do(t, err)
			if tried.Trial == nil {
				t.Errorf("%s has no verdict: %s", tried.ID, tried.Fault)
				continue
			}
			check.Equal(t, tried.Generation, d.Generation, tried.ID, "was tried by generation")
			used[tried.Generation]++
			if tried.Beside.Status != "" {
				canaries[tried.Generation]++
			}
			for _, digest := range tried.Trial.Result.Modules {
				if !slices.Contains(modules[tried.Generation], record.Digest(digest).Hex()) {
					t.Errorf("%s: module %s is not of generation %d", tried.ID, digest, tried.Generation)
				}
			}
			if recorded[tried.Record] == nil {
				recorded[tried.Record] = s.readRecord(t, tried.Record)
			}
			want := string(record.DigestOf([]byte(line(t, &tried.Trial.Result))))
			check.Equal(t, recorded[tried.Record][tried.CaseID], want, tried.ID, "record", tried.Record, "has the result")
		}
	}
	check.Equal(t, len(recorded), s.asked(), "records of", "trials that were asked for")
	t.Logf("%d records; trials by generation: %v, with a canary: %v", len(recorded), used, canaries)
	canary := s.generations[len(s.generations)-1]
	if n := canaries[canary]; len(canaries) > 1 || len(canaries) == 1 && n == 0 || n > used[canary] || used[canary] > 100 && n == 0 {
		t.Errorf("canaries took part in %v of %v trials by generation", canaries, used)
	}
	check.Equal(t, must.Get(s.store.Waiting(t.Context()))(t), 0, "left in the queue")
}

// readRecord verifies a record, and gives the digests of its results.
func (s *storm) readRecord(t testing.TB, id int64) map[string]string {
	t.Helper()
	body := must.Get(s.store.Record(t.Context(), id))(t)
	results := map[string]string{}
	report, err := record.Verify(t.Context(), bytes.NewReader(body), s.key, func(e *record.Entry, _ record.Digest) {
		if e.Trial != nil {
			results[e.Trial.ID] = string(e.Trial.ResultDigest)
		}
	})
	must.Do(t, err)
	if !report.Complete() {
		t.Errorf("record %d: %+v", id, report)
	}
	return results
}

// One process on SQLite is killed again and again.
func TestAccept_SV2_KillsOnSQLite(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes")
	}
	s := newStorm(t, filepath.Join(t.TempDir(), "shadowcourt.db"))
	s.cases = stormCases(t, 300)
	s.kills, s.swaps = min(max(s.cases/40, 3), 50), min(max(s.cases/100, 2), 100)
	s.run(t, 1)
	s.check(t)
}

// TestAccept_FZ10_ClocksOnSQLite: the clocks of a worker and of the process that submits differ by up to two hours, and jump. Each case has
// one verdict, and the records verify.
func TestAccept_FZ10_ClocksOnSQLite(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes")
	}
	s := newStorm(t, filepath.Join(t.TempDir(), "shadowcourt.db"))
	s.cases = stormCases(t, 300)
	s.jumps, s.kills, s.swaps = min(s.cases/10, 100), min(max(s.cases/100, 1), 20), min(max(s.cases/100, 1), 20)
	s.run(t, 1)
	s.check(t)
	if s.jumped < s.jumps/2 {
		t.Errorf("clocks jumped %d times", s.jumped)
	}
}

func TestAccept_IG7_KilledSendersOnSQLite(t *testing.T) {
	tier.Long(t, "internal/service/work", "internal/service/store")
	if testing.Short() {
		t.Skip("starts processes")
	}
	killedSenders(t, filepath.Join(t.TempDir(), "shadowcourt.db"))
}

// killedSenders: a worker is killed while a receiver has its message, again and again. No event is lost, and none comes under two IDs.
func killedSenders(t *testing.T, database string) {
	t.Helper()
	s := &storm{store: openDatabase(t, database), database: database}
	const n, kills = 30, 3
	got := make(chan int, 1000)
	held := func(i int) bool { return i%7 == 1 && i < 7*kills } // until the worker is killed
	b := newInbox(t, func(i int, _ http.ResponseWriter, r *http.Request) {
		got <- i
		if held(i) {
			<-r.Context().Done()
		}
	})
	text := aHook("one", b.URL, "failure.yours", "")
	setHooks(t, s.store, text)
	file := filepath.Join(t.TempDir(), "hooks.yaml")
	must.Do(t, os.WriteFile(file, []byte("hooks:\n"+text), 0o600))
	t.Setenv(hooksFlag, file)
	for i := range n {
		pushed(t, s.store, store.Submission{Repository: "shop", Key: strconv.Itoa(i)}, alibi.IsYours)
	}
	for range kills {
		s.workers = append(s.workers[:0], s.spawn(t))
		for i := range got {
			if held(i) {
				break
			}
		}
		s.kill(t, 0, syscall.SIGKILL)
	}
	s.workers = append(s.workers[:0], s.spawn(t))
	t.Cleanup(func() { s.kill(t, 0, syscall.SIGTERM) })
	seen := func() map[int64]string { // by docket
		ids := map[int64]string{}
		for _, m := range b.messages() {
			if id := ids[m.Data.Docket.ID]; id != "" && id != m.id {
				t.Errorf("docket %d came as %s and %s", m.Data.Docket.ID, id, m.id)
			}
			ids[m.Data.Docket.ID] = m.id
		}
		return ids
	}
	until(t, "what a killed worker had is sent again", func() bool { return len(b.messages()) >= n+kills && len(seen()) == n })
	check.Equal(t, len(b.ids()), n, "events came under", "IDs")
}

// takeSample is what a process holds at a moment: bytes of the heap behind a collection and of memory, goroutines and files.
func takeSample(t *testing.T) (s [4]int64) {
	t.Helper()
	debug.FreeOSMemory()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	s[0], s[2] = int64(m.HeapAlloc), int64(runtime.NumGoroutine())
	if text, err := os.ReadFile("/proc/self/statm"); err == nil {
		pages := must.Get(strconv.ParseInt(strings.Fields(string(text))[1], 10, 64))(t)
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
	first := must.Get(s.CurrentGeneration(t.Context()))(t)
	list := entries(t, "go-failures.jsonl", run.JSONL)
	var samples [][4]int64
	ctx, cancel := context.WithTimeout(t.Context(), length)
	defer cancel()
	for round := 0; ctx.Err() == nil || len(samples) < 12; round++ {
		d := submit(t, s, store.Submission{Submitter: fmt.Sprint("ci ", round%3), Format: run.JSONL}, renamed(list, fmt.Sprint(round, " ")))
		pinned := submit(t, s, store.Submission{Submitter: "pinned", Format: run.JSONL, Generation: first}, renamed(list[:8], fmt.Sprint("pinned ", round, " ")))
		if round%10 == 9 { // other modules each time
			next := swapped(t, s, first, "specter", changed(t, "specter", strconv.Itoa(round)))
			must.Get(s.Activate(t.Context(), "soak", next.ID))(t)
		}
		for _, id := range []int64{d.ID, pinned.ID} {
			if ended := wait(t, s, id); ended.State != store.Done || ended.Faults != 0 {
				t.Fatalf("%+v", ended)
			}
		}
		if round%5 == 0 {
			e := must.Get(s.Entry(t.Context(), store.TrialID{Docket: d.ID, Ordinal: 1}))(t)
			c := must.Get(s.Correct(t.Context(), "ann", e.Labels[round%len(e.Labels)], []store.TrialID{e.ID}))(t)
			if round%2 == 0 {
				must.Get(s.Undo(t.Context(), "ann", c.ID))(t)
			}
		}
		if round%5 == 4 {
			must.Get(s.Retain(t.Context(), store.Keep{Age: 2 * time.Minute}))(t)
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
