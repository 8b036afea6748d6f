package host_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/module"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/testkit/check"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
	"github.com/shadowcourt/shadowcourt/internal/testkit/wasmtest"
)

func TestAccept_PL3_ABrokenModuleIsNamedAndTheNextTrialRuns(t *testing.T) {
	t.Parallel()
	healthy := shared(t)
	for how, cause := range map[string]trial.Cause{
		"spin": trial.CauseFuel, "trap": trial.CauseTrap, "exit": trial.CauseExit,
		"bomb": trial.CauseMemory, "open": trial.CauseDenied, "fail": trial.CauseFailure,
		"confidence": trial.CauseInvalidArtifact, "several": trial.CauseInvalidArtifact, "wrong": trial.CauseInvalidArtifact,
	} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			h := open(t, host.Config{
				Pipeline: behave(t, "specter", "verdict", how), Limits: host.Limits{WallClock: time.Minute, Fuel: 500_000_000},
			})
			for range 2 { // the second trial finds the host as the first did
				outcome := try(t, h, dispute())
				if got := outcome.Result.Final; got.Status != trial.Mistrial || got.Cause != cause || got.Classification != "" {
					t.Errorf("%+v, want cause %s", got, cause)
				}
				e := outcome.Result.Error
				if e == nil || e.Node != "verdict" || e.Persona != "specter" || !strings.HasPrefix(e.Module, "sha256:") || e.Code != cause {
					t.Errorf("the module is not named: %+v", e)
				}
				wantGaps(t, outcome)
			}
			if got := try(t, healthy, dispute()).Result.Final.Status; got == trial.Mistrial {
				t.Error("another trial was harmed")
			}
		})
	}
}

// Fuel is what ends a guest that spins; with more than the clock allows, the clock does.
func TestAccept_PL3_TheClockEndsWhatFuelDoesNot(t *testing.T) {
	t.Parallel()
	h := open(t, host.WithCallClock(host.Config{
		Pipeline: behave(t, "specter", "verdict", "spin"), Limits: host.Limits{WallClock: 2 * time.Second, Fuel: 1 << 50},
	}, wasmtest.Ticking(time.Millisecond)))
	if got := try(t, h, dispute()).Result; got.Final.Cause != trial.CauseWallClock || got.Error == nil || got.Error.Persona != "specter" {
		t.Errorf("%+v, %+v", got.Final, got.Error)
	}
}

func TestAccept_PL3_ABrokenClerkIsNamed(t *testing.T) {
	t.Parallel()
	def := shipped(t, "clerk: clerk", "clerk: puppet", "    condition: \"verdict == acquit\"\n", "    condition: \"verdict == acquit\"\n    with: {behave: trap}\n")
	outcome := try(t, open(t, host.Config{Pipeline: def}), dispute())
	if e := outcome.Result.Error; outcome.Result.Final.Cause != trial.CauseTrap || e == nil || e.Node != "verdict" {
		t.Errorf("%+v, %+v", outcome.Result.Final, e)
	}
}

// The puppet counts its calls in its memory. What it counts is the same in
// every call: that of the state which every call begins with, and one.
func TestAccept_PL4_NoCallSeesAnother(t *testing.T) {
	t.Parallel()
	h := open(t, host.Config{Pipeline: behave(t, "specter", "verdict", "count")})
	first := try(t, h, dispute()).Result.Verdict.Reasoning
	for range 3 {
		check.Equal(t, try(t, h, dispute()).Result.Verdict.Reasoning, first, "the module counts", "calls in its memory, at first")
	}
	hearing := open(t, host.Config{Pipeline: behave(t, "bulwark", "hearing", "quarrel")})
	rounds := try(t, hearing, dispute()).Passes[0].Hearing.Rounds
	if len(rounds) < 2 {
		t.Fatalf("%d rounds", len(rounds))
	}
	for _, round := range rounds {
		if !strings.HasSuffix(round.JudgeNotes, "call "+first) {
			t.Errorf("round %d sees earlier calls: %q, want call %s", round.Round, round.JudgeNotes, first)
		}
	}
}

func TestAccept_PL2_ABadModuleIsRejectedAndTheIncumbentGoesOn(t *testing.T) {
	t.Parallel()
	h := open(t, host.Config{})
	want := try(t, h, dispute()).Result
	good := modules(t)["challenger.wasm"].Data
	annotated := func(edits ...string) []byte {
		text := strings.NewReplacer(edits...).Replace(puppetManifest)
		return must.Get(module.Annotate(puppet, "manifest.yaml", []byte(text)))(t)
	}
	bare, _, found := bytes.Cut(good, []byte(abi.ManifestSection))
	if !found {
		t.Fatal("the module has no manifest to cut")
	}
	for name, test := range map[string]struct {
		wasm []byte
		code string
	}{
		"not wasm":                 {[]byte("#!/bin/sh\n"), "not_wasm"},
		"cut off":                  {good[:len(good)/2], "not_wasm"},
		"empty":                    {nil, "not_wasm"},
		"cut inside the manifest":  {bare, "not_wasm"},
		"a later ABI version":      {annotated(`abi: "1.0"`, `abi: "1.9"`), "abi_version"},
		"another ABI version":      {annotated(`abi: "1.0"`, `abi: "2.0"`), "abi_version"},
		"no ABI version":           {annotated(`abi: "1.0"`, `abi: "one"`), "abi_version"},
		"a call not served":        {annotated("calls: [node, contest]", "calls: [node]"), "call_not_served"},
		"a call without an export": {annotated("calls: [node, contest]", "calls: [node, contest, judge]", "criteria: []", "criteria: [c]"), "call_not_served"},
		"a family not served":      {annotated("families: [indict, discover, defend, hearing, verdict]", "families: [indict]"), "family_not_served"},
		"a capability not granted": {annotated("capabilities: []", "capabilities: [complete]"), "capability_not_granted"},
		"more memory than allowed": {annotated("capabilities: []", "capabilities: []\nlimits: {memory_bytes: 1000000000000, output_bytes: 0, wall_clock: 0, fuel: 0}"), "limits_not_granted"},
	} {
		t.Run(name, func(t *testing.T) {
			files := modules(t)
			files["challenger.wasm"] = &fstest.MapFile{Data: test.wasm}
			err := h.Swap(context.Background(), files)
			var rejected *host.RejectedError
			if !errors.As(err, &rejected) {
				t.Fatalf("not rejected: %v", err)
			}
			found := false
			for _, f := range rejected.Faults {
				found = found || f.Code == test.code && f.Module == "challenger" && f.Detail != ""
			}
			if !found {
				t.Errorf("rejected for %v, want %s", err, test.code)
			}
			got := try(t, h, dispute()).Result
			if got.Final != want.Final || got.Modules["challenger"] != want.Modules["challenger"] {
				t.Error("the incumbent does not continue as before")
			}
		})
	}
	files := modules(t)
	delete(files, "challenger.wasm")
	delete(files, "clerk.wasm")
	err := h.Swap(context.Background(), files)
	var rejected *host.RejectedError
	if !errors.As(err, &rejected) || len(rejected.Faults) != 2 || !rejected.Has("missing_module") {
		t.Errorf("two missing modules: %v", err)
	}
}

func TestAccept_OB1_OneLogRecordForEachRejectedArtifact(t *testing.T) {
	t.Parallel()
	for how, path := range map[string]string{
		"several":       "artifact.verdict.decision",
		"contradiction": "artifact.verdict.final_classification",
	} {
		var b bytes.Buffer
		h := open(t, host.Config{
			Pipeline: behave(t, "specter", "verdict", how), Logger: slog.New(slog.NewJSONHandler(&b, nil)),
		})
		outcome := try(t, h, dispute())
		records := strings.Split(strings.TrimSpace(b.String()), "\n")
		if len(records) != 1 {
			t.Fatalf("%s: %d log records: %s", how, len(records), b.String())
		}
		for _, want := range []string{
			`"node":"verdict"`, `"digest":"` + outcome.Result.Error.Module + `"`, `"path":"` + path + `"`, `"code":"`, `"persona":"specter"`,
		} {
			check.Contains(t, records[0], want, how, "the record")
		}
		if strings.Contains(records[0], "as told") || strings.Contains(records[0], "elsewhere") {
			t.Errorf("%s: the record holds the artifact's body: %s", how, records[0])
		}
	}
}

// The artifact's faults come together, each with its path and code.
func TestAccept_SC3_AllFaultsOfAnArtifactComeTogether(t *testing.T) {
	t.Parallel()
	outcome := try(t, open(t, host.Config{Pipeline: behave(t, "specter", "verdict", "several")}), dispute())
	var got []string
	for _, p := range outcome.Result.Error.Problems {
		got = append(got, p.Path+" "+string(p.Code))
	}
	want := []string{
		"artifact.verdict.decision invalid_value", "artifact.verdict.final_classification invalid_utf8", "artifact.verdict.confidence out_of_range",
	}
	check.Equal(t, strings.Join(got, "; "), strings.Join(want, "; "), "problems", got, want)
}

// What one persona says in another's name, or of items that are not there, reaches nobody.
func TestAccept_PL9_WhatDoesNotFitTheCaseIsRejected(t *testing.T) {
	t.Parallel()
	for how, test := range map[string]struct{ persona, node, path string }{
		"impostor": {"abyss", "defend", "artifact.defense_brief.challenges[0].by"},
		"beyond":   {"abyss", "defend", "artifact.defense_brief.challenges[0].evidence_index"},
		"invent":   {"bulwark", "discover", "artifact.discovery.findings[0].quote"},
	} {
		s := &spy{}
		h := open(t, host.Config{Pipeline: behave(t, test.persona, test.node, how), Observe: s.observe})
		outcome := try(t, h, dispute())
		e := outcome.Result.Error
		if e == nil || e.Node != test.node || len(e.Problems) != 1 || e.Problems[0].Path != test.path {
			t.Errorf("%s: %+v", how, e)
		}
		if n := len(s.of(abi.CallNode, "specter")); n > 0 {
			t.Errorf("%s: the trial went on to the judge", how)
		}
	}
}
