package trial

import (
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
)

// Experiment is one that was run in a trial, and what it showed.
type Experiment struct {
	// Node and Persona that asked for it.
	Node    string `json:"node"`
	Persona string `json:"persona"`
	Factors
	// The result: Passed, Same and Other count runs.
	Outcome abi.ExperimentOutcome `json:"outcome"`
	Passed  int                   `json:"passed"`
	Same    int                   `json:"same"`
	Other   int                   `json:"other"`
	Detail  string                `json:"detail,omitempty"`
	// Test says how the failing test differs from the test of green, if that is known.
	Test abi.TestChange `json:"test,omitempty"`
}

// Factors say what is run.
type Factors struct {
	Product     abi.TreeRevision   `json:"product"`
	Tests       abi.TreeRevision   `json:"tests"`
	Environment abi.RunEnvironment `json:"environment"`
	Order       abi.RunOrder       `json:"order"`
	Runs        int                `json:"runs"`
}

func factorsOf(e *abi.Experiment) Factors {
	return Factors{e.Product, e.Tests, e.Environment, e.Order, e.Runs}
}

func (f *Factors) experiment() abi.Experiment {
	return abi.Experiment{Product: f.Product, Tests: f.Tests, Environment: f.Environment, Order: f.Order, Runs: f.Runs}
}

// What says in words what is run: "this tree, 5 times on a busy machine".
func (f *Factors) What() string { return f.experiment().Words() }

// NewExperiment is a result as programs get it.
func NewExperiment(node, persona string, r *abi.ExperimentResult) Experiment {
	return Experiment{
		Node: node, Persona: persona, Factors: factorsOf(&r.Experiment),
		Outcome: r.Outcome, Passed: r.Passed, Same: r.Same, Other: r.Other, Detail: r.Detail, Test: r.Test,
	}
}

// Showed says in words what came of it: "4 passed, 1 failed in the same way".
func (e *Experiment) Showed() string {
	r := e.Result()
	return r.Words()
}

// Result is what the host told the modules.
func (e *Experiment) Result() abi.ExperimentResult {
	return abi.ExperimentResult{
		Experiment: e.experiment(), Outcome: e.Outcome, Passed: e.Passed, Same: e.Same, Other: e.Other, Detail: e.Detail, Test: e.Test,
	}
}

// Why is the first line of the detail, with the next one where it only announces that.
func (e *Experiment) Why() string {
	why, rest, _ := strings.Cut(strings.TrimSpace(e.Detail), "\n")
	if why = strings.TrimSpace(why); strings.HasSuffix(why, ":") {
		next, _, _ := strings.Cut(strings.TrimSpace(rest), "\n")
		why = strings.TrimSuffix(strings.TrimSpace(why+" "+strings.TrimSpace(next)), ":")
	}
	return why
}
