package work_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"flag"
	"io/fs"
	"maps"
	mathrand "math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/bundle"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/module"
	"github.com/shadowcourt/shadowcourt/host/pipeline"
	"github.com/shadowcourt/shadowcourt/host/record"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/run"
	"github.com/shadowcourt/shadowcourt/internal/service/store"
	"github.com/shadowcourt/shadowcourt/internal/service/work"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
	"github.com/shadowcourt/shadowcourt/pipelines"
)

// workerFlag has this program be a worker instead of running tests: the tests of faults kill it.
const workerFlag = "SHADOWCOURT_TEST_WORKER"

func TestMain(m *testing.M) {
	flag.Parse()
	if database := os.Getenv(workerFlag); database != "" {
		if err := runWorker(database); err != nil {
			_, _ = os.Stderr.WriteString(err.Error() + "\n")
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// openHost opens a host as the command does for the format.
func openHost(ctx context.Context, o *work.Opening) (*host.Host, error) {
	return openWith(ctx, o, func(*host.Config) error { return nil })
}

// openWith is openHost with another configuration.
func openWith(ctx context.Context, o *work.Opening, change func(*host.Config) error) (*host.Host, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return nil, err
	}
	config := host.Config{Modules: o.Modules, CacheDir: filepath.Join(cache, "shadowcourt", "modules"), Record: record.ContentsReplay}
	if len(o.Canary) > 0 {
		config.Candidate = &host.Candidate{Modules: o.Canary, Share: o.Share}
	}
	if o.Format == run.GoTest || o.Format == run.JUnit {
		if config.LightPath, err = pipeline.LoadFS(pipelines.FS, pipelines.RCAInvestigation); err != nil {
			return nil, err
		}
	}
	if o.Format == run.GoTest {
		if config.Profile, err = goTestProfile(); err != nil {
			return nil, err
		}
	}
	if err := change(&config); err != nil {
		return nil, err
	}
	return host.Open(ctx, config)
}

func goTestProfile() (*abi.Profile, error) {
	text, err := fs.ReadFile(pipelines.FS, "profiles/go-test.yaml")
	if err != nil {
		return nil, err
	}
	return module.ParseProfile("go-test.yaml", text)
}

// entries reads a docket of the examples; those of reports are grouped, as `try` does.
func entries(t testing.TB, name, format string) []docket.Entry {
	t.Helper()
	dockets := must.Get(run.OpenDockets(t.Context(), nil, []string{filepath.Join("../../../examples/dockets", name)}, format))(t)
	read := dockets.Entries("")
	if format != run.JSONL {
		read = run.Grouped(read)
	}
	var list []docket.Entry
	for entry, err := range read {
		must.Do(t, err)
		list = append(list, entry)
	}
	return list
}

func openStore(t testing.TB) *store.Store {
	t.Helper()
	return openDatabase(t, filepath.Join(t.TempDir(), "shadowcourt.db"))
}

func openDatabase(t testing.TB, database string) *store.Store {
	t.Helper()
	return openClocked(t, database, time.Now)
}

func openClocked(t testing.TB, database string, now func() time.Time) *store.Store {
	t.Helper()
	s := must.Get(store.Open(t.Context(), store.Config{Database: database, Now: now}))(t)
	t.Cleanup(s.Close)
	must.Get(s.Migrate(t.Context()))(t)
	must.Get(work.Begin(t.Context(), s))(t)
	return s
}

func newKey(t testing.TB) *record.Key {
	t.Helper()
	return must.Get(record.NewKey(rand.Reader))(t)
}

// start runs a worker until the test ends, or stop is called.
func start(t testing.TB, s *store.Store, change func(*work.Config)) (w *work.Worker, stop func()) {
	t.Helper()
	config := work.Config{Store: s, Open: openHost, Now: time.Now, Machine: "test", Workers: 2}
	if change != nil {
		change(&config)
	}
	w = work.New(config)
	ctx, cancel := context.WithCancel(context.Background())
	ready, done := make(chan struct{}), make(chan error, 1)
	go func() { done <- w.Run(ctx, func() { close(ready) }) }()
	select {
	case <-ready:
	case err := <-done:
		cancel()
		t.Fatal(err)
	}
	stopped := false
	stop = func() {
		if stopped {
			return
		}
		stopped = true
		cancel()
		if err := <-done; err != nil && !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	}
	t.Cleanup(stop)
	return w, stop
}

func submit(t testing.TB, s *store.Store, sent store.Submission, list []docket.Entry) store.Docket {
	t.Helper()
	return must.Get(submitted(t.Context(), s, sent, list))(t)
}

// submitted is submit for several goroutines, and for when it may fail.
func submitted(ctx context.Context, s *store.Store, sent store.Submission, list []docket.Entry) (store.Docket, error) {
	u, err := s.Submit(ctx, sent)
	if err != nil {
		return store.Docket{}, err
	}
	for i := range list {
		if err == nil {
			err = u.Add(ctx, &list[i], nil)
		}
	}
	var d store.Docket
	if err == nil {
		d, _, err = u.Finish(ctx, "body", nil)
	}
	return d, errors.Join(err, u.Abort(context.WithoutCancel(ctx)))
}

// wait waits until a docket has ended.
func wait(t testing.TB, s *store.Store, id int64) store.Docket {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	changes := s.Subscribe(ctx)
	for {
		d := must.Get(s.Docket(ctx, id))(t)
		if d.State.Ended() {
			return d
		}
		select {
		case <-changes:
		case <-time.After(time.Second):
		}
		must.Do(t, ctx.Err())
	}
}

// results are those of a docket as `try --format jsonl` writes them.
func results(t testing.TB, s *store.Store, id int64) []string {
	t.Helper()
	var list []string
	for tried, err := range s.Results(t.Context(), id, 1) {
		must.Do(t, err)
		if tried.Trial == nil {
			list = append(list, "fault: "+tried.Fault)
			continue
		}
		list = append(list, line(t, &tried.Trial.Result))
	}
	return list
}

func line(t testing.TB, r *trial.Result) string {
	t.Helper()
	text := must.Get(json.Marshal(r))(t)
	return string(text)
}

// local are the results of a host of this process.
func local(t testing.TB, o *work.Opening, list []docket.Entry) []string {
	t.Helper()
	return localWith(t, o, list, nil)
}

// localWith is local with a casebook.
func localWith(t testing.TB, o *work.Opening, list []docket.Entry, book host.Casebook) []string {
	t.Helper()
	opened := must.Get(openHost(t.Context(), o))(t)
	defer func() { must.Do(t, opened.Close(context.WithoutCancel(t.Context()))) }()
	h := opened.WithCasebook(book)
	var lines []string
	for tried := range h.TryAll(t.Context(), func(yield func(docket.Entry, error) bool) {
		for i := range list {
			if !yield(list[i], nil) {
				return
			}
		}
	}, 0) {
		must.Do(t, tried.Err)
		tried.Trial.Result.Timings = nil
		lines = append(lines, line(t, &tried.Trial.Result))
	}
	return lines
}

// changed is a module with a section that changes its digest and nothing else.
func changed(t testing.TB, name, note string) []byte {
	t.Helper()
	modules := must.Get(bundle.FS())(t)
	wasm := must.Get(fs.ReadFile(modules, name+".wasm"))(t)
	return withSection(wasm, note)
}

func withSection(wasm []byte, note string) []byte {
	content := append([]byte{4}, "note"+note...)
	section := append([]byte{0, byte(len(content))}, content...)
	return append(bytes.Clone(wasm), section...)
}

// swapped adds a generation that has another module.
func swapped(t testing.TB, s *store.Store, from int64, module string, wasm []byte) store.Generation {
	t.Helper()
	g := must.Get(s.Generation(t.Context(), from))(t)
	next := store.Generation{Parent: from, Author: "test", Parts: store.Parts{Modules: map[string]string{}}}
	maps.Copy(next.Modules, g.Modules)
	next.Modules[module] = must.Get(s.AddBlob(t.Context(), wasm))(t)
	next = must.Get(s.AddGeneration(t.Context(), next))(t)
	return next
}

// renamed gives cases other ids, so that they are others.
func renamed(list []docket.Entry, prefix string) []docket.Entry {
	out := make([]docket.Entry, len(list))
	for i := range list {
		out[i] = list[i]
		out[i].Case.ID = prefix + list[i].Case.ID
		out[i].Members = nil
		if out[i].Case.Documents != nil {
			out[i].Case.Documents = append([]abi.Document(nil), out[i].Case.Documents...)
		}
	}
	return out
}

func short(s string) string { return s[:min(len(s), 400)] }

func equalLines(t testing.TB, got, want []string) {
	t.Helper()
	must.Equal(t, len(got), len(want), "results")
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("result %d:\n%s\ninstead of\n%s", i+1, short(got[i]), short(want[i]))
		}
	}
}

// keyFlag names the file with the key that workers sign with.
const keyFlag = "SHADOWCOURT_TEST_KEY"

// hooksFlag names the file with the webhooks that workers send to.
const hooksFlag = "SHADOWCOURT_TEST_WEBHOOKS"

// clockFlag gives a worker a clock of its own: up to an hour from the machine's, and as far again with each signal to jump.
const clockFlag = "SHADOWCOURT_TEST_CLOCK"

// jumpingClock is the machine's clock and an offset. Its times have no steady part: what is measured by it jumps.
type jumpingClock struct{ offset atomic.Int64 }

func (c *jumpingClock) now() time.Time {
	return time.Now().Round(0).Add(time.Duration(c.offset.Load()))
}

func (c *jumpingClock) jump() { c.offset.Store(mathrand.Int64N(int64(2*time.Hour)) - int64(time.Hour)) }

// runWorker is a worker in a process of its own.
func runWorker(database string) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	var key *record.Key
	if file := os.Getenv(keyFlag); file != "" {
		text, err := os.ReadFile(file)
		if err == nil {
			key, err = record.ParseKey(text)
		}
		if err != nil {
			return err
		}
	}
	now := time.Now
	if os.Getenv(clockFlag) != "" {
		clock := &jumpingClock{}
		now = clock.now
		clock.jump()
		jumps := make(chan os.Signal, 1)
		signal.Notify(jumps, syscall.SIGUSR1)
		go func() {
			for range jumps {
				clock.jump()
			}
		}()
	}
	for {
		err := work1(ctx, database, key, now)
		if ctx.Err() != nil {
			return nil
		}
		// As a service manager would: the database may be starting.
		_, _ = os.Stderr.WriteString("worker: " + err.Error() + "\n")
		time.Sleep(200 * time.Millisecond)
	}
}

func work1(ctx context.Context, database string, key *record.Key, now func() time.Time) error {
	s, err := store.Open(ctx, store.Config{Database: database, Now: now})
	if err != nil {
		return err
	}
	defer s.Close()
	config := work.Config{Store: s, Open: openHost, Now: now, Machine: "test", Workers: 1, Key: key, CaseTime: 5 * time.Second}
	if file := os.Getenv(hooksFlag); file != "" {
		var err error
		if config.Webhooks, err = work.ReadHooks(file, environment); err != nil {
			return err
		}
	}
	return work.New(config).Run(ctx, nil)
}
