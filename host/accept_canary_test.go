package host_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/pipeline"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/render"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
	"github.com/shadowcourt/shadowcourt/internal/testkit/wasmtest"
	"github.com/shadowcourt/shadowcourt/pipelines"
)

// docketOf are n cases: every third one ends otherwise with the puppet on the bench, and of every seventh one Light is sure.
func docketOf(t *testing.T, n int) []abi.Case {
	t.Helper()
	cases := make([]abi.Case, n)
	for i := range cases {
		if cases[i] = dispute(); i%3 == 0 {
			cases[i] = tour(t)["tour-rounds"].Case
		}
		cases[i].ID = fmt.Sprintf("case-%03d", i)
		if i%7 == 0 {
			cases[i].Light = &abi.LightAnswer{Classification: cases[i].Labels[0], Confidence: 0.99, Reasoning: "sure"}
		}
	}
	return cases
}

// withCandidate tries cases, and gives the results as bytes and the candidate's trials by id.
func withCandidate(t *testing.T, h *host.Host, cases []abi.Case, workers int) ([]byte, map[string]*trial.Trial) {
	t.Helper()
	var b bytes.Buffer
	w := render.NewJSONL(&b)
	others := make(map[string]*trial.Trial)
	entries := func(yield func(docket.Entry, error) bool) {
		for _, c := range cases {
			if !yield(docket.Entry{Case: c}, nil) {
				return
			}
		}
	}
	for tried := range h.TryAll(context.Background(), entries, workers) {
		must.Do(t, tried.Err)
		tried.Trial.Result.Timings = nil
		if tried.Trial.Beside != nil {
			others[tried.Trial.Result.ID] = tried.Trial
		}
		must.Do(t, w.Write(tried.Trial))
	}
	return b.Bytes(), others
}

func TestAccept_PL11_ACandidateDecidesNothing(t *testing.T) {
	t.Parallel()
	cases := docketOf(t, 60)
	var mu sync.Mutex
	observed := map[string]int{}
	observe := func(r host.CallRecord) {
		mu.Lock()
		defer mu.Unlock()
		observed[r.Digest]++
	}
	want, none := withCandidate(t, open(t, host.Config{Observe: observe}), cases, 2)
	if len(none) > 0 {
		t.Fatalf("%d trials beside without a candidate", len(none))
	}
	plain := maps.Clone(observed)
	clear(observed)
	candidate := &host.Candidate{Modules: map[string][]byte{"specter": forger(t)}, Share: 0.3}
	h := open(t, host.Config{Candidate: candidate, Observe: observe})
	var ids []string
	for _, workers := range []int{1, 4} {
		got, others := withCandidate(t, h, cases, workers)
		if !bytes.Equal(got, want) {
			t.Fatalf("%d workers: results differ with a candidate:\n%s\nwithout\n%s", workers, got, want)
		}
		now := slices.Sorted(maps.Keys(others))
		if len(now) < 5 || len(now) > 30 || ids != nil && !slices.Equal(now, ids) {
			t.Fatalf("%d workers: the candidate tried %v, before %v", workers, now, ids)
		}
		ids = now
		flips := 0
		for id, outcome := range others {
			r, other := &outcome.Result, &outcome.Beside.Result
			if other.Modules["specter"] == r.Modules["specter"] || len(other.Modules) != 5 || other.Modules["challenger"] != r.Modules["challenger"] ||
				!other.Activated || other.Verdict == nil || len(outcome.Beside.Passes) == 0 {
				t.Errorf("%s: %+v, %v", id, other.Final, other.Modules)
			}
			if outcome.Compare().BesideFlips {
				flips++
			}
		}
		if flips == 0 || flips == len(others) {
			t.Errorf("%d of %d flip", flips, len(others))
		}
	}
	for digest, n := range plain {
		if observed[digest] != 2*n || len(observed) != len(plain) {
			t.Errorf("the observer saw %d calls of %s in two runs, %d in one without a candidate", observed[digest], digest, n)
		}
	}
	reversed := slices.Clone(cases)
	slices.Reverse(reversed)
	if _, others := withCandidate(t, h, reversed, 2); !slices.Equal(slices.Sorted(maps.Keys(others)), ids) {
		t.Error("the share depends on the order")
	}
}

func TestAccept_PL11_ACandidateThatFailsHarmsNobody(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		wasm  []byte
		cause trial.Cause
	}{
		"invalid artifact": {puppet, trial.CauseInvalidArtifact},
		"trap":             {doing(wasmtest.Unreachable), trial.CauseTrap},
		"endless loop":     {doing(wasmtest.Loop, wasmtest.Void, wasmtest.Br, 0, wasmtest.End, wasmtest.I64Const, 0), trial.CauseFuel},
		"bad output":       {doing(wasmtest.I64Const, 0x7f), trial.CauseOutputTooLarge},
	} {
		h := open(t, host.Config{
			Limits: host.Limits{Fuel: 300_000_000}, Candidate: &host.Candidate{Modules: map[string][]byte{"specter": test.wasm}, Share: 1},
		})
		outcome := try(t, h, dispute())
		if outcome.Result.Final.Status == trial.Mistrial || outcome.Result.Error != nil {
			t.Errorf("%s: %+v", name, outcome.Result.Error)
		}
		if b := outcome.Beside; b == nil || b.Result.Final.Cause != test.cause || b.Result.Error == nil || b.Result.Error.Persona != "specter" || !outcome.Compare().BesideFlips {
			t.Errorf("%s: beside %+v, %+v", name, b.Result.Final, b.Result.Error)
		}
	}
}

// A candidate hears the same Light: whoever answers is asked once for what both want to know.
func TestAccept_PL11_ACandidateHasTheSameLight(t *testing.T) {
	t.Parallel()
	asked := 0
	light := lightFunc(func(req host.LightRequest) (host.LightResponse, error) {
		asked++
		answer := abi.LightAnswer{Classification: "leak", Confidence: 0.6 + float64(asked)/100, Reasoning: "it depends on when I am asked"}
		return host.LightResponse{Answer: answer, Evidence: req.Case.Evidence[:1]}, nil
	})
	same := &host.Candidate{Modules: map[string][]byte{"specter": stamped(modules(t)["specter.wasm"].Data, "newer")}, Share: 1}
	outcome := try(t, open(t, host.Config{Light: light, Reclassify: true, Candidate: same}), dispute())
	if b := outcome.Beside; outcome.Result.Remands == 0 || asked != 1+outcome.Result.Remands || b == nil || *b.Result.Light != *outcome.Result.Light ||
		!slices.Equal(b.Result.LightAfter, outcome.Result.LightAfter) || b.Result.Final != outcome.Result.Final {
		t.Errorf("asked %d times with %d remands; %+v and %+v", asked, outcome.Result.Remands, outcome.Result, b.Result)
	}
	// One that plays a part in the Light path is heard there, where a trial comes of it or not.
	rca := must.Get(pipeline.LoadFS(pipelines.FS, pipelines.RCAInvestigation))(t)
	files := modules(t)
	for share, want := range map[float64]bool{1: true, 1e-12: false} {
		h := open(t, host.Config{
			LightPath: rca, Modules: files,
			Candidate: &host.Candidate{Modules: map[string][]byte{"herald": stamped(files["herald.wasm"].Data, "new")}, Share: share},
		})
		if outcome := try(t, h, dispute()); (outcome.Beside != nil) != want || want && outcome.Beside.Result.Modules["herald"] == outcome.Result.Modules["herald"] {
			t.Errorf("share %g: beside %+v", share, outcome.Beside)
		}
	}
}

func TestAccept_PL11_ACandidateOfTheClerk(t *testing.T) {
	t.Parallel()
	newer := stamped(modules(t)["clerk.wasm"].Data, "newer")
	h := open(t, host.Config{Candidate: &host.Candidate{Modules: map[string][]byte{"clerk": newer}, Share: 1}})
	outcome := try(t, h, dispute())
	if b := outcome.Beside; b == nil || b.Result.Final != outcome.Result.Final || outcome.Compare().BesideFlips ||
		len(b.Result.Modules) != len(outcome.Result.Modules) || b.Result.Modules["clerk"] == outcome.Result.Modules["clerk"] {
		t.Errorf("beside %+v", b)
	}
}

// Swaps go on under a candidate, which keeps its own module and has the newer ones of the others.
func TestAccept_CT5_ASwapMustKeepTheCandidatesSidesApart(t *testing.T) {
	t.Parallel()
	h := open(t, host.Config{Candidate: &host.Candidate{Modules: map[string][]byte{"abyss": puppet}, Share: 1}})
	files := modules(t)
	files["challenger.wasm"] = &fstest.MapFile{Data: stamped(files["challenger.wasm"].Data, "newer")}
	must.Do(t, h.Swap(context.Background(), files))
	outcome := try(t, h, dispute())
	if b := outcome.Beside; b == nil || b.Result.Modules["challenger"] != outcome.Result.Modules["challenger"] || b.Result.Modules["challenger"] != h.Modules(t.Context())["challenger"] {
		t.Errorf("beside %+v", b)
	}
	for _, name := range []string{"challenger.wasm", "bulwark.wasm"} {
		files := modules(t)
		files[name] = &fstest.MapFile{Data: stamped(puppet, "elsewhere")}
		err := h.Swap(context.Background(), files)
		var rejected *host.RejectedError
		if !errors.As(err, &rejected) {
			t.Fatalf("%s: %v", name, err)
		}
		if name == "bulwark.wasm" && (!rejected.Has("sides_not_apart") || !strings.Contains(err.Error(), "candidate")) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestCandidatesThatAreRejected(t *testing.T) {
	t.Parallel()
	all := map[string][]byte{"specter": puppet}
	for name, test := range map[string]struct {
		candidate host.Candidate
		says      string
	}{
		"no share":    {host.Candidate{Modules: all}, "share"},
		"NaN":         {host.Candidate{Modules: all, Share: math.NaN()}, "share"},
		"two shares":  {host.Candidate{Modules: all, Share: 1.1}, "share"},
		"no module":   {host.Candidate{Share: 1}, "no module"},
		"nobody":      {host.Candidate{Modules: map[string][]byte{"nobody": puppet}, Share: 1}, `"nobody": use challenger, abyss`},
		"a bad one":   {host.Candidate{Modules: map[string][]byte{"specter": []byte("text")}, Share: 1}, "specter-candidate: "},
		"equal sides": {host.Candidate{Modules: map[string][]byte{"abyss": puppet, "bulwark": puppet}, Share: 1}, "candidate: "},
	} {
		if err := rejection(t, host.Config{Candidate: &test.candidate}); !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
