package host_test

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/profile"
	"github.com/shadowcourt/shadowcourt/host/trial"
)

// laboratory offers the experiments of a profile, and answers as a world with one cause would.
type laboratory struct {
	profile *abi.Profile
	world   func(abi.Experiment) abi.ExperimentOutcome
}

func (l laboratory) Offers(context.Context, *abi.Case) ([]abi.ExperimentOffer, error) {
	var offers []abi.ExperimentOffer
	for i := range l.profile.Experiments {
		e := l.profile.Experiments[i].Experiment
		offers = append(offers, abi.ExperimentOffer{Experiment: e, Seconds: 5 + float64(e.Runs)})
	}
	return offers, nil
}

func (l laboratory) Run(_ context.Context, _ *abi.Case, e abi.Experiment) (abi.ExperimentResult, error) {
	r := abi.ExperimentResult{Experiment: e, Outcome: l.world(e)}
	switch r.Outcome {
	case abi.OutcomePassed:
		r.Passed = e.Runs
	case abi.OutcomeMixed:
		r.Passed, r.Same = 1, e.Runs-1
	default:
		r.Same = e.Runs
	}
	return r, nil
}

func (laboratory) Digest() string { return "the same world" }

// The shipped personas ask for experiments, and what these show decides the case against Light and the log.
func TestAccept_EX7_ThePersonasAskUntilTheCaseIsSettled(t *testing.T) {
	t.Parallel()
	p, err := profile.Load(filepath.Join("..", "pipelines", "profiles", "go-test.yaml"))
	if err != nil {
		t.Fatal(err)
	}
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
		{"the environment", fails(func(abi.Experiment) bool { return true }), "si001"},
		{"a change of the tests", fails(func(e abi.Experiment) bool { return e.Tests == abi.Head }), "ab001"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			c := abi.Case{
				ID: "total", Subject: "TestTotal fails", Labels: []string{"pb001", "ab001", "si001", "nd001"},
				Light:     &abi.LightAnswer{Classification: "pb001", Confidence: 0.7},
				Evidence:  []abi.Evidence{{SourceRef: "assertion:log:L1", Content: "cart_test.go:12: got 1, want 2", RelevanceConfidence: 0.6, Supports: "pb001", Element: abi.Water}},
				Documents: []abi.Document{{Name: "log", Text: "cart_test.go:12: got 1, want 2\n--- FAIL: TestTotal (0.00s)\n"}},
			}
			h := open(t, host.Config{Profile: p, Experiments: laboratory{p, tc.world}})
			result := try(t, h, c).Result
			if result.Final.Status != trial.Amended || result.Final.Classification != tc.label || result.Final.Confidence < 0.8 {
				t.Errorf("%+v by %+v", result.Final, result.Experiments)
			}
			if len(result.Experiments) == 0 || result.Experiments[0].Persona != "bulwark" || len(result.Experiments) == len(p.Experiments) {
				t.Errorf("of %d experiments were run: %+v", len(p.Experiments), result.Experiments)
			}
			if without := try(t, unable, c).Result; without.Final.Classification == tc.label || len(without.Experiments) > 0 {
				t.Errorf("without experiments %+v", without.Final)
			}
		})
	}
}
