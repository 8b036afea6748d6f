package judge

import (
	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/lab/internal/history"
	"github.com/shadowcourt/shadowcourt/host/trial"
)

// alibiLabels are the labels of the alibi.
var alibiLabels = []string{
	string(history.Caused), string(history.Preexisting), string(history.ByChance), string(history.Surroundings), string(history.InMerge),
}

// Attributed is a case as a line of a docket whose labels are those of the alibi, or the four.
type Attributed struct {
	ID      string   `json:"id"`
	Group   string   `json:"group"`
	Subject string   `json:"subject"`
	Labels  []string `json:"labels"`
	// A docket has these fields; a model of outcomes reads no text.
	Evidence  []string `json:"evidence"`
	Documents []string `json:"documents"`
	Truth     struct {
		Classification string `json:"classification"`
	} `json:"truth"`
}

// AttributedOf gives the line of a case of a repository; four has it under the four labels. It is nil where the label is not known.
func AttributedOf(c *history.Case, repository string, four bool) *Attributed {
	a := &Attributed{ID: c.ID, Group: repository, Subject: c.Failure.Test + " fails in " + c.Failure.Group, Labels: alibiLabels, Evidence: []string{}, Documents: []string{}}
	a.Truth.Classification = string(c.Truth.Attribution)
	if four {
		a.Labels = nil
		for _, l := range fourLabels() {
			a.Labels = append(a.Labels, l.label)
		}
		if a.Truth.Classification = labelOf(c); a.Truth.Classification == "" {
			return nil
		}
	}
	return a
}

// Shown is what all runs of a case showed, as a line of results.
type Shown struct {
	ID          string             `json:"id"`
	Experiments []trial.Experiment `json:"experiments"`
}

// ShownOf gives the line of a case. The tree that failed is head, and the one that it is compared with the base.
func ShownOf(c *history.Case) *Shown {
	out := &Shown{ID: c.ID, Experiments: []trial.Experiment{}}
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
			out.Experiments = append(out.Experiments, shownOf(c, &part, before))
			if runs = runs[len(part.Runs):]; runs == "" {
				break
			}
		}
	}
	return out
}

// mostRuns are those that one result may have.
const mostRuns = 100

func shownOf(c *history.Case, k *history.Cell, before history.Role) trial.Experiment {
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
	return trial.NewExperiment("", "", &r)
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
