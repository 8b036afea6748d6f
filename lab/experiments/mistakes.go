package main

import (
	"fmt"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/lab/experiments/cases"
)

// mistake says why the court with all experiments does not have a case right.
type mistake string

// The mistakes, in the order in which they are looked for.
const (
	threshold  mistake = "threshold: Light was certain, so that there was no trial"
	noOffers   mistake = "no experiments: the failing test could not be run"
	budget     mistake = "budget: an experiment that was asked for was not run"
	misleading mistake = "outcomes: all of them together point to another label"
	notTelling mistake = "outcomes: all of them together decide nothing"
	selection  mistake = "selection: what was not asked for would have decided it"
	weighing   mistake = "weighing: the outcomes that it had decide it, the court does not follow"
)

func mistakesInOrder() []mistake {
	return []mistake{threshold, noOffers, budget, misleading, notTelling, selection, weighing}
}

// why finds the mistake of a case that the court does not have right.
func why(t *tried) mistake {
	a := t.Answers[everyExperiment]
	switch {
	case !a.Activated:
		return threshold
	case len(t.Results) == 0:
		return noOffers
	}
	for _, e := range a.Experiments {
		if e.Outcome == abi.OutcomeNotRun {
			return budget
		}
	}
	counted := decide(t.Results, true)
	switch {
	case counted == "":
		return notTelling
	case counted != t.Truth:
		return misleading
	}
	var had []abi.ExperimentResult
	for i := range t.Results {
		for _, e := range a.Experiments {
			x := t.Results[i].Experiment
			if e.Product == x.Product && e.Tests == x.Tests && e.Environment == x.Environment && e.Order == x.Order {
				had = append(had, t.Results[i])
			}
		}
	}
	if decide(had, true) != t.Truth {
		return selection
	}
	return weighing
}

// mistakes counts the mistakes of the court with all experiments for each cause, and names the cases.
func mistakes(list []tried) string {
	var b strings.Builder
	b.WriteString("| mistake | wrong | open | causes | cases |\n| --- | ---: | ---: | --- | --- |\n")
	for _, m := range mistakesInOrder() {
		wrong, open := 0, 0
		byCause := map[cases.Cause]int{}
		var names []string
		for i := range list {
			t := &list[i]
			a := t.Answers[everyExperiment]
			if a.Label == t.Truth || why(t) != m {
				continue
			}
			if a.Label == "" {
				open++
			} else {
				wrong++
			}
			byCause[t.Case.Cause]++
			names = append(names, t.Case.ID)
		}
		if len(names) == 0 {
			continue
		}
		var of []string
		for _, c := range cases.Causes() {
			if byCause[c] > 0 {
				of = append(of, fmt.Sprintf("%s %d", c, byCause[c]))
			}
		}
		fmt.Fprintf(&b, "| %s | %d | %d | %s | %s |\n", m, wrong, open, strings.Join(of, ", "), strings.Join(names, ", "))
	}
	return b.String()
}
