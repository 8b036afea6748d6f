package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/docket/gotest"
	"github.com/shadowcourt/shadowcourt/host/lab/experiments/cases"
	"github.com/shadowcourt/shadowcourt/host/lab/internal/study"
)

// certain is the confidence from which an answer counts as certain.
const certain = 0.9

// writeJSON writes all that was measured into the work folder.
func writeJSON(work string, list []tried) error {
	data, err := json.MarshalIndent(list, "", "  ") //nolint:musttag // a file of the work folder, for programs of the same version
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(work, studyFile), append(data, '\n'), 0o644)
}

// studyFile has all that was measured.
const studyFile = "study.json"

func readJSON(work string) ([]tried, error) {
	data, err := os.ReadFile(filepath.Join(work, studyFile))
	if err != nil {
		return nil, err
	}
	var list []tried
	return list, json.Unmarshal(data, &list) //nolint:musttag // as it was written
}

// tables are those of the page. Modules on which something was tuned are apart.
func tables(list []tried) []study.Table {
	var fresh, tuned []tried
	for i := range list {
		if list[i].Case.Pair.Tuned {
			tuned = append(tuned, list[i])
		} else {
			fresh = append(fresh, list[i])
		}
	}
	return []study.Table{
		{Name: "cases", Text: causes(fresh, tuned)},
		{Name: "arms", Text: compared(fresh, arms())},
		{Name: "goals", Text: goals(fresh, tuned)},
		{Name: "arms of tuned modules", Text: compared(tuned, arms())},
		{Name: "orders", Text: compared(fresh, orders())},
		{Name: "ablation", Text: ablated(list)},
		{Name: "confusion", Text: confusion(fresh)},
		{Name: "outcomes", Text: outcomes(list)},
		{Name: "asked", Text: asked(fresh)},
		{Name: "errors", Text: mistakes(fresh)},
		{Name: "errors of tuned modules", Text: mistakes(tuned)},
	}
}

func causes(fresh, tuned []tried) string {
	var b strings.Builder
	b.WriteString("| cause | right label | cases | modules | with a test that green does not have | cases of tuned modules | tuned modules |\n" +
		"| --- | --- | ---: | ---: | ---: | ---: | ---: |\n")
	count := func(list []tried, of func(*tried) bool) (n, added, modules int) {
		seen := map[string]bool{}
		for i := range list {
			if t := &list[i]; of(t) {
				n++
				seen[t.Case.Pair.Module] = true
				if t.Case.New {
					added++
				}
			}
		}
		return n, added, len(seen)
	}
	row := func(name, label string, of func(*tried) bool) {
		n, added, modules := count(fresh, of)
		m, _, others := count(tuned, of)
		fmt.Fprintf(&b, "| %s | %s | %d | %d | %d | %d | %d |\n", name, label, n, modules, added, m, others)
	}
	for _, c := range cases.Causes() {
		row(string(c), c.Label(), func(t *tried) bool { return t.Case.Cause == c })
	}
	row("all", "", func(*tried) bool { return true })
	return b.String()
}

// score is what came of cases in an arm.
type score struct {
	right, wrong, open, sure, sureRight int
	seconds                             []float64 // sorted
	calls, remands                      int
}

func scoreOf(list []tried, a arm) score {
	var s score
	for i := range list {
		x := list[i].Answers[a]
		ok := x.Label == list[i].Truth
		switch {
		case x.Label == "":
			s.open++
		case ok:
			s.right++
		default:
			s.wrong++
		}
		if x.Label != "" && x.Confidence >= certain {
			s.sure++
			if ok {
				s.sureRight++
			}
		}
		s.seconds = append(s.seconds, x.Seconds)
		s.calls, s.remands = s.calls+x.Calls, s.remands+x.Remands
	}
	slices.Sort(s.seconds)
	return s
}

func (s *score) mean() float64 {
	sum := 0.0
	for _, x := range s.seconds {
		sum += x
	}
	return sum / float64(max(1, len(s.seconds)))
}

func compared(list []tried, arms []arm) string {
	var b strings.Builder
	b.WriteString("| arm | right | wrong | open | certain | of these right | seconds a case, median | mean | 90 % |\n" +
		"| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n")
	for _, a := range arms {
		s := scoreOf(list, a)
		fmt.Fprintf(&b, "| %s | %d | %d | %d | %d | %d | %.1f | %.1f | %.1f |\n", a, s.right, s.wrong, s.open, s.sure, s.sureRight,
			at(s.seconds, 0.5), s.mean(), at(s.seconds, 0.9))
	}
	return b.String()
}

// ablated sets courts without one of their mechanisms beside the whole one.
func ablated(list []tried) string {
	var b strings.Builder
	b.WriteString("| court | right | wrong | open | right only here | right only in the whole court | certain | of these right | seconds a case, mean | calls a case | remands |\n" +
		"| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n")
	for _, a := range ablations() {
		s := scoreOf(list, a)
		gained, lost := 0, 0
		for i := range list {
			here, there := list[i].Answers[a].Label == list[i].Truth, list[i].Answers[everyExperiment].Label == list[i].Truth
			switch {
			case here && !there:
				gained++
			case there && !here:
				lost++
			}
		}
		fmt.Fprintf(&b, "| %s | %d | %d | %d | %d | %d | %d | %d | %.1f | %.1f | %d |\n", a, s.right, s.wrong, s.open, gained, lost, s.sure, s.sureRight,
			s.mean(), float64(s.calls)/float64(max(1, len(list))), s.remands)
	}
	return b.String()
}

// goals sets the court with all experiments beside what it is to reach.
func goals(fresh, tuned []tried) string {
	var b strings.Builder
	b.WriteString("| goal | modules that nothing was tuned on | tuned modules |\n| --- | --- | --- |\n")
	row := func(goal string, of func(list []tried) string) {
		fmt.Fprintf(&b, "| %s | %s | %s |\n", goal, of(fresh), of(tuned))
	}
	share := func(n, of int) string { return fmt.Sprintf("%d of %d (%.2f)", n, of, float64(n)/float64(max(1, of))) }
	label := func(label string) func([]tried) string {
		return func(list []tried) string {
			s := scoreOf(slices.DeleteFunc(slices.Clone(list), func(t tried) bool { return t.Truth != label }), everyExperiment)
			return share(s.right, len(s.seconds))
		}
	}
	row("at least 0.85 right", func(list []tried) string { return share(scoreOf(list, everyExperiment).right, len(list)) })
	row("at most 5 % wrong of those certain", func(list []tried) string {
		s := scoreOf(list, everyExperiment)
		return share(s.sure-s.sureRight, s.sure)
	})
	row("flaky at least 0.95", label(gotest.NoDefect))
	row("environment at least 0.95", label(gotest.SystemIssue))
	row("at most half the seconds of running everything", func(list []tried) string {
		s, whole := scoreOf(list, everyExperiment), scoreOf(list, everything)
		return fmt.Sprintf("%.1f of %.1f on average, %.1f of %.1f in the median", s.mean(), whole.mean(), at(s.seconds, 0.5), at(whole.seconds, 0.5))
	})
	row("median at most 20 s a case", func(list []tried) string {
		s := scoreOf(list, everyExperiment)
		return fmt.Sprintf("%.1f s", at(s.seconds, 0.5))
	})
	return b.String()
}

// at is a quantile of sorted figures.
func at(sorted []float64, q float64) float64 {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[min(int(q*float64(len(sorted))), len(sorted)-1)]
}

// confusion counts the answers for each cause.
func confusion(list []tried) string {
	var b strings.Builder
	labels := append(gotest.Labels(), "")
	for _, a := range []arm{light, reading, reruns, everyExperiment, everything} {
		fmt.Fprintf(&b, "%s:\n\n| cause |", a)
		for _, l := range labels {
			fmt.Fprintf(&b, " %s |", cmp.Or(l, "open"))
		}
		b.WriteString("\n| --- |" + strings.Repeat(" ---: |", len(labels)) + "\n")
		for _, c := range cases.Causes() {
			counts := map[string]int{}
			for i := range list {
				if list[i].Case.Cause == c {
					counts[list[i].Answers[a].Label]++
				}
			}
			fmt.Fprintf(&b, "| %s (%s) |", c, c.Label())
			for _, l := range labels {
				fmt.Fprintf(&b, " %d |", counts[l])
			}
			b.WriteString("\n")
		}
		b.WriteString("\n")
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// outcomes counts what the experiments showed, for each cause.
func outcomes(list []tried) string {
	kinds := []abi.ExperimentOutcome{
		abi.OutcomePassed, abi.OutcomeSame, abi.OutcomeOther, abi.OutcomeMixed, abi.OutcomeNotBuilt, abi.OutcomeNoTest, abi.OutcomeNotRun,
	}
	counts := map[string]map[abi.ExperimentOutcome]int{}
	var order []string
	for i := range list {
		for k := range list[i].Results {
			r := &list[i].Results[k]
			if key := r.Experiment.String(); counts[key] == nil {
				counts[key] = map[abi.ExperimentOutcome]int{}
				order = append(order, key)
			}
		}
	}
	slices.Sort(order)
	var b strings.Builder
	b.WriteString("| experiment | cause |")
	for _, k := range kinds {
		fmt.Fprintf(&b, " %s |", k)
	}
	b.WriteString("\n| --- | --- |" + strings.Repeat(" ---: |", len(kinds)) + "\n")
	for _, name := range order {
		for _, c := range cases.Causes() {
			n := map[abi.ExperimentOutcome]int{}
			for i := range list {
				for k := range list[i].Results {
					if r := &list[i].Results[k]; list[i].Case.Cause == c && r.Experiment.String() == name {
						n[r.Outcome]++
					}
				}
			}
			fmt.Fprintf(&b, "| %s | %s |", name, c)
			for _, k := range kinds {
				fmt.Fprintf(&b, " %d |", n[k])
			}
			b.WriteString("\n")
		}
	}
	return b.String()
}

// asked counts who asked for which experiment.
func asked(list []tried) string {
	type request struct{ arm, persona, experiment string }
	counts := map[request]int{}
	for i := range list {
		for _, a := range []arm{reruns, everyExperiment} {
			for _, e := range list[i].Answers[a].Experiments {
				x := abi.Experiment{Product: e.Product, Tests: e.Tests, Environment: e.Environment, Order: e.Order, Runs: e.Runs}
				counts[request{string(a), e.Persona + " in " + e.Node, x.String()}]++
			}
		}
	}
	keys := slices.SortedFunc(maps.Keys(counts), func(x, y request) int {
		return cmp.Or(cmp.Compare(x.arm, y.arm), cmp.Compare(x.persona, y.persona), cmp.Compare(x.experiment, y.experiment))
	})
	var b strings.Builder
	b.WriteString("| arm | persona | experiment | cases |\n| --- | --- | --- | ---: |\n")
	for _, k := range keys {
		fmt.Fprintf(&b, "| %s | %s | %s | %d |\n", k.arm, k.persona, k.experiment, counts[k])
	}
	return b.String()
}
