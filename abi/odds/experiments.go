package odds

import (
	"slices"

	"github.com/shadowcourt/shadowcourt/abi"
)

// Tells says whether an experiment can tell anything by a profile.
func Tells(p *abi.Profile, e *abi.Experiment) bool {
	if p == nil || p.Outcomes == nil {
		return false
	}
	for i := range p.Outcomes.Patterns {
		if HasCell(&p.Outcomes.Patterns[i], e) {
			return true
		}
	}
	return false
}

// AddExperiments adds what the results of experiments tell of the labels, by the profile's outcome model ([abi.OutcomeModel]); nothing
// without one. What they tell depends on all of them together: two trees that show one fact count little more than one of them.
func AddExperiments(to []float64, labels []string, p *abi.Profile, results []abi.ExperimentResult) {
	if p == nil || p.Outcomes == nil {
		return
	}
	for j, nats := range newBelief(labels, p.Outcomes).told(results) {
		to[j] += nats
	}
}

// Objections are the nats by which the i-th result speaks against each label beside all others, 0 for the label that it fits best; nil
// where it tells nothing.
func Objections(labels []string, p *abi.Profile, results []abi.ExperimentResult, i int) []float64 {
	if p == nil || p.Outcomes == nil || results[i].Outcome == abi.OutcomeNotRun {
		return nil
	}
	b := newBelief(labels, p.Outcomes)
	with, without := b.told(results), b.told(slices.Delete(slices.Clone(results), i, i+1))
	for j := range with {
		with[j] -= without[j]
	}
	most := slices.Max(with)
	for j := range with {
		with[j] -= most
	}
	return with
}

// BaseFails is the result by which the failing test fails on the base, the revision that was named as the base, as well; nil where it
// passes there, or nothing is known. Such a failure is older than the change, or it comes from the environment, or from a base that
// was broken in another way: which of these, no run of these trees tells.
func BaseFails(results []abi.ExperimentResult) *abi.ExperimentResult {
	for i := range results {
		r := &results[i]
		if isBase(&r.Experiment) && (r.Outcome == abi.OutcomeSame || r.Outcome == abi.OutcomeOther) {
			return r
		}
	}
	return nil
}

// IsRerun says whether an experiment runs the failing test again as it failed: by itself, on head, in its own environment. It comes
// before all others, see [Choose].
func IsRerun(e *abi.Experiment) bool {
	return e.Product == abi.Head && e.Tests == abi.Head && e.Environment == abi.OriginalEnvironment && e.Order == abi.Alone
}

func isBase(e *abi.Experiment) bool { return e.Product == abi.Base && e.Tests == abi.Base }

// NotReproduced says whether the failing test was run again on head in its own environment, and never failed as the case did. Runs count
// that tell nothing by themselves, too, such as those that fail because the test lacks a file.
//
// Such a failure was chance, or came from what was otherwise in the failing run. Which of these, no rerun shows, unless another environment
// mends what fails in this one: then false is returned.
func NotReproduced(results []abi.ExperimentResult) bool {
	own, mended := 0, false
	passed := false
	for i := range results {
		switch r := &results[i]; {
		case !onHead(r):
		case r.Experiment.Environment == abi.CleanEnvironment:
			mended = mended || r.Outcome == abi.OutcomePassed
		case r.Experiment.Environment == abi.OriginalEnvironment && (r.Same > 0 || r.Outcome == abi.OutcomeSame):
			return false
		case r.Experiment.Environment == abi.OriginalEnvironment:
			own, passed = own+r.Made(), passed || r.Passed > 0
		}
	}
	return own > 0 && (passed || !mended)
}

func onHead(r *abi.ExperimentResult) bool {
	return r.Experiment.Product == abi.Head && r.Experiment.Tests == abi.Head
}
