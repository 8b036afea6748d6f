package alibi

import (
	"fmt"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/odds"
	"github.com/shadowcourt/shadowcourt/host/trial"
)

// of is [Of] at the price of a false alibi, whoever judged: an answer that is not yours stays open where the base was not run, or where the runs
// make it too probable that the change did it.
func (l *Light) of(t *trial.Trial) *Answer {
	a, label := Of(t), t.Result.Final.Classification
	if label == "" || Yours(label) {
		return a
	}
	results := make([]abi.ExperimentResult, len(a.Runs))
	for i := range a.Runs {
		results[i] = a.Runs[i].Result()
	}
	if !odds.Based(results) {
		if c := counts(a.Runs); a.Verdict == NotYours {
			a.Refuse(c.unbased())
		}
		return a
	}
	if yours := l.yours(t.Case.Labels, results); yours > l.maxFalse {
		who := "Light"
		if a.Tried {
			who = "the judge"
		}
		a.Refuse(fmt.Sprintf("%s calls it %s; by the runs the change is to blame with %s", who, label, percent(yours)))
	}
	return a
}

// yours is how probable it is by runs that the change did it. No judge has to weigh as the shipped one does: all other labels get what the word of
// Light counts at most beside runs.
func (l *Light) yours(labels []string, results []abi.ExperimentResult) float64 {
	nats := make([]float64, len(labels))
	odds.AddBaseRates(nats, labels, l.profile)
	for j, label := range labels {
		if !Yours(label) {
			nats[j] += odds.UnmeasuredLight
		}
	}
	return yoursOf(labels, odds.NewForecast(labels, nats, 0, l.profile, results).Now)
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

// percent is a probability in words; only what is certain is 100%.
func percent(p float64) string {
	if p > 0.99 && p < 1 {
		return "more than 99%"
	}
	return fmt.Sprintf("%.0f%%", 100*p)
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
	case c.absent || c.notBuilt:
		return c.onBase()
	case c.baseWhy != "":
		return "the base can't be run: " + c.baseWhy
	default:
		return "the base was not run"
	}
}

// bears says whether the runs of a case show its label at all, however probable it is: a failure on the base that is preexisting, one of the
// change that is caused by it, and of a flaky test both outcomes, or one without the change.
func bears(label string, runs []trial.Experiment) bool {
	trees := map[abi.TreeRevision]tally{}
	lacks := false // the target does not have the test
	for i := range runs {
		e := &runs[i]
		lacks = lacks || e.Product == abi.Target && e.Outcome == abi.OutcomeNoTest
		if e.Product != e.Tests || e.Product == abi.Base && e.Loaded == abi.Contradicted {
			continue
		}
		n := trees[e.Product]
		n.add(e)
		trees[e.Product] = n
	}
	head, merge := trees[abi.Head], trees[abi.Merge]
	older := trees[abi.Base].failed() + trees[abi.Target].failed()
	switch label {
	case Caused:
		return head.failed()+merge.failed() > 0
	case Preexisting:
		return trees[abi.Base].failed() > 0
	case Conflict: // what fails on the target alone is no conflict with it
		return (lacks || trees[abi.Target].passed > 0) && trees[abi.Target].failed() == 0
	case Flaky:
		return older > 0 || head.passed > 0 && head.failed() > 0 || merge.passed > 0 && merge.failed() > 0
	default:
		return true
	}
}
