package host_test

import (
	"context"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/alibi"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/module"
	"github.com/shadowcourt/shadowcourt/host/pipeline"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
	"github.com/shadowcourt/shadowcourt/internal/testkit/tier"
)

// scripted is a laboratory in memory. It offers the experiments of which it knows what they show: the runs that pass, that fail as the case did,
// and that fail otherwise. None of them: the tree has no such test.
type scripted map[string][3]int

func (s scripted) Offers(context.Context, *abi.Case) ([]abi.ExperimentOffer, error) {
	var offers []abi.ExperimentOffer
	for _, tree := range []abi.TreeRevision{abi.Head, abi.Base} {
		for _, environment := range []abi.RunEnvironment{abi.OriginalEnvironment, abi.CleanEnvironment} {
			for _, order := range []abi.RunOrder{abi.Alone, abi.OriginalOrder} {
				for _, runs := range []int{1, 2, 3, 4, 5, 15} {
					e := abi.Experiment{Product: tree, Tests: tree, Environment: environment, Order: order, Runs: runs}
					if _, ok := s[e.String()]; ok {
						offers = append(offers, abi.ExperimentOffer{Experiment: e, Seconds: float64(runs)})
					}
				}
			}
		}
	}
	return offers, nil
}

func (s scripted) Run(_ context.Context, _ *abi.Case, e abi.Experiment) (abi.ExperimentResult, error) {
	n := s[e.String()]
	r := abi.ExperimentResult{Experiment: e, Passed: n[0], Same: n[1], Other: n[2], Test: abi.TestUnchanged, Loaded: abi.Certified}
	switch failed := r.Same + r.Other; {
	case r.Passed > 0 && failed > 0:
		r.Outcome = abi.OutcomeMixed
	case r.Passed > 0:
		r.Outcome = abi.OutcomePassed
	case r.Other > 0:
		r.Outcome = abi.OutcomeOther
	case r.Same > 0:
		r.Outcome = abi.OutcomeSame
	default:
		r.Outcome = abi.OutcomeNoTest
	}
	return r, nil
}

func (scripted) Why(*abi.Case) string { return "" }

func (scripted) Digest() string { return "scripted" }

// What the laboratories of these tests know.
const (
	headRuns  = "head/head/original/alone/5"
	baseRuns  = "base/base/original/alone/2"
	moreBase  = "base/base/original/alone/5"
	headClean = "head/head/clean/alone/1"
	moreClean = "head/head/clean/alone/4"
	baseClean = "base/base/clean/alone/1"

	headAround = "head/head/original/original/2"
	moreAround = "head/head/original/original/5"
	baseAround = "base/base/original/original/2"
	wellAround = "base/base/original/original/5"
)

// askAlibi asks the court of the alibi of one case.
func askAlibi(t *testing.T, config host.Config) alibi.Asked {
	t.Helper()
	court := must.Get(alibi.Open(t.Context(), defaults(t, config), 0))(t)
	defer func() {
		if err := court.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	}()
	entry := docket.Entry{Case: abi.Case{
		ID: "example.com/shop.TestTotal", Group: "example.com/shop", Subject: "TestTotal fails in example.com/shop",
		Documents: []abi.Document{{Name: "log", Text: "    cart_test.go:12: got 1, want 2\n--- FAIL: TestTotal (0.10s)\n"}},
	}}
	for asked := range court.Ask(t.Context(), func(yield func(docket.Entry, error) bool) { yield(entry, nil) }, 1) {
		if asked.Err != nil {
			t.Fatal(asked.Err)
		}
		return asked
	}
	t.Fatal("no answer")
	return alibi.Asked{}
}

// judgedBy is the shipped pipeline of the alibi with another module in the place of the judge's.
func judgedBy(t *testing.T, name string, with ...pipeline.Param) *pipeline.Definition {
	t.Helper()
	def := must.Get(alibi.Pipeline())(t)
	for i := range def.Personas {
		if p := &def.Personas[i]; p.ID == "specter" {
			p.Module = name
		}
	}
	for i := range def.Nodes {
		if n := &def.Nodes[i]; n.Family == abi.FamilyVerdict {
			n.With = with
		}
	}
	return def
}

// TestAccept_AL1_EachEdgeIsTaken: what runs show leads the shipped personas over every edge of the pipeline.
func TestAccept_AL1_EachEdgeIsTaken(t *testing.T) {
	t.Parallel()
	now, late := time.Unix(0, 0), time.Unix(0, 0)
	wait := func(r host.CallRecord) {
		if r.Node == "defend" && r.Call == abi.CallNode {
			late = now.Add(time.Hour)
		}
	}
	mended := scripted{headRuns: {0, 5, 0}, baseRuns: {0, 2, 0}, moreBase: {0, 5, 0}, headClean: {1, 0, 0}, moreClean: {4, 0, 0}, baseClean: {1, 0, 0}}
	flaky := scripted{headRuns: {3, 2, 0}, baseRuns: {1, 1, 0}}
	for _, tc := range []struct {
		name    string
		lab     scripted
		config  host.Config
		edges   string
		verdict alibi.Verdict
		label   string
	}{
		{"a failure in several ways that the base has, too", scripted{headRuns: {1, 3, 1}, baseRuns: {0, 2, 0}}, host.Config{}, "HD1 HD2 HD9", alibi.IsOpen, ""},
		{"the same failure on the base", scripted{headRuns: {0, 5, 0}, baseRuns: {0, 2, 0}, moreBase: {0, 5, 0}}, host.Config{}, "HD2 HD6", alibi.NotYours, alibi.Preexisting},
		{"nothing can be run", scripted{}, host.Config{}, "HD3 HD5 HD9", alibi.IsOpen, ""},
		{"a failure that hardly comes back", scripted{headRuns: {4, 1, 0}, baseRuns: {2, 0, 0}}, host.Config{}, "HD4 HD5 HD6", alibi.IsOpen, ""},
		{"a clean environment that mends it", mended, host.Config{}, "HD4 HD5 HD7", alibi.NotYours, alibi.Environment},
		{"passes everywhere", scripted{headRuns: {5, 0, 0}, baseRuns: {2, 0, 0}}, host.Config{}, "HD4 HD5 HD8 HD4 HD5 HD9", alibi.IsOpen, ""},
		{"time", flaky, host.Config{Now: func() time.Time { return late }, Observe: wait}, "HD10", alibi.IsOpen, ""},
		{"handoffs", flaky, host.Config{Court: func(c *pipeline.Court) { c.MaxHandoffs = 2 }}, "HD11", alibi.IsOpen, ""},
		{"a judge that gives up", flaky, host.Config{Pipeline: judgedBy(t, "puppet", pipeline.Text("behave", "mistrial"))}, "HD2 HD12", alibi.IsOpen, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			tc.config.Experiments = tc.lab
			asked := askAlibi(t, tc.config)
			var taken []string
			for _, step := range asked.Trial.Result.Path {
				if edge, _, ok := strings.Cut(step, ":"); ok {
					taken = append(taken, edge)
				}
			}
			if got := strings.Join(taken, " "); got != tc.edges {
				t.Errorf("%q of %q, want %q", got, asked.Trial.Result.Path, tc.edges)
			}
			if a := asked.Answer; a.Verdict != tc.verdict || a.Label != tc.label || a.Why == "" || !a.Tried {
				t.Errorf("%+v", a)
			}
		})
	}
}

// TestAccept_AK10_TestsAroundItMayHaveSetUpWhatItNeeds: a test that fails alone on both trees has an alibi only if the base fails with the tests around it, too.
func TestAccept_AK10_TestsAroundItMayHaveSetUpWhatItNeeds(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		more scripted
		want alibi.Verdict
		why  string
	}{
		"fails around":            {scripted{baseAround: {0, 2, 0}}, alibi.NotYours, "fails on the base in the same way (7 of 7 failed)"},
		"not on offer":            {nil, alibi.NotYours, "fails on the base in the same way (7 of 7 failed)"},
		"passes around":           {scripted{baseAround: {2, 0, 0}, wellAround: {5, 0, 0}, headAround: {0, 2, 0}, moreAround: {0, 5, 0}}, alibi.IsYours, "7 of 7 failed here with the tests around it, none of 7 failed on the base; run alone, it fails on both trees"},
		"passes around, too few":  {scripted{baseAround: {2, 0, 0}, headAround: {0, 2, 0}}, alibi.IsOpen, "2 of 2 failed here with the tests around it, none of 2 failed on the base: "},
		"passes around, not here": {scripted{baseAround: {2, 0, 0}}, alibi.IsOpen, "no run here with the tests around it, none of 2 failed on the base; run alone, it fails there"},
		"left out on the base":    {scripted{baseAround: {0, 0, 0}, headAround: {0, 2, 0}}, alibi.IsOpen, "run alone, it fails on the base, but the base leaves it out of its own run"},
		"left out on both":        {scripted{baseAround: {0, 0, 0}, headAround: {0, 0, 0}}, alibi.NotYours, "fails on the base in the same way (7 of 7 failed)"},
		"passes around on both":   {scripted{baseAround: {2, 0, 0}, headAround: {2, 0, 0}}, alibi.NotYours, "5 of 5 failed here, 7 of 7 failed on the base; at most 2.0 times"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			lab := scripted{headRuns: {0, 5, 0}, baseRuns: {0, 2, 0}, moreBase: {0, 5, 0}}
			maps.Copy(lab, tc.more)
			if a := askAlibi(t, host.Config{Experiments: lab}).Answer; a.Verdict != tc.want || !strings.HasPrefix(a.Why, tc.why) || (a.Verdict == alibi.IsOpen) != (a.Lock != "") {
				t.Errorf("%+v", a)
			}
		})
	}
}

// TestNothingIsCompiledThatIsNotCalled: the embedded modules are compiled for a trial, and none where there is no trial.
func TestNothingIsCompiledThatIsNotCalled(t *testing.T) {
	t.Parallel()
	for label, lab := range map[string]scripted{
		alibi.Caused:      {headRuns: {0, 5, 0}, baseRuns: {2, 0, 0}},
		alibi.Preexisting: {headRuns: {0, 5, 0}, baseRuns: {0, 2, 0}, moreBase: {0, 5, 0}},
	} {
		if label == alibi.Preexisting && !tier.Whole("host/alibi", "host/internal/court/registry", "host/internal/sandbox") { // the court compiles nearly all of them
			continue
		}
		called, told := map[string]bool{}, map[string]bool{}
		config := host.Config{CacheDir: t.TempDir(), Experiments: lab, Observe: func(r host.CallRecord) { called[r.Module] = true }, LoadLate: func(module string) { told[module] = true }}
		asked := askAlibi(t, config)
		compiled := must.Get(filepath.Glob(filepath.Join(config.CacheDir, "v*", "*")))(t)
		if asked.Answer.Label != label || asked.Answer.Tried != (label == alibi.Preexisting) || len(compiled) != len(called) || !maps.Equal(told, called) {
			t.Errorf("%+v: %d compiled, %v called, %v told", asked.Answer, len(compiled), called, told)
		}
	}
}

// TestAccept_AL1_AThirdPartyJudgeSitsInIt: the judge that counts sources finds none, since runs name no label, and leaves the case open.
func TestAccept_AL1_AThirdPartyJudgeSitsInIt(t *testing.T) {
	t.Parallel()
	wasm := must.Get(buildGuest("../examples/judges/corroboration"))(t)
	info := must.Get(module.Inspect(wasm))(t)
	files := modules(t)
	files["corroboration.wasm"] = &fstest.MapFile{Data: wasm}
	lab := scripted{headRuns: {0, 5, 0}, baseRuns: {0, 2, 0}}
	asked := askAlibi(t, host.Config{Experiments: lab, Modules: files, Pipeline: judgedBy(t, "corroboration")})
	r := asked.Trial.Result
	if r.Modules["specter"] != info.Digest || r.Final.Status != trial.Acquitted || asked.Answer.Verdict != alibi.IsOpen || !slices.Contains(r.Path, "HD9:_gap_brief") {
		t.Errorf("%+v by %s: %+v", r.Final, r.Modules["specter"], asked.Answer)
	}
}

// TestAccept_AL5_AHostileJudgeGivesNoAlibi that the runs speak against, wherever it sits: with this threshold it decides each case.
func TestAccept_AL5_AHostileJudgeGivesNoAlibi(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		lab   scripted
		label string
		why   string
	}{
		"preexisting":        {scripted{headRuns: {0, 5, 0}, baseRuns: {2, 0, 0}}, alibi.Preexisting, "5 of 5 failed here, none of 2 failed on the base: "},
		"flaky":              {scripted{headRuns: {4, 1, 0}, baseRuns: {2, 0, 0}}, alibi.Flaky, "1 of 5 failed here, none of 2 failed on the base: "},
		"environment":        {scripted{headRuns: {0, 5, 0}, baseRuns: {2, 0, 0}}, alibi.Environment, "5 of 5 failed here, none of 2 failed on the base: "},
		"without the test":   {scripted{headRuns: {0, 5, 0}, baseRuns: {}}, alibi.Environment, "the base does not have this test"},
		"without the base":   {scripted{headRuns: {0, 5, 0}}, alibi.Flaky, "the base was not run"},
		"too few runs":       {scripted{headRuns: {0, 5, 0}, baseRuns: {0, 2, 0}}, alibi.Preexisting, "5 of 5 failed here, 2 of 2 failed on the base: "},
		"what the runs show": {scripted{headRuns: {0, 5, 0}, baseRuns: {0, 2, 0}, moreBase: {0, 5, 0}}, alibi.Preexisting, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			def := judgedBy(t, "puppet", pipeline.Text("behave", "amend"), pipeline.Text("label", tc.label))
			def.Court.ActivationThreshold = 1
			asked := askAlibi(t, host.Config{Experiments: tc.lab, Pipeline: def})
			if r := asked.Trial.Result; r.Verdict == nil || r.Verdict.FinalClassification != tc.label || r.Final.Classification != asked.Answer.Label {
				t.Fatalf("the court says %+v, and the trial ends with %+v", r.Verdict, r.Final)
			}
			want, label := alibi.IsOpen, ""
			switch name {
			case "what the runs show":
				want, label = alibi.NotYours, tc.label
			case "without the test": // which came with the change
				want, label = alibi.IsYours, alibi.Caused
			}
			if a := asked.Answer; a.Verdict != want || a.Label != label || !strings.Contains(a.Why, tc.why) {
				t.Errorf("%+v", a)
			}
		})
	}
}

// TestAccept_AL5_ThePriceIsThatOfTheWholeCourt: what is asked for a false alibi holds for the judge, too, not for Light alone.
func TestAccept_AL5_ThePriceIsThatOfTheWholeCourt(t *testing.T) {
	t.Parallel()
	lab := scripted{headRuns: {0, 5, 0}, baseRuns: {0, 2, 0}, moreBase: {0, 5, 0}}
	entry := docket.Entry{Case: abi.Case{ID: "TestTotal", Subject: "TestTotal fails in example.com/shop"}}
	for price, want := range map[float64]alibi.Verdict{0: alibi.NotYours, 0.01: alibi.NotYours, 0.001: alibi.IsOpen} {
		court := must.Get(alibi.Open(t.Context(), host.Config{Experiments: lab, CacheDir: cacheDir, Modules: modules(t)}, price))(t)
		for asked := range court.Ask(t.Context(), func(yield func(docket.Entry, error) bool) { yield(entry, nil) }, 1) {
			if asked.Err != nil || asked.Answer.Verdict != want {
				t.Errorf("at the price %v: %+v, %v", price, asked.Answer, asked.Err)
			}
		}
		if err := court.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	}
}
