package proceeding

import (
	"math"
	"path/filepath"
	"slices"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/profile"
	"github.com/shadowcourt/shadowcourt/plugins/internal/weigh"
)

const (
	product     = "pb001"
	automation  = "ab001"
	environment = "si001"
	flaky       = "nd001"
)

func goLabels() []string { return []string{product, automation, environment, flaky} }

func goTest(t *testing.T) *abi.Profile {
	t.Helper()
	p, err := profile.Load(filepath.Join("..", "..", "..", "pipelines", "profiles", "go-test.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// failing is a world in which the tests fail in the same way where a cause is there, and pass otherwise.
func failing(where func(abi.Experiment) bool) func(abi.Experiment) abi.ExperimentOutcome {
	return func(e abi.Experiment) abi.ExperimentOutcome {
		if where(e) {
			return abi.OutcomeSame
		}
		return abi.OutcomePassed
	}
}

// By the shipped tables a neutral persona finds each kind of cause, and runs no more than it needs to.
func TestTheShippedTablesFindTheCause(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name   string
		test   abi.TestChange
		world  func(abi.Experiment) abi.ExperimentOutcome
		label  string
		least  float64
		most   float64
		enough int
	}{
		{
			"mixed on one tree", abi.TestChanged, func(e abi.Experiment) abi.ExperimentOutcome {
				if e.Runs < 5 {
					return abi.OutcomePassed
				}
				return abi.OutcomeMixed
			}, flaky, 0.9, 1, 2,
		},
		{
			"fails only under load", abi.TestChanged, func(e abi.Experiment) abi.ExperimentOutcome {
				if e.Environment == abi.StarvedEnvironment {
					return abi.OutcomeMixed
				}
				return abi.OutcomePassed
			}, flaky, 0.9, 1, 4,
		},
		{"fails only with the other tests", abi.TestUnchanged, failing(func(e abi.Experiment) bool { return e.Order == abi.OriginalOrder }), flaky, 0.9, 1, 4},
		{"fails everywhere but in a clean environment", abi.TestUnchanged, failing(func(e abi.Experiment) bool { return e.Environment != abi.CleanEnvironment }), environment, 0.7, 1, 5},
		{"a change of the tests", abi.TestChanged, failing(func(e abi.Experiment) bool { return e.Tests == abi.Head }), automation, 0.75, 0.9, 5},
		{"a change of the product, or a stale test", abi.TestUnchanged, failing(func(e abi.Experiment) bool { return e.Product == abi.Head }), product, 0.5, 0.8, 5},
		{"fails no more", abi.TestUnchanged, failing(func(abi.Experiment) bool { return false }), flaky, 0.45, 0.85, 4},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			r := offered(goTest(t))
			scale := playOut(t, r, Neutral(), tc.test, tc.world)
			label, p := scale.Top("")
			if label != tc.label || p < tc.least || p > tc.most || len(r.Case.Experiments) > tc.enough {
				t.Errorf("%s at %v after %d experiments: %s", label, p, len(r.Case.Experiments), Experimented(r.Case.Experiments, scale))
			}
		})
	}
}

// What fails everywhere speaks for no label: the fault may be older than the base.
func TestAccept_FZ3_WhatFailsEverywhereStaysOpen(t *testing.T) {
	t.Parallel()
	r := offered(goTest(t))
	scale := playOut(t, r, Neutral(), abi.TestUnchanged, failing(func(abi.Experiment) bool { return true }))
	if label, p := scale.Top(""); p > 0.4 || BaseFails(r.Case.Experiments) == "" {
		t.Errorf("%s at %v: %s", label, p, Experimented(r.Case.Experiments, scale))
	}
}

// A change of the product and a stale test look alike: both stay open.
func TestAChangeOfTheProductLeavesTheStaleTestOpen(t *testing.T) {
	t.Parallel()
	r := offered(goTest(t))
	scale := playOut(t, r, Neutral(), abi.TestUnchanged, failing(func(e abi.Experiment) bool { return e.Product == abi.Head }))
	if stale := scale.Of(automation); stale < 0.2 || scale.Of(environment)+scale.Of(flaky) > 0.05 {
		t.Errorf("stale test %v, environment %v, flaky %v", stale, scale.Of(environment), scale.Of(flaky))
	}
}

// Whatever one outcome says, the shipped tables list P(outcome | cause) that sum to 1 at most, for all causes of the four labels.
func TestTheShippedTablesAreProbabilities(t *testing.T) {
	t.Parallel()
	p := goTest(t)
	for i := range p.Experiments {
		sums := make(map[string]float64)
		for _, o := range p.Experiments[i].Outcomes {
			covered := make(map[string]bool)
			for _, g := range o.Given {
				sums[g.Label] += g.Weight
				covered[g.Label] = true
			}
			for _, label := range goLabels() {
				ways := slices.DeleteFunc(slices.Clone(p.Causes), func(c abi.Cause) bool { return c.Label != label })
				missing := slices.ContainsFunc(ways, func(c abi.Cause) bool { return !covered[c.Name] })
				if !covered[label] && (missing || len(ways) == 0) {
					t.Errorf("%s: %s does not cover %s", p.Experiments[i].Experiment, o.Outcome, label)
				}
			}
		}
		for cause, sum := range sums {
			if sum > 1.0001 || sum < 0.85 {
				t.Errorf("%s: %s sums to %v", p.Experiments[i].Experiment, cause, sum)
			}
		}
	}
	sums := make(map[string]float64)
	for i := range p.Causes {
		sums[p.Causes[i].Label] += p.Causes[i].Unchanged + p.Causes[i].Changed + p.Causes[i].New
	}
	for _, label := range goLabels() {
		if math.Abs(sums[label]-1) > 1e-9 {
			t.Errorf("the causes of %s have %v of it", label, sums[label])
		}
	}
}

// offered is a request that offers all experiments of a profile, with what package host/experiment expects them to take for a test of a
// tenth of a second.
func offered(p *abi.Profile) *abi.NodeRequest {
	r := &abi.NodeRequest{Profile: p, Case: abi.CaseView{Labels: goLabels()}}
	for i := range p.Experiments {
		e := p.Experiments[i].Experiment
		run, build := 0.1, 3.0
		if e.Order == abi.OriginalOrder {
			run *= 10
		}
		if e.Environment == abi.StarvedEnvironment {
			run *= 3
		}
		if e.Product != abi.Head || e.Tests != abi.Head {
			build = 6
		}
		seconds := build + float64(e.Runs)*(run+0.3)
		r.Offers = append(r.Offers, abi.ExperimentOffer{Experiment: e, Seconds: seconds})
	}
	return r
}

// playOut runs what is asked for until nothing more is.
func playOut(t *testing.T, r *abi.NodeRequest, aim Aim, test abi.TestChange, world func(abi.Experiment) abi.ExperimentOutcome) *weigh.Scale {
	t.Helper()
	for range len(r.Offers) + 1 {
		scale := weigh.Weigh(&weigh.Matter{Labels: r.Case.Labels, Profile: r.Profile, Experiments: r.Case.Experiments})
		e := Next(r, scale, aim)
		if e == nil {
			return scale
		}
		r.Case.Experiments = append(r.Case.Experiments, abi.ExperimentResult{Experiment: *e, Outcome: world(*e), Test: test})
	}
	t.Fatal("asks for more experiments than are offered")
	return nil
}
