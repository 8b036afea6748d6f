package proceeding

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/experiment/plan"
	"github.com/shadowcourt/shadowcourt/host/module"
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
	p, err := module.LoadProfile(filepath.Join("..", "..", "..", "pipelines", "profiles", "go-test.yaml"))
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

// By the shipped model a neutral persona finds each kind of cause, and runs no more than it needs to.
func TestTheShippedModelFindsTheCause(t *testing.T) {
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
			}, flaky, 0.9, 1, 6,
		},
		{
			"fails only under load", abi.TestChanged, func(e abi.Experiment) abi.ExperimentOutcome {
				if e.Environment == abi.StarvedEnvironment {
					return abi.OutcomeMixed
				}
				return abi.OutcomePassed
			}, flaky, 0.9, 1, 6,
		},
		{"fails only with the other tests since the change", abi.TestUnchanged, failing(func(e abi.Experiment) bool { return e.Order == abi.OriginalOrder && e.Product == abi.Head }), automation, 0.4, 0.95, 8},
		{"fails only with the other tests", abi.TestUnchanged, failing(func(e abi.Experiment) bool { return e.Order == abi.OriginalOrder }), flaky, 0.9, 1, 4},
		{"fails everywhere but in a clean environment", abi.TestUnchanged, failing(func(e abi.Experiment) bool { return e.Environment != abi.CleanEnvironment }), environment, 0.7, 1, 5},
		{"a change of the tests, or a fault that it shows", abi.TestChanged, failing(func(e abi.Experiment) bool { return e.Tests == abi.Head }), automation, 0.4, 0.8, 5},
		{"a change of the product, or a stale test", abi.TestUnchanged, failing(func(e abi.Experiment) bool { return e.Product == abi.Head }), product, 0.5, 0.8, 5},
		{"fails no more", abi.TestUnchanged, failing(func(abi.Experiment) bool { return false }), environment, 0.4, 0.8, 10},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			r := offered(goTest(t))
			scale := playOut(t, r, tc.test, tc.world)
			label, p := scale.Top("")
			if label != tc.label || p < tc.least || p > tc.most || len(r.Case.Experiments) > tc.enough {
				t.Errorf("%s at %v after %d experiments: %s", label, p, len(r.Case.Experiments), Experimented(r.Case.Experiments, scale))
			}
		})
	}
}

// What fails everywhere is not flaky, and settles no label: the fault may be older than the base. It is named as such.
func TestAccept_FZ3_WhatFailsEverywhereIsNotSettled(t *testing.T) {
	t.Parallel()
	r := offered(goTest(t))
	scale := playOut(t, r, abi.TestUnchanged, failing(func(abi.Experiment) bool { return true }))
	if label, p := scale.Top(""); p > 0.75 || label == environment || scale.Of(flaky) > 0.02 || BaseFails(r.Case.Experiments) == "" {
		t.Errorf("%s at %v: %s", label, p, Experimented(r.Case.Experiments, scale))
	}
}

// A change of the product and a stale test look alike: both stay open.
func TestAChangeOfTheProductLeavesTheStaleTestOpen(t *testing.T) {
	t.Parallel()
	r := offered(goTest(t))
	scale := playOut(t, r, abi.TestUnchanged, failing(func(e abi.Experiment) bool { return e.Product == abi.Head }))
	if stale := scale.Of(automation); stale < 0.2 || scale.Of(environment)+scale.Of(flaky) > 0.05 {
		t.Errorf("stale test %v, environment %v, flaky %v", stale, scale.Of(environment), scale.Of(flaky))
	}
}

// offered is a request that offers all experiments with what they are expected to take for a test of a tenth of a second.
func offered(p *abi.Profile) *abi.NodeRequest {
	r := &abi.NodeRequest{Profile: p, Case: abi.CaseView{Labels: goLabels()}}
	r.Offers = plan.Offers(100*time.Millisecond, plan.GoPace(), plan.BuildOf)
	return r
}

// playOut runs what is asked for until nothing more is.
func playOut(t *testing.T, r *abi.NodeRequest, test abi.TestChange, world func(abi.Experiment) abi.ExperimentOutcome) *weigh.Scale {
	t.Helper()
	for range len(r.Offers) + 1 {
		scale := weigh.Weigh(&weigh.Matter{Labels: r.Case.Labels, Profile: r.Profile, Experiments: r.Case.Experiments})
		e := Next(r, scale)
		if e == nil {
			return scale
		}
		result := abi.ExperimentResult{Experiment: *e, Outcome: world(*e), Test: test}
		switch result.Outcome {
		case abi.OutcomePassed:
			result.Passed = e.Runs
		case abi.OutcomeMixed:
			result.Passed, result.Same = 1, e.Runs-1
		default:
			result.Same = e.Runs
		}
		r.Case.Experiments = append(r.Case.Experiments, result)
	}
	t.Fatal("asks for more experiments than are offered")
	return nil
}
