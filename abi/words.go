package abi

import "strconv"

// Words say what is run: "this tree, 5 times on a busy machine".
func (e Experiment) Words() string {
	what := treeWords(e.Product)
	if e.Product != e.Tests {
		what = partWords(e.Product, "product") + " with " + partWords(e.Tests, "tests")
	}
	if e.Runs == 1 {
		what += ", once"
	} else {
		what += ", " + strconv.Itoa(e.Runs) + " times"
	}
	switch e.Environment {
	case StarvedEnvironment:
		what += " on a busy machine"
	case CleanEnvironment:
		what += " in a clean environment"
	case CoverageEnvironment:
		what += " with coverage measured"
	case OriginalEnvironment:
	}
	if e.Order == OriginalOrder {
		what += ", with all tests of the package"
	}
	return what
}

func treeWords(t TreeRevision) string {
	switch t {
	case Base:
		return "the base"
	case Target:
		return "the target"
	case Merge:
		return "the merge with the target"
	case Head:
	}
	return "this tree"
}

func partWords(t TreeRevision, part string) string {
	if t != Head {
		return "the " + part + " of " + treeWords(t)
	}
	if part == "tests" {
		return "these tests"
	}
	return "this " + part
}

// Words say what came of it: "4 passed, 1 failed in the same way", or "2 passed, 3 not made" where a budget was used up.
func (r *ExperimentResult) Words() string {
	switch r.Outcome {
	case OutcomeNotBuilt:
		return "does not build"
	case OutcomeNoTest:
		return "does not have the test"
	case OutcomeNotRun:
		if r.Made() == 0 {
			return "was not run"
		}
		return "does not count: " + r.runs()
	case OutcomePassed, OutcomeSame, OutcomeOther, OutcomeMixed:
	}
	said := r.runs()
	if made := r.Made(); made < r.Experiment.Runs {
		said += ", " + strconv.Itoa(r.Experiment.Runs-made) + " not made"
	}
	return said
}

// Made is how many runs came to an end that says something.
func (r *ExperimentResult) Made() int { return r.Passed + r.Same + r.Other }

// runs says how many runs ended in which way.
func (r *ExperimentResult) runs() string {
	said := ""
	for _, part := range [...]struct {
		n    int
		what string
	}{{r.Passed, "passed"}, {r.Same, "failed in the same way"}, {r.Other, "failed in another way"}} {
		if part.n == 0 {
			continue
		}
		if said != "" {
			said += ", "
		}
		said += strconv.Itoa(part.n) + " " + part.what
	}
	return said
}
