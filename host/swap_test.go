package host_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/fstest"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/codec"
	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/internal/court/registry"
	"github.com/shadowcourt/shadowcourt/host/module"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/testkit/check"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
	"github.com/shadowcourt/shadowcourt/internal/testkit/wasmtest"
)

// stamped gives a module with one more custom section: the same code, so the same verdicts, under another digest.
func stamped(wasm []byte, stamp string) []byte {
	const name = "stamp"
	section := append([]byte{0, byte(1 + len(name) + len(stamp)), byte(len(name))}, name...)
	return append(slices.Clip(bytes.Clone(wasm)), append(section, stamp...)...)
}

// edition is a set of modules that belong together, and what they make of a case.
type edition struct {
	files   fstest.MapFS
	digests map[string]string // by persona, and of the clerk
	final   trial.Final
	path    []string
}

// editions are prebuilt sets: the shipped one, two in which the defense concedes and the judge acquits, each more or less sure, and one
// with the shipped code under other digests.
func editions(t *testing.T) []*edition {
	t.Helper()
	list := []*edition{{files: modules(t)}, {files: modules(t)}, {files: modules(t)}, {files: modules(t)}}
	for i, sure := range []float64{0.3, 0.4} {
		files := list[1+i].files
		files["abyss.wasm"] = &fstest.MapFile{Data: moduleWith(
			&abi.Artifact{DefenseBrief: &abi.DefenseBrief{PleaDeal: true, Confidence: sure}}, abi.FamilyDefend, abi.FamilyHearing)}
		files["specter.wasm"] = &fstest.MapFile{Data: moduleWith(
			&abi.Artifact{Verdict: &abi.Verdict{Decision: abi.Acquit, Confidence: sure, Reasoning: "as ever"}}, abi.FamilyVerdict)}
	}
	for name, file := range list[3].files {
		list[3].files[name] = &fstest.MapFile{Data: stamped(file.Data, "again")}
	}
	return list
}

// moduleWith is a small module that gives the same artifact at every node, and contests nothing.
func moduleWith(artifact *abi.Artifact, families ...abi.Family) []byte {
	node := codec.AppendNodeResponse(nil, &abi.NodeResponse{Artifact: artifact})
	contest := codec.AppendContestResponse(nil, &abi.ContestResponse{})
	number := func(n int) []byte { return append([]byte{wasmtest.I64Const}, wasmtest.Const(int32(n))[1:]...) }
	answer := func(export string, at, length int) wasmtest.Func {
		return wasmtest.Func{
			Export: export, Params: []byte{wasmtest.I32, wasmtest.I32}, Results: []byte{wasmtest.I64},
			Body: slices.Concat(number(at), number(32), []byte{wasmtest.I64Shl}, number(length), []byte{wasmtest.I64Or}),
		}
	}
	manifest := codec.AppendManifest(nil, &abi.Manifest{
		Name: "parrot", Version: "1.0.0", ABI: abi.Version, Calls: []abi.Call{abi.CallNode, abi.CallContest}, Families: families,
	})
	const data = 8 // where wasmtest puts it
	return wasmtest.Module{
		Memory: abi.ExportMemory, MemoryPages: 2, Data: append(node, contest...),
		Customs: []wasmtest.Custom{{Name: abi.ManifestSection, Payload: manifest}},
		Funcs: []wasmtest.Func{
			{Export: abi.ExportAlloc, Params: []byte{wasmtest.I32}, Results: []byte{wasmtest.I32}, Body: wasmtest.Const(4096)},
			answer(abi.ExportNode, data, len(node)), answer(abi.ExportContest, data+len(node), len(contest)),
		},
	}.Bytes()
}

// settle asks each edition for its digests and its verdict.
func settle(t *testing.T, h *host.Host, c abi.Case, list []*edition) {
	t.Helper()
	known := map[string]bool{}
	for _, e := range list {
		must.Do(t, h.Swap(context.Background(), e.files))
		r := try(t, h, c).Result
		e.digests, e.final, e.path = r.Modules, r.Final, r.Path
		if known[r.Modules["specter"]] || r.Final.Status == trial.Mistrial {
			t.Fatalf("two editions share a judge, or one fails: %+v, %+v", r.Modules, r.Error)
		}
		known[r.Modules["specter"]] = true
	}
	for i, e := range list[1:] {
		if same := i == 2; (e.final == list[0].final) != same || i == 1 && e.final == list[1].final {
			t.Fatalf("edition %d gives %+v, the shipped one %+v", i+1, e.final, list[0].final)
		}
	}
}

// Swaps under load: no trial fails, none mixes modules of two generations, and each names those that it used.
func TestAccept_PL1_SwapsUnderLoad(t *testing.T) {
	t.Parallel()
	trials, swaps, workers := 300, 20, 3
	if long() {
		trials, swaps = 10_000, 100
	}
	h := open(t, host.Config{})
	c := tour(t)["tour-plea"].Case
	list := editions(t)
	settle(t, h, c, list)
	// A swap is due after so many trials, and the trials go on until all are done, so that trials are under way whenever the modules change.
	interval := trials / (swaps + 1)
	due := make(chan struct{}, swaps)
	var begun atomic.Int64
	var swapped atomic.Bool
	var all sync.WaitGroup
	used := make([]map[int]int, workers)
	for w := range workers {
		used[w] = map[int]int{}
		all.Go(func() {
			for n := begun.Add(1); n <= int64(trials) || !swapped.Load(); n = begun.Add(1) {
				if n%int64(interval) == 0 && n <= int64(interval*swaps) {
					due <- struct{}{}
				}
				outcome, err := h.Try(context.Background(), c)
				if err != nil {
					t.Error(err)
				} else if which, err := madeBy(outcome, list); err != nil {
					t.Error(err)
				} else {
					used[w][which]++
				}
			}
		})
	}
	for i := range swaps {
		<-due
		must.Do(t, h.Swap(context.Background(), list[turn(i)].files))
	}
	swapped.Store(true)
	all.Wait()
	for i := range list {
		n := 0
		for w := range workers {
			n += used[w][i]
		}
		if n == 0 {
			t.Errorf("no trial was held by edition %d", i)
		}
	}
}

// turn is the edition of a swap: one after the other, the last one seldom, as it has the most to load.
func turn(i int) int {
	if i%20 == 19 {
		return 3
	}
	return i % 3
}

// madeBy finds the edition that held a trial, and compares all that the trial says with it.
func madeBy(outcome *trial.Trial, list []*edition) (int, error) {
	r := &outcome.Result
	for i, e := range list {
		if r.Modules["specter"] != e.digests["specter"] {
			continue
		}
		if !maps.Equal(r.Modules, e.digests) {
			return 0, fmt.Errorf("generations are mixed: %v, want %v", r.Modules, e.digests)
		}
		if r.Final != e.final || !slices.Equal(r.Path, e.path) {
			return 0, fmt.Errorf("edition %d gives %+v by %v, want %+v by %v", i, r.Final, r.Path, e.final, e.path)
		}
		for _, call := range outcome.Passes[len(outcome.Passes)-1].Calls {
			player := call.Persona
			if player == "" {
				player = "clerk"
			}
			if call.Module != e.digests[player] {
				return 0, fmt.Errorf("%s was played by %s, the result names %s", player, call.Module, e.digests[player])
			}
		}
		return i, nil
	}
	return 0, fmt.Errorf("a judge of no edition: %v", r.Modules)
}

// Whatever is wrong with a module that is to be swapped in, it is rejected with the reason, all faults at once, and the incumbents go on.
func TestAccept_PL2_ABadModuleAtASwapLeavesTheIncumbents(t *testing.T) {
	t.Parallel()
	h := open(t, host.Config{Pipeline: shipped(t)})
	before := h.Modules(t.Context())
	want := try(t, h, dispute()).Result
	manifest := func(edits ...string) []byte {
		text := puppetManifest
		for i := 0; i+1 < len(edits); i += 2 {
			text = strings.Replace(text, edits[i], edits[i+1], 1)
		}
		return must.Get(module.Annotate(puppet, "puppet.yaml", []byte(text)))(t)
	}
	specter := modules(t)["specter.wasm"].Data
	for name, test := range map[string]struct {
		wasm []byte
		code registry.FaultCode
		says string
	}{
		"not there":           {nil, registry.FaultMissing, "specter"},
		"not wasm":            {[]byte("not wasm at all"), "not_wasm", "specter"},
		"cut off":             {specter[:len(specter)/2], "not_wasm", "specter"},
		"no manifest":         {judge(wasmtest.Module{}, nil, wasmtest.I64Const, 0).Bytes(), registry.FaultNoManifest, "plugin annotate"},
		"an invalid manifest": {judge(wasmtest.Module{}, []byte("text"), wasmtest.I64Const, 0).Bytes(), registry.FaultManifest, "manifest"},
		"a later version":     {manifest(`abi: "1.0"`, `abi: "1.99"`), registry.FaultABIVersion, "1.99"},
		"another ABI version": {manifest(`abi: "1.0"`, `abi: "2.0"`), registry.FaultABIVersion, "2.0"},
		"another family":      {manifest("families: [indict, discover, defend, hearing, verdict]", "families: [indict]"), registry.FaultFamily, "verdict"},
		"a missing call":      {manifest("calls: [node, contest]", "calls: [node, contest, judge]", "criteria: []", "criteria: [c]"), registry.FaultCall, "judge"},
		"a capability":        {manifest("capabilities: []", "capabilities: [recall]"), registry.FaultCapability, "`grants: [experiment, recall]` at the persona specter, test.yaml:"},
		"too much memory":     {manifest("capabilities: []", "capabilities: []\nlimits: {memory_bytes: 1000000000000, output_bytes: 1, wall_clock: 1, fuel: 1}"), registry.FaultLimits, "memory_bytes"},
		"no allocator":        {judge(wasmtest.Module{}, judgeManifest, wasmtest.I64Const, 0).Bytes(), "missing_export", abi.ExportAlloc},
		"a forbidden import": {
			judge(wasmtest.Module{Imports: []wasmtest.Import{{Module: "network", Name: "open"}}}, judgeManifest, wasmtest.I64Const, 0).Bytes(),
			"forbidden_import", "network.open",
		},
		"an invalid body":     {able([]byte{wasmtest.I32Add}, nil), "invalid", "specter"},
		"a trap at its start": {able(nil, []byte{wasmtest.Unreachable}), "start", "specter"},
		"another side's code": {stamped(modules(t)["challenger.wasm"].Data, "another"), registry.FaultFamily, "verdict"},
		"more than a module":  {bytes.Repeat([]byte{0}, abi.DefaultModuleBytes+1), "", "larger than"},
	} {
		t.Run(name, func(t *testing.T) {
			files := modules(t)
			if delete(files, "specter.wasm"); test.wasm != nil {
				files["specter.wasm"] = &fstest.MapFile{Data: test.wasm}
			}
			files["abyss.wasm"] = &fstest.MapFile{Data: stamped(files["abyss.wasm"].Data, "a good one in bad company")}
			err := h.Swap(context.Background(), files)
			if err == nil || !strings.Contains(err.Error(), test.says) {
				t.Fatalf("%v, want a word of %q", err, test.says)
			}
			var rejected *host.RejectedError
			if test.code != "" && (!errors.As(err, &rejected) || !slices.ContainsFunc(rejected.Faults, func(f host.Fault) bool { return f.Code == test.code && f.Module == "specter" })) {
				t.Errorf("%v, want %s", err, test.code)
			}
			if now := h.Modules(t.Context()); !maps.Equal(now, before) {
				t.Errorf("the modules in force have changed: %v", now)
			}
			if got := try(t, h, dispute()).Result; got.Final != want.Final || !maps.Equal(got.Modules, want.Modules) {
				t.Errorf("the incumbents give %+v, before %+v", got.Final, want.Final)
			}
		})
	}
}

// judgeManifest promises what a pipeline wants of its judge.
var judgeManifest = codec.AppendManifest(nil, &abi.Manifest{
	Name: "judge", Version: "1.0.0", ABI: abi.Version, Calls: []abi.Call{abi.CallNode}, Families: []abi.Family{abi.FamilyVerdict},
})

// judge gives a module a memory, a node call, and a manifest, unless that is nil.
func judge(m wasmtest.Module, manifest []byte, body ...byte) wasmtest.Module {
	m.Memory, m.MemoryPages = abi.ExportMemory, 1
	m.Funcs = append(m.Funcs, wasmtest.Func{
		Export: abi.ExportNode, Params: []byte{wasmtest.I32, wasmtest.I32}, Results: []byte{wasmtest.I64}, Body: body,
	})
	if manifest != nil {
		m.Customs = append(m.Customs, wasmtest.Custom{Name: abi.ManifestSection, Payload: manifest})
	}
	return m
}

// doing is a judge whose node call does that.
func doing(body ...byte) []byte {
	m := judge(wasmtest.Module{}, judgeManifest, body...)
	m.Funcs = append(m.Funcs, wasmtest.Func{
		Export: abi.ExportAlloc, Params: []byte{wasmtest.I32}, Results: []byte{wasmtest.I32}, Body: wasmtest.Const(1024),
	})
	return m.Bytes()
}

// able is a judge whose one function and whose start are given; both are right when nil.
func able(body, start []byte) []byte {
	m := judge(wasmtest.Module{}, judgeManifest, wasmtest.I64Const, 0)
	m.Funcs = append(m.Funcs, wasmtest.Func{
		Export: abi.ExportAlloc, Params: []byte{wasmtest.I32}, Results: []byte{wasmtest.I32}, Body: append(wasmtest.Const(1024), body...),
	})
	if start != nil {
		m.Funcs = append(m.Funcs, wasmtest.Func{Export: "_initialize", Body: start})
	}
	return m.Bytes()
}

const puppetManifest = `
name: impostor
version: 2.0.0
abi: "1.0"
calls: [node, contest]
families: [indict, discover, defend, hearing, verdict]
edges: []
criteria: []
capabilities: []
`

// rejection opens a host that must be rejected, and says why.
func rejection(t *testing.T, config host.Config) error {
	t.Helper()
	config.CacheDir = cacheDir
	h, err := host.Open(context.Background(), config)
	if err == nil {
		_ = h.Close(context.Background())
		t.Fatal("it was opened")
	}
	return err
}

func TestAccept_CT5_SidesMustDifferInCode(t *testing.T) {
	t.Parallel()
	again := must.Get(module.Annotate(puppet, "impostor.yaml", []byte(strings.Replace(puppetManifest, "2.0.0", "2.0.1", 1))))(t)
	for name, second := range map[string][]byte{
		"one module under two names":              puppet,
		"the same code with another manifest":     again,
		"the same code behind one more of itself": append([]byte(nil), puppet...),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files := modules(t)
			files["impostor.wasm"] = &fstest.MapFile{Data: second}
			def := shipped(t, "module: challenger", "module: puppet", "module: abyss", "module: impostor")
			err := rejection(t, host.Config{Pipeline: def, Modules: files})
			var rejected *host.RejectedError
			if !errors.As(err, &rejected) || !rejected.Has("sides_not_apart") {
				t.Fatalf("rejected for another reason: %v", err)
			}
			if !strings.Contains(err.Error(), "challenger") || !strings.Contains(err.Error(), "abyss") {
				t.Errorf("the message does not name both: %v", err)
			}
		})
	}
}

func TestAccept_CT5_ASwapMustKeepTheSidesApart(t *testing.T) {
	t.Parallel()
	h := open(t, host.Config{})
	before := try(t, h, dispute())
	files := modules(t)
	files["abyss.wasm"] = &fstest.MapFile{Data: puppet}
	files["bulwark.wasm"] = &fstest.MapFile{Data: puppet}
	err := h.Swap(context.Background(), files)
	var rejected *host.RejectedError
	if !errors.As(err, &rejected) || !rejected.Has("sides_not_apart") {
		t.Fatalf("the swap was not rejected for its sides: %v", err)
	}
	after := try(t, h, dispute())
	check.Equal(t, after.Result.Modules["abyss"], before.Result.Modules["abyss"], "the rejected swap changed abyss to")
}
