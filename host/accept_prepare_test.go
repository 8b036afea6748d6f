package host_test

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/codec"
	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/module"
	"github.com/shadowcourt/shadowcourt/host/record"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
	"github.com/shadowcourt/shadowcourt/internal/testkit/wasmtest"
)

func profileOf(t testing.TB, path ...string) *abi.Profile {
	t.Helper()
	return must.Get(module.LoadProfile(filepath.Join(append([]string{".."}, path...)...)))(t)
}

// someCases are some of an example docket, spread over it; all in the long run.
func someCases(t testing.TB, name string, n int) []abi.Case {
	t.Helper()
	entries := exampleDocket(t, name)
	step := max(1, len(entries)/n)
	if long() {
		step = 1
	}
	var cases []abi.Case
	for i := 0; i < len(entries); i += step {
		cases = append(cases, entries[i].Case)
	}
	return cases
}

// spentApart gives lines without fuel, and the fuel of all.
func spentApart(t *testing.T, h *host.Host, cases []abi.Case, workers int) (lines []byte, fuel uint64) {
	t.Helper()
	lines = linesOf(t, h, cases, workers, func(r *trial.Result) {
		if r.Fuel != nil {
			fuel += *r.Fuel
		}
		r.Fuel = nil
	})
	return lines, fuel
}

// TestAccept_PR1_ResultsAreTheSamePreparedOrNot: the same bytes, and the same fuel at any number of workers.
func TestAccept_PR1_ResultsAreTheSamePreparedOrNot(t *testing.T) {
	t.Parallel()
	corroboration := must.Get(buildGuest("../examples/judges/corroboration"))(t)
	extism := modules(t)
	extism["corroboration.wasm"] = &fstest.MapFile{Data: corroboration}
	goTest, fitted := profileOf(t, "pipelines", "profiles", "go-test.yaml"), profileOf(t, "examples", "dockets", "demo.yaml")
	var all []abi.Case
	dockets, err := filepath.Glob(filepath.Join("..", "examples", "dockets", "*.jsonl"))
	if err != nil || len(dockets) == 0 {
		t.Fatal(err)
	}
	for _, path := range dockets {
		all = append(all, someCases(t, filepath.Base(path), 4)...)
	}
	for name, c := range map[string]struct {
		config host.Config
		cases  []abi.Case
	}{
		"the shipped profile":        {host.Config{Profile: goTest}, all},
		"a fitted profile":           {host.Config{Profile: fitted}, all},
		"a Light path":               {host.Config{Profile: goTest, LightPath: lightPath(t)}, someCases(t, "go-test-1.jsonl", 2)},
		"a small limit of requests":  {host.Config{Profile: fitted, Limits: host.Limits{InputBytes: 7000}}, someCases(t, "go-test-1.jsonl", 12)},
		"a judge of another binding": {host.Config{Profile: fitted, Pipeline: shipped(t, "module: specter", "module: corroboration"), Modules: extism}, someCases(t, "go-test-1.jsonl", 4)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			prepared := open(t, c.config)
			c.config.Unprepared = true
			want, whole := spentApart(t, open(t, c.config), c.cases, 4)
			var first uint64
			for _, workers := range []int{1, 3, 16} {
				got, fuel := spentApart(t, prepared, c.cases, workers)
				if !bytes.Equal(got, want) {
					t.Errorf("with %d workers: %s", workers, firstDifference(got, want))
				}
				if first == 0 {
					first = fuel
				}
				if fuel != first {
					t.Errorf("%d units of fuel with one worker, %d with %d", first, fuel, workers)
				}
			}
			if first == whole && c.config.Limits.InputBytes == 0 {
				t.Errorf("%d units of fuel, prepared and not: nothing was prepared", first)
			}
		})
	}
}

// firstDifference are the first lines that differ.
func firstDifference(got, want []byte) string {
	g, w := bytes.Split(got, []byte{'\n'}), bytes.Split(want, []byte{'\n'})
	for i := range min(len(g), len(w)) {
		if !bytes.Equal(g[i], w[i]) {
			return fmt.Sprintf("line %d\n%.2000s\nnot\n%.2000s", i+1, g[i], w[i])
		}
	}
	return fmt.Sprintf("%d lines, not %d", len(g), len(w))
}

// TestAccept_PR2_UnderSwapAndCancel: while modules are swapped and trials cancelled, each trial that ends is what it is alone.
func TestAccept_PR2_UnderSwapAndCancel(t *testing.T) {
	t.Parallel()
	cases := slices.Concat(someCases(t, "go-test-1.jsonl", 1)[:1], someCases(t, "go-fit-1.jsonl", 4)[:4])
	files := []fstest.MapFS{modules(t), modules(t)}
	for name, file := range files[1] {
		files[1][name] = &fstest.MapFile{Data: stamped(file.Data, "again")}
	}
	config := host.Config{Profile: profileOf(t, "examples", "dockets", "demo.yaml"), LightPath: lightPath(t), Modules: files[0]}
	h := open(t, config)
	config.Unprepared = true
	plain := open(t, config)
	final := func(h *host.Host, c abi.Case) (trial.Final, []string, error) {
		tried, err := h.Try(t.Context(), c)
		if err != nil {
			return trial.Final{}, nil, err
		}
		return tried.Result.Final, tried.Result.Path, nil
	}
	want := map[string]string{}
	for _, c := range cases {
		f, path, err := final(plain, c)
		must.Do(t, err)
		want[c.ID] = fmt.Sprint(f, path)
	}
	stop := make(chan struct{})
	var swaps, workers sync.WaitGroup
	swaps.Go(func() {
		for i := 1; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			if err := h.Swap(t.Context(), files[i%2]); err != nil {
				t.Error(err)
				return
			}
		}
	})
	for worker := range 16 {
		workers.Go(func() {
			for i := range 4 {
				c := cases[(worker+i)%len(cases)]
				ctx, cancel := context.WithCancel(t.Context())
				if (worker+i)%4 == 0 {
					cancel()
				}
				tried, err := h.Try(ctx, c)
				cancelled := ctx.Err() != nil
				cancel()
				switch {
				case cancelled:
				case err != nil:
					t.Error(err)
				case fmt.Sprint(tried.Result.Final, tried.Result.Path) != want[c.ID]:
					t.Errorf("%s: %v, want %s", c.ID, tried.Result.Final, want[c.ID])
				}
			}
		})
	}
	workers.Wait()
	close(stop)
	swaps.Wait()
}

// TestAccept_PR3_APreparationThatFailsIsAMistrial: it names the module, the node and the export, and the next case is tried as ever.
func TestAccept_PR3_APreparationThatFailsIsAMistrial(t *testing.T) {
	t.Parallel()
	failure := codec.AppendPrepareResponse(nil, &abi.PrepareResponse{Failure: &abi.Failure{Code: "too_large", Message: "I know no such profile"}})
	for name, c := range map[string]struct {
		body    []byte
		data    []byte
		cause   trial.Cause
		message string
	}{
		"trap":    {[]byte{wasmtest.Unreachable}, nil, trial.CauseTrap, "shadowcourt_prepare: trap: unreachable"},
		"spin":    {[]byte{wasmtest.Loop, wasmtest.Void, wasmtest.Br, 0, wasmtest.End, wasmtest.I64Const, 0}, nil, trial.CauseFuel, "shadowcourt_prepare: fuel_exhausted"},
		"nothing": {[]byte{wasmtest.I64Const, 0}, nil, trial.CauseInvalidArtifact, "shadowcourt_prepare: invalid_response"},
		"failure": {
			wasmtest.Join(wasmtest.Const(8), []byte{wasmtest.I64ExtendU, wasmtest.I64Const, 32, wasmtest.I64Shl, wasmtest.I64Const, byte(len(failure) & 0x3f), wasmtest.I64Or}),
			failure, trial.CauseFailure, "shadowcourt_prepare: failed: the module gives up: too_large: I know no such profile",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files := modules(t)
			files["specter.wasm"] = &fstest.MapFile{Data: unpreparable(c.body, c.data)}
			h := open(t, host.Config{Modules: files, Profile: profileOf(t, "examples", "dockets", "demo.yaml"), Limits: host.Limits{Fuel: 100_000_000}})
			for range 2 {
				r := try(t, h, dispute()).Result
				f := r.Error
				if r.Final.Status != trial.Mistrial || r.Final.Cause != c.cause || f == nil || f.ModuleName != "specter" || f.Node != "verdict" || !strings.HasPrefix(f.Detail, c.message) ||
					(len(f.Problems) > 0) != (c.cause == trial.CauseInvalidArtifact) {
					t.Errorf("%+v, %+v", r.Final, f)
				}
			}
		})
	}
}

// unpreparable is a judge whose preparation does what body says, with data at 8.
func unpreparable(body, data []byte) []byte {
	manifest := codec.AppendManifest(nil, &abi.Manifest{
		Name: "unpreparable", Version: "1.0.0", ABI: abi.Version, Calls: []abi.Call{abi.CallNode}, Families: []abi.Family{abi.FamilyVerdict},
	})
	two := []byte{wasmtest.I32, wasmtest.I32}
	return wasmtest.Module{
		Memory: abi.ExportMemory, MemoryPages: 2, Data: data,
		Customs: []wasmtest.Custom{{Name: abi.ManifestSection, Payload: manifest}},
		Funcs: []wasmtest.Func{
			{Export: abi.ExportAlloc, Params: two[:1], Results: two[:1], Body: wasmtest.Const(4096)},
			{Export: abi.ExportNode, Params: two, Results: []byte{wasmtest.I64}, Body: []byte{wasmtest.Unreachable}},
			{Export: abi.ExportPrepare, Params: two, Results: []byte{wasmtest.I64}, Body: body},
		},
	}.Bytes()
}

// TestAccept_PR4_RecordsMadeEitherWayReplay: to the same bytes, fuel included, and they hold the same requests and answers.
func TestAccept_PR4_RecordsMadeEitherWayReplay(t *testing.T) {
	t.Parallel()
	entries := slices.Concat(exampleDocket(t, "tour.jsonl")[:4], exampleDocket(t, "go-test-1.jsonl")[:2], []docket.Entry{{Case: dispute()}})
	config := host.Config{LightPath: lightPath(t), Profile: profileOf(t, "examples", "dockets", "demo.yaml")}
	var records [2][]*record.Trial
	for i, unprepared := range []bool{false, true} {
		config.Unprepared = unprepared
		store, data := recordTrials(t, config, 2, entries...)
		replayAll(t, store, data)
		header, list := trials(t, data)
		if header.Prepared == unprepared {
			t.Errorf("the record says prepared: %v", header.Prepared)
		}
		records[i] = list
	}
	for i, was := range records[0] {
		prepared, whole := was.Calls(), records[1][i].Calls()
		if len(prepared) != len(whole) || len(prepared) == 0 {
			t.Fatalf("%s: %d and %d calls", was.ID, len(prepared), len(whole))
		}
		for j := range prepared {
			if prepared[j].Input != whole[j].Input || prepared[j].Output != whole[j].Output {
				t.Errorf("%s: call %d differs", was.ID, j)
			}
		}
	}
}
