package host_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/module"
	"github.com/shadowcourt/shadowcourt/host/pipeline"
	"github.com/shadowcourt/shadowcourt/host/record"
	"github.com/shadowcourt/shadowcourt/host/replay"
	"github.com/shadowcourt/shadowcourt/internal/testkit/check"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
	"github.com/shadowcourt/shadowcourt/internal/testkit/tier"
	"github.com/shadowcourt/shadowcourt/internal/testkit/wasmtest"
	"github.com/shadowcourt/shadowcourt/pipelines"
)

// recordAudits tries cases, audits the verdicts and gives store, record and the lines of the results.
func recordAudits(t testing.TB, config host.Config, auditor host.AuditConfig, workers int, entries ...docket.Entry) (*record.Store, []byte, []string) {
	t.Helper()
	config.Store = record.OpenStore(filepath.Join(t.TempDir(), "store"))
	auditor.Store = config.Store
	a := openAuditor(t, auditor)
	var lines []string
	_, data := recordBy(t, config, a, func(h *host.Host, write func(*record.Trial)) {
		for tried := range a.AuditTrials(t.Context(), h.TryAll(t.Context(), seq(entries), workers), h.Pipeline().Pipeline, workers) {
			must.Do(t, tried.Err)
			write(tried.Record)
			tried.Trial.Result.Timings = nil
			line := must.Get(tried.Trial.Result.MarshalJSON())(t)
			lines = append(lines, string(line))
		}
	})
	return config.Store, data, lines
}

func TestAccept_RE1_AuditsOfAllVerdictsAreReplayedToTheSameBytes(t *testing.T) {
	t.Parallel()
	for _, contents := range []record.Contents{record.ContentsReplay, record.ContentsBytes} {
		t.Run(string(contents), func(t *testing.T) {
			t.Parallel()
			entries := exampleDocket(t, "tour.jsonl")
			store, data, lines := recordAudits(t, host.Config{Record: contents, LightPath: lightPath(t)}, host.AuditConfig{}, 2, entries...)
			_, list := trials(t, data)
			audits := 0
			for i, outcome := range replayAll(t, store, data) {
				check.Equal(t, string(list[i].Line()), lines[i], "the record has the line", "and given")
				if (outcome.Result.Audit != nil) != (outcome.Result.Verdict != nil) || (list[i].Audit != nil) != (outcome.Result.Audit != nil) {
					t.Errorf("%s: audited, recorded, and with a verdict: %t, %t, %t", list[i].ID, outcome.Result.Audit != nil, list[i].Audit != nil, outcome.Result.Verdict != nil)
				}
				if list[i].Audit == nil {
					continue
				}
				audits++
				if calls := list[i].Audit.Calls(); len(calls) < 5 || calls[0].Node != "collect" || calls[0].Persona != "tracer" || calls[4].Node != "judge" || calls[4].Persona != "warden" {
					t.Errorf("%s: calls %+v", list[i].ID, calls)
				}
			}
			if audits < 3 {
				t.Errorf("%d audits", audits)
			}
		})
	}
}

// What is recorded of branches that run side by side does not depend on which of them comes first, nor on the workers.
func TestAccept_RE1_NoOrderOfBranchesChangesAByteOfARecord(t *testing.T) {
	t.Parallel()
	entries := exampleDocket(t, "tour.jsonl")
	_, want, _ := recordAudits(t, host.Config{}, benched(t, threeApart), 1, entries...)
	_, list := trials(t, want)
	if !slices.ContainsFunc(list[0].Events, func(e record.Event) bool { return e.Merge != "" }) {
		t.Error("no states")
	}
	var mu sync.Mutex
	rnd := rand.New(rand.NewPCG(3, 4))
	orders := map[string]bool{}
	for workers := range 3 {
		config := benched(t, threeApart)
		config.Observe = func(host.CallRecord) {
			mu.Lock()
			delay := time.Duration(rnd.IntN(1000)) * time.Microsecond
			mu.Unlock()
			time.Sleep(delay)
		}
		config = host.Arranged(config, func(n int) []int {
			mu.Lock()
			defer mu.Unlock()
			order := rnd.Perm(n)
			orders[fmt.Sprint(order)] = true
			return order
		})
		if _, got, _ := recordAudits(t, host.Config{}, config, workers+1, entries...); !bytes.Equal(got, want) {
			t.Errorf("%d workers, and branches in another order: another record", workers+1)
		}
	}
	if len(orders) < 5 {
		t.Errorf("orders %v", orders)
	}
}

// hasty is the shipped audit with little time.
func hasty(t testing.TB) *pipeline.Definition {
	t.Helper()
	text := must.Get(fs.ReadFile(pipelines.FS, pipelines.Audit))(t)
	return must.Get(pipeline.Parse("hasty.yaml", []byte(strings.Replace(string(text), "ttl: 10m", "ttl: 3s", 1))))(t)
}

// Audits in which branches fail are replayed, whatever the cause; those that the clock ended without waiting for it.
func TestAccept_RE1_AuditsThatFailInPartAreReplayedWhateverTheCause(t *testing.T) {
	t.Parallel()
	slow := host.Limits{Fuel: 1 << 60, WallClock: time.Hour}
	for cause, c := range map[string]struct {
		behave   string
		limits   host.Limits
		pipeline *pipeline.Definition
	}{
		"module_trap":      {behave: "trap"},
		"module_failure":   {behave: "give up"},
		"invalid_artifact": {behave: "too high"},
		"fuel_exhausted":   {behave: "loop", limits: host.Limits{Fuel: 200_000_000}},
		"wall_clock":       {behave: "loop", limits: host.Limits{Fuel: 1 << 60, WallClock: time.Second}},
		"ttl_exceeded":     {behave: "loop", limits: slow, pipeline: hasty(t)},
	} {
		if cause != "module_trap" && cause != "wall_clock" && !tier.Whole("host/record", "host/replay", "host/audit") {
			continue
		}
		t.Run(cause, func(t *testing.T) {
			t.Parallel()
			config := benched(t, `
judges:
  broken: {module: bench, with: {score: 5, behave: `+c.behave+`}}
  whole: {module: bench, with: {score: 4, confidence: 0.8}}
criteria:
  - {id: first, category: x, judges: [broken, whole], lead: broken}
`)
			config.Pipeline, config.Limits = c.pipeline, c.limits
			if cause == "wall_clock" {
				config = host.WithAuditCallClock(config, wasmtest.Ticking(time.Millisecond))
			}
			store, data, lines := recordAudits(t, host.Config{Record: record.ContentsBytes}, config, 1, entryOf(dispute())...)
			got := replayAll(t, store, data)[0].Result.Audit
			if got == nil || len(got.Errors) != 1 || got.Errors[0].Cause != cause || got.Errors[0].Persona != "broken" {
				t.Errorf("%+v", got)
			}
			check.Contains(t, lines[0], `"cause":"`+cause+`"`)
		})
	}
}

// The judges that were apart are asked again, at the same node: both calls of each find their own in the record.
func TestAccept_RE1_ASecondRoundThatTheClockEndsIsReplayed(t *testing.T) {
	t.Parallel()
	config := benched(t, strings.Replace(threeApart, "again: 2", "again: 2, behave: late", 1))
	config.Pipeline, config.Limits = hasty(t), host.Limits{Fuel: 1 << 60, WallClock: time.Hour}
	store, data, _ := recordAudits(t, host.Config{}, config, 1, entryOf(dispute())...)
	audit := replayAll(t, store, data)[0].Result.Audit
	if len(audit.Errors) != 1 || audit.Errors[0].Pass != 2 || audit.Errors[0].Persona != "low" || audit.Errors[0].Cause != "ttl_exceeded" {
		t.Errorf("%+v", audit.Errors)
	}
	if dissent := audit.Results[0].Dissent; dissent == nil {
		t.Errorf("%+v", audit.Results[0])
	}
}

// An audit that goes another way is told as one, by call, node, judge and field.
func TestAccept_RE1_TheFirstDivergenceOfAnAuditIsToldByField(t *testing.T) {
	t.Parallel()
	store, data, _ := recordAudits(t, host.Config{Record: record.ContentsBytes}, benched(t, threeApart), 1, entryOf(dispute())...)
	header, list := trials(t, data)
	other := *header
	other.Audit = &record.AuditHeader{Pipeline: header.Audit.Pipeline, Limits: header.Audit.Limits, Rubric: strings.Replace(header.Audit.Rubric, "confidence: 0.7", "confidence: 0.75", 1)}
	d := divergence(t, &other, store, list[0])
	if d == nil || !d.Audit || d.What != "input" || d.Call != 3 || d.Where != "judge call of high (module bench) at judge" {
		t.Fatalf("%+v", d)
	}
	if want := (record.FieldDifference{Path: "params[1].number", Was: "0.7", Is: "0.75"}); len(d.Fields) != 1 || d.Fields[0] != want {
		t.Errorf("%+v", d.Fields)
	}
	// Who leads is the host's own affair: no call differs, but what the state becomes.
	other.Audit.Rubric = strings.Replace(header.Audit.Rubric, "judges: [low, high]", "judges: [low, high]\n    lead: low", 1)
	d = divergence(t, &other, store, list[0])
	if d == nil || !d.Audit || d.Where != "the state after a merge" {
		t.Errorf("%+v", d)
	}
	was := *list[0].Audit
	was.Court = "another"
	changed := *list[0]
	changed.Audit = &was
	if d = divergence(t, header, store, &changed); d == nil || !d.Audit {
		t.Errorf("%+v", d)
	}
	changed.Audit = nil
	if d, err := record.Compare(list[0], &changed); err != nil || d == nil || !d.Audit || d.Was != "an audit" || d.Is != "no audit" {
		t.Errorf("%+v, %v", d, err)
	}
}

func divergence(t testing.TB, header *record.Header, store *record.Store, was *record.Trial) *record.Difference {
	t.Helper()
	r := must.Get(replay.Open(header, replay.Config{Store: store, CacheDir: cacheDir}))(t)
	defer func() { _ = r.Close(context.Background()) }()
	_, is, err := r.Replay(t.Context(), was, nil)
	must.Do(t, err)
	return must.Get(record.Compare(was, is))(t)
}

// The audit's modules are a generation of their own, found in the store and missed by name.
func TestAccept_RE1_AnAuditIsReplayedWithTheModulesThatItHad(t *testing.T) {
	t.Parallel()
	_, data, _ := recordAudits(t, host.Config{}, benched(t, threeApart), 2, exampleDocket(t, "tour.jsonl")...)
	header, list := trials(t, data)
	audited := slices.DeleteFunc(list, func(one *record.Trial) bool { return one.Audit == nil })
	if last := audited[len(audited)-1]; last.Generation != 1 || last.Audit.Generation != audited[0].Audit.Generation || last.Audit.Generation < 2 {
		t.Errorf("generations %d and %d", last.Generation, last.Audit.Generation)
	}
	r := must.Get(replay.Open(header, replay.Config{CacheDir: cacheDir}))(t)
	defer func() { _ = r.Close(context.Background()) }()
	var missing *replay.MissingModulesError
	if _, _, err := r.Replay(t.Context(), audited[0], nil); !errors.As(err, &missing) || len(missing.Modules) != 1 || missing.Modules[0].Name != "bench" {
		t.Errorf("%v", err)
	}
}

// Judges are swapped between two audits: the court's generation goes on, and each audit is replayed with its own.
func TestAccept_RE1_AuditsBeforeAndAfterASwapAreReplayedWithTheirOwnModules(t *testing.T) {
	t.Parallel()
	store := record.OpenStore(filepath.Join(t.TempDir(), "store"))
	config := benched(t, threeApart)
	config.Store = store
	files, _ := config.Modules.(fstest.MapFS)
	a := openAuditor(t, config)
	look := host.AuditLooker(a, host.Watch{Modules: files})
	_, data := recordBy(t, host.Config{Store: store}, a, func(h *host.Host, write func(*record.Trial)) {
		for i := range 4 {
			c := dispute()
			c.ID = fmt.Sprint("dispute-", i)
			if i == 2 {
				files["bench.wasm"] = &fstest.MapFile{Data: annotatedBench(t, files["bench.wasm"].Data)}
				look(t.Context())
				look(t.Context())
			}
			for tried := range a.AuditTrials(t.Context(), h.TryAll(t.Context(), seq(entryOf(c)), 1), "court", 1) {
				write(tried.Record)
			}
		}
	})
	_, list := trials(t, data)
	for i, want := range []int{2, 2, 5, 5} {
		if list[i].Generation != 1 || list[i].Audit.Generation != want {
			t.Errorf("trial %d: generations %d and %d, want 1 and %d", i, list[i].Generation, list[i].Audit.Generation, want)
		}
	}
	if slices.Equal(list[1].Audit.Modules, list[2].Audit.Modules) {
		t.Error("the judges were not swapped")
	}
	replayAll(t, store, data)
}

// annotatedBench is the bench in another version.
func annotatedBench(t testing.TB, wasm []byte) []byte {
	t.Helper()
	manifest := must.Get(os.ReadFile(filepath.Join("testdata", "bench", "manifest.yaml")))(t)
	return must.Get(module.Annotate(wasm, "bench", bytes.Replace(manifest, []byte("version: "), []byte("version: 9."), 1)))(t)
}

// A record of digests holds nothing that was said in an audit, and is replayed with the cases.
func TestAccept_RE1_AnAuditIsReplayedFromDigestsAlone(t *testing.T) {
	t.Parallel()
	store, data, _ := recordAudits(t, host.Config{Record: record.ContentsDigests}, benched(t, threeApart), 1, entryOf(dispute())...)
	header, list := trials(t, data)
	if a := list[0].Audit; a == nil || a.Result != nil || len(list[0].Contents) > 0 || list[0].Line() != nil {
		t.Fatalf("%+v", list[0])
	}
	for _, c := range list[0].Audit.Calls() {
		for _, e := range c.Edges {
			check.Equal(t, e.Why, "", e)
		}
	}
	r := must.Get(replay.Open(header, replay.Config{Store: store, CacheDir: cacheDir}))(t)
	defer func() { _ = r.Close(context.Background()) }()
	subject := dispute()
	_, is, err := r.Replay(t.Context(), list[0], &subject)
	must.Do(t, err)
	if d, err := record.Compare(list[0], is); err != nil || d != nil {
		t.Errorf("%+v, %v", d, err)
	}
}

// A trial whose audit was interrupted has the error of its context, in its place among the others: nothing is left out.
func TestAuditsThatAreInterruptedLeaveNoGap(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var mu sync.Mutex
	audited := 0
	a := openAuditor(t, host.AuditConfig{Observe: func(r host.CallRecord) {
		mu.Lock()
		defer mu.Unlock()
		if r.Call == abi.CallJudge {
			if audited++; audited == 30 {
				cancel()
			}
		}
	}})
	h := open(t, host.Config{})
	var entries []docket.Entry
	for i := range 60 {
		c := dispute()
		c.ID = fmt.Sprint("dispute-", i)
		entries = append(entries, docket.Entry{Case: c})
	}
	n, interrupted := 0, 0
	for tried := range a.AuditTrials(ctx, h.TryAll(ctx, seq(entries), 4), "court", 4) {
		check.Equal(t, tried.Entry.Case.ID, fmt.Sprint("dispute-", n), n)
		n++
		switch {
		case errors.Is(tried.Err, context.Canceled):
			interrupted++
		case tried.Err != nil || tried.Trial.Result.Audit == nil:
			t.Errorf("%s: %v", tried.Entry.Case.ID, tried.Err)
		}
	}
	if interrupted == 0 || interrupted == n {
		t.Errorf("%d were given, %d of them interrupted", n, interrupted)
	}
}
