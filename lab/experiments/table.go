package main

import (
	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/docket/gotest"
)

// decide is a fixed decision table over what experiments have shown: mixed on head, flaky; green fails in the same way, the
// environment; the product of head fails the tests of green in the same way, the product; the product of green fails the tests of
// head in the same way, the tests. Everything else is undecided: "". With counted the failure of the case counts as one more run on
// head, so that a rerun that passes makes it flaky.
func decide(results []abi.ExperimentResult, counted bool) string {
	passed, failed := 0, 0
	same := map[[2]abi.TreeRevision]bool{}
	for i := range results {
		r := &results[i]
		e := r.Experiment
		if e.Product == abi.Head && e.Tests == abi.Head {
			if e.Environment != abi.CleanEnvironment {
				passed += r.Passed
				failed += r.Same + r.Other
			}
			continue
		}
		same[[2]abi.TreeRevision{e.Product, e.Tests}] = r.Outcome == abi.OutcomeSame
	}
	if counted {
		failed++
	}
	product, tests := same[[2]abi.TreeRevision{abi.Head, abi.Base}], same[[2]abi.TreeRevision{abi.Base, abi.Head}]
	switch {
	case passed > 0 && failed > 0:
		return gotest.NoDefect
	case same[[2]abi.TreeRevision{abi.Base, abi.Base}]:
		return gotest.SystemIssue
	case product && !tests:
		return gotest.ProductBug
	case tests && !product:
		return gotest.AutomationBug
	default:
		return ""
	}
}
