package main

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
)

// The witnesses speak of what was observed when the generator ran: each by one simple rule, and each can be wrong. They
// were written before any case was seen. How often one is there does not depend on the cause.
const (
	rerunThere   = 0.80
	historyThere = 0.80
	probesThere  = 0.80
	summaryThere = 0.90
)

// witnesses draws who is there, and lets them speak.
func (l labelled) witnesses(rng *rand.Rand) []abi.Evidence {
	there := []float64{rng.Float64(), rng.Float64(), rng.Float64(), rng.Float64()}
	all := []struct {
		share float64
		speak func(*rand.Rand) (abi.Evidence, bool)
	}{
		{rerunThere, l.rerun}, {historyThere, l.history}, {probesThere, l.probes}, {summaryThere, l.summary},
	}
	var items []abi.Evidence
	for i, w := range all {
		item, ok := w.speak(rng)
		if ok && there[i] < w.share {
			items = append(items, item)
		}
	}
	return items
}

// others are the runs in which the case itself is not looked at.
func (l labelled) others() []result {
	return slices.Delete(slices.Clone(l.attempt.Runs), l.found.Run, l.found.Run+1)
}

// rerun says what the test did when it was run again, by chance where it had failed or elsewhere.
func (l labelled) rerun(rng *rand.Rand) (abi.Evidence, bool) {
	others := l.others()
	where, again := "on the same runner", others[rng.IntN(len(others))]
	if rng.IntN(2) == 0 {
		where = "on another runner"
		if l.attempt.Elsewhere != nil {
			again = *l.attempt.Elsewhere
		}
	}
	e := abi.Evidence{SourceRef: "re-run", Element: abi.Water}
	outcome, known := again.outcome(l.found.Test)
	e.Content = "Run again once " + where + ", the test " + outcome + "."
	if e.Supports, e.RelevanceConfidence = noDefect, 0.75; outcome == "failed" {
		e.Supports, e.RelevanceConfidence = productBug, 0.55
	}
	return e, known
}

// The runs before the one that is looked at: how many are told of, and the most of them that had the cause already.
const (
	toldRuns = 5
	mostWith = 2
)

// history tells how the test did in the runs before. When the cause came about is drawn: before that the runs are those of
// the untouched module, calm and busy ones.
func (l labelled) history(rng *rand.Rand) (abi.Evidence, bool) {
	before := append(slices.Clone(l.base.Calm), l.base.Busy...)
	rng.Shuffle(len(before), func(i, j int) { before[i], before[j] = before[j], before[i] })
	since := l.others()
	rng.Shuffle(len(since), func(i, j int) { since[i], since[j] = since[j], since[i] })
	with := min(len(since), rng.IntN(mostWith+1))
	runs := slices.Concat(before[:toldRuns-with], since[:with])
	var told []string
	failures, changes, last := 0, 0, ""
	for _, r := range runs {
		now, known := r.outcome(l.found.Test)
		if !known {
			continue // another test ended the run before
		}
		if now == "failed" {
			failures++
		}
		if last != "" && now != last {
			changes++
		}
		last = now
		told = append(told, now)
	}
	if len(told) == 0 {
		return abi.Evidence{}, false
	}
	e := abi.Evidence{
		SourceRef: "history", Element: abi.Fire,
		Content: fmt.Sprintf("The test's runs before this one, the latest last: %s.", strings.Join(told, ", ")),
	}
	switch {
	case changes > 1, changes == 1 && last == "passed":
		e.Supports, e.RelevanceConfidence = noDefect, 0.7
	case failures > 0:
		e.Supports, e.RelevanceConfidence = productBug, 0.55
	default:
		e.RelevanceConfidence = 0.3 // it never failed before
	}
	return e, true
}

// readProbes is how many of the probes are read for one case.
const readProbes = 4

// probes tells what a few probes of the environment saw.
func (l labelled) probes(rng *rand.Rand) (abi.Evidence, bool) {
	readings := slices.Clone(l.attempt.Readings)
	rng.Shuffle(len(readings), func(i, j int) { readings[i], readings[j] = readings[j], readings[i] })
	if len(readings) < readProbes {
		return abi.Evidence{}, false // the probes did not run there; nor do they say so
	}
	e := abi.Evidence{SourceRef: "environment-probe", Element: abi.Earth, RelevanceConfidence: 0.4}
	var told []string
	for _, r := range readings[:readProbes] {
		told = append(told, r.Probe+": "+coarse(r))
		switch busy := r.Probe == "load" || r.Probe == "scheduling"; {
		case !r.Sound && !busy:
			e.Supports, e.RelevanceConfidence = systemIssue, 0.8
		case !r.Sound && e.Supports == "":
			e.Supports, e.RelevanceConfidence = noDefect, 0.5
		}
	}
	slices.Sort(told)
	e.Content = "Probes of the machine: " + strings.Join(told, "; ") + "."
	return e, true
}

// coarse leaves out the numbers of the whole machine, which tell when the run was made.
func coarse(r reading) string {
	if r.Probe != "load" && r.Probe != "memory" {
		return r.Text
	}
	if r.Sound {
		return "as usual"
	}
	return "not as usual"
}

// summary counts the tests that failed with this one.
func (l labelled) summary(*rand.Rand) (abi.Evidence, bool) {
	r := l.attempt.Runs[l.found.Run]
	if r.Tests == 0 {
		return abi.Evidence{}, false
	}
	e := abi.Evidence{
		SourceRef: "run-summary", Element: abi.Air,
		Content: fmt.Sprintf("In this run %d of %d tests of the package failed.", r.Red, r.Tests),
	}
	switch {
	case r.Red <= 1:
		e.Supports, e.RelevanceConfidence = automationBug, 0.5
	case 4*r.Red <= r.Tests:
		e.Supports, e.RelevanceConfidence = productBug, 0.5
	default:
		e.Supports, e.RelevanceConfidence = systemIssue, 0.5
	}
	return e, true
}
