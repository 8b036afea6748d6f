package trial

import (
	"strconv"

	"github.com/shadowcourt/shadowcourt/abi"
)

// Experiment is one that was run in a trial, and what it showed.
type Experiment struct {
	// Node and Persona that asked for it.
	Node    string `json:"node"`
	Persona string `json:"persona"`
	// The factors.
	Product     abi.TreeRevision   `json:"product"`
	Tests       abi.TreeRevision   `json:"tests"`
	Environment abi.RunEnvironment `json:"environment"`
	Order       abi.RunOrder       `json:"order"`
	Runs        int                `json:"runs"`
	// The result: Passed, Same and Other count runs.
	Outcome abi.ExperimentOutcome `json:"outcome"`
	Passed  int                   `json:"passed"`
	Same    int                   `json:"same"`
	Other   int                   `json:"other"`
	Detail  string                `json:"detail,omitempty"`
}

// NewExperiment is a result as programs get it.
func NewExperiment(node, persona string, r *abi.ExperimentResult) Experiment {
	e := &r.Experiment
	return Experiment{
		Node: node, Persona: persona, Product: e.Product, Tests: e.Tests, Environment: e.Environment, Order: e.Order, Runs: e.Runs,
		Outcome: r.Outcome, Passed: r.Passed, Same: r.Same, Other: r.Other, Detail: r.Detail,
	}
}

// What says in words what was run: "this tree, 5 times on a busy machine".
func (e *Experiment) What() string {
	what := "this tree"
	switch {
	case e.Product == abi.Green && e.Tests == abi.Green:
		what = "the last green tree"
	case e.Product == abi.Green:
		what = "the last green product with these tests"
	case e.Tests == abi.Green:
		what = "this product with the last green tests"
	}
	if e.Runs == 1 {
		what += ", once"
	} else {
		what += ", " + strconv.Itoa(e.Runs) + " times"
	}
	switch e.Environment {
	case abi.StarvedEnvironment:
		what += " on a busy machine"
	case abi.CleanEnvironment:
		what += " in a clean environment"
	case abi.OriginalEnvironment:
	}
	if e.Order == abi.OriginalOrder {
		what += ", with all tests of the package"
	}
	return what
}

// Showed says in words what came of it: "4 passed, 1 failed in the same way".
func (e *Experiment) Showed() string {
	switch e.Outcome {
	case abi.OutcomeNotBuilt:
		return "does not build"
	case abi.OutcomeNoTest:
		return "does not have the test"
	case abi.OutcomeNotRun:
		return "was not run"
	case abi.OutcomePassed, abi.OutcomeSame, abi.OutcomeOther, abi.OutcomeMixed:
	}
	said := ""
	for _, part := range [...]struct {
		n    int
		what string
	}{{e.Passed, "passed"}, {e.Same, "failed in the same way"}, {e.Other, "failed in another way"}} {
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
