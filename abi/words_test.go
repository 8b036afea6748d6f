package abi_test

import (
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
)

func TestWordsOfResults(t *testing.T) {
	t.Parallel()
	five := abi.Experiment{Product: abi.Head, Tests: abi.Head, Environment: abi.OriginalEnvironment, Order: abi.Alone, Runs: 5}
	for _, tc := range []struct {
		result abi.ExperimentResult
		want   string
	}{
		{abi.ExperimentResult{Experiment: five, Outcome: abi.OutcomePassed, Passed: 5}, "5 passed"},
		{abi.ExperimentResult{Experiment: five, Outcome: abi.OutcomeSame, Same: 2}, "2 failed in the same way, 3 not made"},
		{abi.ExperimentResult{Experiment: five, Outcome: abi.OutcomeOther, Same: 1, Other: 4}, "1 failed in the same way, 4 failed in another way"},
		{abi.ExperimentResult{Experiment: five, Outcome: abi.OutcomeMixed, Passed: 1, Same: 1}, "1 passed, 1 failed in the same way, 3 not made"},
		{abi.ExperimentResult{Experiment: five, Outcome: abi.OutcomeNotRun, Detail: "why"}, "was not run"},
	} {
		if got := tc.result.Words(); got != tc.want {
			t.Errorf("%+v: %q, want %q", tc.result, got, tc.want)
		}
	}
}
