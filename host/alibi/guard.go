package alibi

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/experiment/plan"
	"github.com/shadowcourt/shadowcourt/host/trial"
)

// blame is how probable it has to be that the change did it where the runs alone do not tell.
const blame = 0.97

// of is [Of] with what the outcome model makes of the runs, whoever judged, and with a stricter price of a false alibi where one is asked for.
func (l *Light) of(t *trial.Trial) *Answer {
	price := min(l.maxFalse, MaxFalse)
	a := of(t, price)
	results := resultsOf(a.Runs)
	yours := yoursOf(t.Case.Labels, l.probabilities(t.Case.Labels, results))
	if a.Label == Caused && max(a.Confidence, yours) < blame {
		undecided := *t
		undecided.Result.Final.Classification = ""
		a = of(&undecided, price)
	}
	if lock := seenIn(t).chance(price); a.Verdict == IsOpen && lock.about != nil && lock.about.base.all() > 0 && !lock.closed && a.Lock == Chance && yours < blame {
		a.Why += fmt.Sprintf("; the change is to blame with %.0f%%, and %.0f%% would do", math.Floor(100*yours), 100*blame)
	}
	return a
}

// Settle reads a trial. While the answer is open, it runs the tree again that has fewer runs where the test fails, until the lock of chance closes or
// the runs alone tell, or nothing more is on offer. The final label of the trial becomes that of the answer.
func (l *Light) Settle(ctx context.Context, t *trial.Trial) (*Answer, error) {
	t.Result.Experiments = l.all(t)
	for {
		a := l.of(t)
		e, err := l.wanted(ctx, t, a)
		if err != nil {
			return nil, err
		}
		if e == nil {
			t.Result.Final = a.Final(t.Result.Final)
			return a, nil
		}
		r, err := l.experiments.Run(ctx, &t.Case, *e)
		if err != nil {
			return nil, err
		}
		t.Result.Experiments = append(t.Result.Experiments, trial.NewExperiment("", "", &r))
	}
}

// wanted is the experiment that an open lock of chance wants next, an alibi of a test that was run alone, or a test that fails otherwise alone; nil for none.
func (l *Light) wanted(ctx context.Context, t *trial.Trial, a *Answer) (*abi.Experiment, error) {
	most := 50 // a further step of 300 takes minutes and decides few
	c := seenIn(t)
	lock := c.chance(min(l.maxFalse, MaxFalse))
	want := abi.Experiment{Product: lock.fewer, Tests: lock.fewer, Environment: lock.environment, Order: lock.order}
	switch {
	case a.Verdict == NotYours && c.failsAlone() && !ranAround(a.Runs, abi.Base): // those around it may have set up on the base what it needs
		want.Product, want.Tests, want.Order = abi.Base, abi.Base, around.order
	case a.Verdict == NotYours && c.fewerAround() != "" && !stopped(a.Runs):
		tree := c.fewerAround()
		want, most = abi.Experiment{Product: tree, Tests: tree, Environment: around.environment, Order: around.order}, least
	case a.Verdict == NotYours && c.failsAlone() && c.leftOut && !ranAround(a.Runs, abi.Head):
		want.Product, want.Tests, want.Order = abi.Head, abi.Head, around.order
	case a.Verdict == IsOpen && lock.about == nil && a.says(plan.Otherwise) && !ranAround(a.Runs, abi.Head): // it may fail as reported with them
		want = abi.Experiment{Product: abi.Head, Tests: abi.Head, Environment: around.environment, Order: around.order}
	case a.Verdict == IsOpen && lock.about == nil && c.mayComeBack() && !stopped(a.Runs):
		want = abi.Experiment{Product: abi.Head, Tests: abi.Head, Environment: alone.environment, Order: alone.order}
	case c.head.all() == 0 && c.head.among.same > 0 && !ranAround(a.Runs, abi.Base):
		want.Product, want.Tests = abi.Base, abi.Base
	case a.Verdict != IsOpen || lock.about == nil || lock.closed || c.unbuilt || c.notBuilt || c.foreign() || c.alike(&lock) || stopped(a.Runs):
		return nil, nil //nolint:nilnil // nothing more would tell
	}
	offers, err := l.experiments.Offers(ctx, &t.Case)
	e := next(offers, resultsOf(a.Runs), want)
	if e != nil && e.Runs > most {
		e = nil
	}
	return e, err
}

// least is how many runs with the tests around it each tree has of a test that passes at times: they may make it fail more often since the change.
const least = 7

// fewerAround is the tree that has fewer than these; empty for none.
func (c *seen) fewerAround() abi.TreeRevision {
	s, alone := c.in[around], c.in[alone]
	atTimes := alone != nil && alone.base.same > 0 && alone.head.same > 0 && alone.head.passed+alone.base.passed > 0
	if s == nil {
		s = &sides{}
	}
	if !atTimes && (s.base.passed == 0 || s.base.same == 0) || min(s.head.all(), s.base.all()) >= least {
		return ""
	}
	return s.fewer()
}

// mayComeBack says whether a failure that did not come back here may do so in further runs: it came back on the base, or a tree fails at times in other words,
// and more failures show which of these are drawn.
func (c *seen) mayComeBack() bool {
	s := c.in[alone]
	if s == nil || s.head.passed == 0 {
		return false
	}
	const enough = 20 // a failure of one in five comes twice in them at 93%
	atTimes := s.head.other > 0 || s.base.passed > 0 && s.base.failed() > 0
	return c.base.same > 0 && s.head.other == 0 || atTimes && s.head.all() < enough
}

func ranAround(runs []trial.Experiment, tree abi.TreeRevision) bool {
	return slices.ContainsFunc(runs, func(e trial.Experiment) bool {
		return e.Product == tree && e.Tests == tree && setting{e.Environment, e.Order} == around
	})
}

// stopped says whether the last runs that were asked for were not made, as when the time is used up. A clean environment may lack what others have.
func stopped(runs []trial.Experiment) bool {
	return len(runs) > 0 && runs[len(runs)-1].Outcome == abi.OutcomeNotRun && runs[len(runs)-1].Environment != abi.CleanEnvironment
}

// Final is what becomes of the final answer of a trial, which gets the label and the confidence of this answer.
func (a *Answer) Final(f trial.Final) trial.Final {
	switch {
	case f.Classification == a.Label:
	case a.Label == "":
		f.Status = trial.Acquitted
	default:
		f.Status = trial.Amended
	}
	f.Classification, f.Confidence = a.Label, a.Confidence
	return f
}

// all are the experiments of Light and of a trial, each once.
func (l *Light) all(t *trial.Trial) []trial.Experiment {
	var list []trial.Experiment
	for _, r := range l.Made(t.Case.ID) {
		list = append(list, trial.NewExperiment("", byLight, &r))
	}
	for i := range t.Result.Experiments {
		e := t.Result.Experiments[i].Result().Experiment
		if !ran(list, &e) {
			list = append(list, t.Result.Experiments[i])
		}
	}
	return list
}

func ran(list []trial.Experiment, e *abi.Experiment) bool {
	return slices.ContainsFunc(list, func(o trial.Experiment) bool { return o.Result().Experiment == *e })
}

func resultsOf(runs []trial.Experiment) []abi.ExperimentResult {
	results := make([]abi.ExperimentResult, len(runs))
	for i := range runs {
		results[i] = runs[i].Result()
	}
	return results
}

// yoursOf is what the labels that are yours have together.
func yoursOf(labels []string, p []float64) (sum float64) {
	for j, label := range labels {
		if Yours(label) {
			sum += p[j]
		}
	}
	return sum
}

// Refuse makes an answer an open one.
func (a *Answer) Refuse(why string) {
	a.Verdict, a.Label, a.Part, a.Why = IsOpen, "", "", why
}

// unbased says why nobody knows whether the base fails.
func (c *seen) unbased() string {
	switch {
	case c.contradicted:
		return c.notOfBase
	case c.notBuilt:
		return c.onBase() + ", so that nobody knows whether it failed there"
	case c.baseWhy != "":
		return "the base can't be run: " + c.baseWhy
	default:
		return "the base was not run"
	}
}

// bears says whether the runs of a case show a label that is yours at all, however probable it is.
func bears(label string, runs []trial.Experiment) bool {
	trees := map[abi.TreeRevision]tally{}
	lacks := false // the target does not have the test
	for i := range runs {
		e := &runs[i]
		lacks = lacks || e.Product == abi.Target && e.Outcome == abi.OutcomeNoTest
		if e.Product == e.Tests {
			n := trees[e.Product]
			n.add(e)
			trees[e.Product] = n
		}
	}
	switch label {
	case Caused:
		head, merge := trees[abi.Head], trees[abi.Merge]
		return head.failed()+merge.failed() > 0
	case Conflict: // what fails on the target alone is no conflict with it
		target := trees[abi.Target]
		return (lacks || target.passed > 0) && target.failed() == 0
	default:
		return true
	}
}
