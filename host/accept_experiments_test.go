package host_test

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/odds"
	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/experiment/plan"
	"github.com/shadowcourt/shadowcourt/host/module"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

// laboratory offers all experiments, and answers as a world with one cause would.
type laboratory struct {
	world func(abi.Experiment) abi.ExperimentOutcome
	why   string // nothing is offered
}

func (l laboratory) Offers(context.Context, *abi.Case) ([]abi.ExperimentOffer, error) {
	if l.why != "" {
		return nil, nil
	}
	return plan.Offers(100*time.Millisecond, plan.GoPace(), plan.BuildOf), nil
}

func (l laboratory) Run(_ context.Context, _ *abi.Case, e abi.Experiment) (abi.ExperimentResult, error) {
	r := abi.ExperimentResult{Experiment: e, Outcome: l.world(e), Test: abi.TestChanged}
	switch r.Outcome {
	case abi.OutcomePassed:
		r.Passed = e.Runs
	case abi.OutcomeMixed:
		r.Passed, r.Same = 1, e.Runs-1
	case abi.OutcomeNotRun:
		r.Detail = "the budget is used up"
	default:
		r.Same = e.Runs
	}
	return r, nil
}

func (l laboratory) Why(*abi.Case) string { return l.why }

func (laboratory) Digest() string { return "the same world" }

// totalFails is a case of a failing test that Light takes for a product bug.
func totalFails() abi.Case {
	return abi.Case{
		ID: "total", Subject: "TestTotal fails", Labels: []string{"pb001", "ab001", "si001", "nd001"},
		Light:     &abi.LightAnswer{Classification: "pb001", Confidence: 0.7},
		Evidence:  []abi.Evidence{{SourceRef: "assertion:log:L1", Content: "cart_test.go:12: got 1, want 2", RelevanceConfidence: 0.6, Supports: "pb001", Element: abi.Water}},
		Documents: []abi.Document{{Name: "log", Text: "cart_test.go:12: got 1, want 2\n--- FAIL: TestTotal (0.00s)\n"}},
	}
}

// The shipped personas ask for experiments, and what these show decides the case against Light and the log.
func TestAccept_EX7_ThePersonasAskUntilTheCaseIsSettled(t *testing.T) {
	t.Parallel()
	p := must.Get(module.LoadProfile(filepath.Join("..", "pipelines", "profiles", "go-test.yaml")))(t)
	fails := func(where func(abi.Experiment) bool) func(abi.Experiment) abi.ExperimentOutcome {
		return func(e abi.Experiment) abi.ExperimentOutcome {
			if where(e) {
				return abi.OutcomeSame
			}
			return abi.OutcomePassed
		}
	}
	unable := open(t, host.Config{Profile: p})
	for _, tc := range []struct {
		name  string
		world func(abi.Experiment) abi.ExperimentOutcome
		label string
	}{
		{"flaky", func(e abi.Experiment) abi.ExperimentOutcome {
			if e.Runs < 5 {
				return abi.OutcomePassed
			}
			return abi.OutcomeMixed
		}, "nd001"},
		{"the environment, which a clean one mends", fails(func(e abi.Experiment) bool { return e.Environment != abi.CleanEnvironment }), "si001"},
		{"a test of the change that leaves something behind", fails(func(e abi.Experiment) bool { return e.Order == abi.OriginalOrder && e.Tests == abi.Head }), "ab001"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			c := totalFails()
			h := open(t, host.Config{Profile: p, Experiments: laboratory{world: tc.world}})
			result := try(t, h, c).Result
			if result.Final.Status != trial.Amended || result.Final.Classification != tc.label || result.Final.Confidence < 0.6 { // a changed test may also have found an old bug
				t.Errorf("%+v by %+v", result.Final, result.Experiments)
			}
			if len(result.Experiments) == 0 || result.Experiments[0].Persona != "bulwark" || len(result.Experiments) > 10 {
				t.Errorf("%d experiments were run: %+v", len(result.Experiments), result.Experiments)
			}
			if without := try(t, unable, c).Result; without.Final.Classification == tc.label || len(without.Experiments) > 0 {
				t.Errorf("without experiments %+v", without.Final)
			}
		})
	}
}

// Flaky tests that fail at some time, or under load, are run where they failed before anything else. What passes in a clean environment and in
// other trees then makes no environment of them. A test that fails everywhere is none, either, and the reasons begin with its base.
func TestAccept_FZ3_TheFailingTestIsRunWhereItFailedFirst(t *testing.T) {
	t.Parallel()
	p := must.Get(module.LoadProfile(filepath.Join("..", "pipelines", "profiles", "go-test.yaml")))(t)
	for _, tc := range []struct {
		name, label, opening string
		world                func(abi.Experiment) abi.ExperimentOutcome
	}{
		{"time, which stays open", "", "", func(abi.Experiment) abi.ExperimentOutcome { return abi.OutcomePassed }},
		{"load", "nd001", "", func(e abi.Experiment) abi.ExperimentOutcome {
			if e.Environment == abi.StarvedEnvironment {
				return abi.OutcomeSame
			}
			return abi.OutcomePassed
		}},
		{"older than the base", "pb001", "The base fails too, in the same way", func(abi.Experiment) abi.ExperimentOutcome { return abi.OutcomeSame }},
		{"another failure on the base", "pb001", "The base fails too, but in another way", func(e abi.Experiment) abi.ExperimentOutcome {
			if e.Product == abi.Base {
				return abi.OutcomeOther
			}
			return abi.OutcomeSame
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			c := abi.Case{
				ID: "total", Subject: "TestTotal fails", Labels: []string{"pb001", "ab001", "si001", "nd001"},
				Light:     &abi.LightAnswer{Classification: "pb001", Confidence: 0.6},
				Evidence:  []abi.Evidence{{SourceRef: "assertion:log:L1", Content: "cart_test.go:12: got 1, want 2", RelevanceConfidence: 0.6, Supports: "pb001", Element: abi.Water}},
				Documents: []abi.Document{{Name: "log", Text: "cart_test.go:12: got 1, want 2\n--- FAIL: TestTotal (0.00s)\n"}},
			}
			result := try(t, open(t, host.Config{Profile: p, Experiments: slowHead{laboratory{world: tc.world}}}), c).Result
			if first := result.Experiments[0]; first.Product != abi.Head || first.Tests != abi.Head || first.Environment != abi.OriginalEnvironment || first.Order != abi.Alone {
				t.Errorf("the first experiment is %s", first.What())
			}
			if result.Final.Classification != tc.label || !strings.HasPrefix(result.Verdict.Reasoning, tc.opening) || result.Proposal != nil {
				t.Errorf("%+v: %s, and proposes %+v", result.Final, result.Verdict.Reasoning, result.Proposal)
			}
		})
	}
}

// slowHead is a laboratory in which the rerun of head takes longest.
type slowHead struct{ laboratory }

func (s slowHead) Offers(ctx context.Context, c *abi.Case) ([]abi.ExperimentOffer, error) {
	offers, err := s.laboratory.Offers(ctx, c)
	for i := range offers {
		if odds.IsRerun(&offers[i].Experiment) {
			offers[i].Seconds = 300
		}
	}
	return offers, err
}

// The brief on an open case names the experiment that would tell most, what it takes and why it was not run, also where no module
// came to a verdict. A replay says the same.
func TestAccept_EX1_TheBriefNamesTheExperimentThatWasNotRun(t *testing.T) {
	t.Parallel()
	p := must.Get(module.LoadProfile(filepath.Join("..", "pipelines", "profiles", "go-test.yaml")))(t)
	p.BaseRates, p.Sources, p.Signals, p.Light = nil, nil, nil, nil // nothing but experiments tells anything
	dark := shipped(t)
	for i := range dark.Personas {
		dark.Personas[i].Grants = nil
	}
	c := abi.Case{
		ID: "total", Subject: "TestTotal fails in example.com/shop", Labels: []string{"pb001", "ab001", "si001", "nd001"},
		Light:     &abi.LightAnswer{Classification: "pb001", Confidence: 0.7},
		Documents: []abi.Document{{Name: "log", Text: "--- FAIL: TestTotal (2.00s)\nFAIL\texample.com/shop\t2.1s\n"}},
	}
	unable := func(abi.Experiment) abi.ExperimentOutcome { return abi.OutcomeNotRun }
	mistrial := behave(t, "specter", "verdict", "trap")
	for _, tc := range []struct {
		name    string
		config  host.Config
		why     string
		outcome trial.Status
	}{
		{"without permission", host.Config{}, "experiments are off", trial.Acquitted},
		{"without a grant", host.Config{Pipeline: dark, Experiments: laboratory{}}, "the pipeline grants experiments to no persona", trial.Acquitted},
		{"where nothing can be run", host.Config{Experiments: laboratory{why: "no git repository"}}, "no git repository", trial.Acquitted},
		{"where one could not be run", host.Config{Experiments: laboratory{world: unable}}, "the budget is used up", trial.Acquitted},
		{"where a module breaks", host.Config{Pipeline: mistrial}, "experiments are off", trial.Mistrial},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			tc.config.Profile = p
			result := try(t, open(t, tc.config), c).Result
			if result.Final.Status != tc.outcome || result.GapBrief == nil || result.Proposal == nil {
				t.Fatalf("%+v", result)
			}
			if got := result.Proposal; got.WhyNot != tc.why || got.Seconds < 2 || got.Command != "" {
				t.Errorf("%+v", got)
			}
			gap := gapOf(result.GapBrief, "experiment")
			if !strings.HasSuffix(gap.Description, tc.why) || gap.SuggestedAction != result.Proposal.Action() {
				t.Errorf("%+v", result.GapBrief.Gaps)
			}
		})
	}
	without := c
	without.Subject, without.Documents = "the shop is slow", nil
	if result := try(t, open(t, host.Config{Profile: p}), without).Result; result.Proposal != nil {
		t.Errorf("a case without a test: %+v", result.Proposal)
	}
}
