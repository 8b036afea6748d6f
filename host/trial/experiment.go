package trial

import "github.com/shadowcourt/shadowcourt/abi"

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
func (e *Experiment) What() string { return e.result().Experiment.Words() }

// Showed says in words what came of it: "4 passed, 1 failed in the same way".
func (e *Experiment) Showed() string { return e.result().Words() }

func (e *Experiment) result() *abi.ExperimentResult {
	return &abi.ExperimentResult{
		Experiment: abi.Experiment{Product: e.Product, Tests: e.Tests, Environment: e.Environment, Order: e.Order, Runs: e.Runs},
		Outcome:    e.Outcome, Passed: e.Passed, Same: e.Same, Other: e.Other, Detail: e.Detail,
	}
}
