package judge

import (
	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/lab/internal/history"
)

// AlibiLabels are the labels of the alibi.
func AlibiLabels() []string {
	return []string{
		string(history.Caused), string(history.Preexisting), string(history.ByChance), string(history.Surroundings), string(history.InMerge),
	}
}

// ShownOf is what all runs of a case showed. The tree that failed is head, and the one that it is compared with the base.
func ShownOf(c *history.Case) []abi.ExperimentResult {
	var out []abi.ExperimentResult
	tree, before := underTest(c)
	for i := range c.Cells {
		k := &c.Cells[i]
		is := func(r history.Role) bool { return r == tree || r == before }
		if !is(k.Product) || !is(k.Tests) || k.Environment == history.Restored {
			continue
		}
		for runs := k.Runs; ; {
			part := *k
			part.Runs = runs[:min(len(runs), mostRuns)]
			out = append(out, shownOf(c, &part, before))
			if runs = runs[len(part.Runs):]; runs == "" {
				break
			}
		}
	}
	return out
}

// mostRuns are those that one result may have.
const mostRuns = 100

func shownOf(c *history.Case, k *history.Cell, before history.Role) abi.ExperimentResult {
	e := abi.Experiment{Product: abi.Head, Tests: abi.Head, Environment: k.Environment, Order: k.Order, Runs: max(len(k.Runs), 1)}
	if k.Product == before {
		e.Product = abi.Base
	}
	if k.Tests == before {
		e.Tests = abi.Base
	}
	base := e.Product == abi.Base && e.Tests == abi.Base
	r := abi.ExperimentResult{Experiment: e, Test: k.Test, Loaded: loadedOf(c.Loaded[k.Product])}
	r.Passed, r.Same, r.Other, _ = k.Count(0)
	switch {
	case r.Passed+r.Same+r.Other > 0:
		r.Outcome = abi.OutcomeMixed
	case base && lacks(k):
		r.Outcome = abi.OutcomeNoTest
	default:
		r.Outcome = abi.OutcomeNotRun
	}
	return r
}

func loadedOf(l history.Loaded) abi.LoadedCode {
	switch l {
	case history.Certified:
		return abi.Certified
	case history.Contradicted:
		return abi.Contradicted
	case history.NotCertified:
		return abi.NotCertified
	}
	return ""
}
