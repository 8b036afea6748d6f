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
	"github.com/shadowcourt/shadowcourt/tools/experiments/cases"
	"github.com/shadowcourt/shadowcourt/tools/internal/study"
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

// tables are those of the page.
func tables(list []tried) []study.Table {
	return []study.Table{
		{Name: "cases", Text: causes(list)},
		{Name: "arms", Text: compared(list)},
		{Name: "confusion", Text: confusion(list)},
		{Name: "outcomes", Text: outcomes(list)},
		{Name: "asked", Text: asked(list)},
		{Name: "errors", Text: mistakes(list)},
	}
}

func causes(list []tried) string {
	var b strings.Builder
	b.WriteString("| cause | right label | cases | modules | with a test that green does not have |\n| --- | --- | ---: | ---: | ---: |\n")
	row := func(name, label string, of func(*tried) bool) {
		n, fresh, modules := 0, 0, map[string]bool{}
		for i := range list {
			if t := &list[i]; of(t) {
				n++
				modules[t.Case.Pair.Module] = true
				if t.Case.New {
					fresh++
				}
			}
		}
		fmt.Fprintf(&b, "| %s | %s | %d | %d | %d |\n", name, label, n, len(modules), fresh)
	}
	for _, c := range cases.Causes() {
		row(string(c), c.Label(), func(t *tried) bool { return t.Case.Cause == c })
	}
	row("all", "", func(*tried) bool { return true })
	return b.String()
}

func compared(list []tried) string {
	var b strings.Builder
	b.WriteString("| arm | right | wrong | open | certain | of these right | seconds a case, median | 90 % |\n| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n")
	for _, a := range arms() {
		right, wrong, open, sure, sureRight := 0, 0, 0, 0, 0
		var seconds []float64
		for i := range list {
			x := list[i].Answers[a]
			ok := x.Label == list[i].Truth
			switch {
			case x.Label == "":
				open++
			case ok:
				right++
			default:
				wrong++
			}
			if x.Label != "" && x.Confidence >= certain {
				sure++
				if ok {
					sureRight++
				}
			}
			seconds = append(seconds, x.Seconds)
		}
		slices.Sort(seconds)
		fmt.Fprintf(&b, "| %s | %d | %d | %d | %d | %d | %.1f | %.1f |\n", a, right, wrong, open, sure, sureRight, at(seconds, 0.5), at(seconds, 0.9))
	}
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
	for _, a := range []arm{light, reading, reruns, all, everything} {
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
		for _, a := range []arm{reruns, all} {
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
