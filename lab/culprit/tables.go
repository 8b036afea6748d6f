package main

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/shadowcourt/shadowcourt/host/lab/internal/study"
)

// tables are those of the page.
func tables(list []searched) []study.Table {
	steady := pick(list, func(s *searched) bool { return !s.fault.Planted })
	isReal := func(s *searched) bool { return s.fault.Taken == nil }
	return []study.Table{
		{Name: "cases", Text: described(list)},
		{Name: "all", Text: compared(steady)},
		{Name: "quiet", Text: compared(pick(steady, func(s *searched) bool { return !s.noisy }))},
		{Name: "noisy", Text: compared(pick(steady, func(s *searched) bool { return s.noisy }))},
		{Name: "real", Text: compared(pick(steady, isReal))},
		{Name: "replayed", Text: compared(pick(steady, func(s *searched) bool { return !isReal(s) }))},
		{Name: "flaky", Text: compared(pick(list, func(s *searched) bool { return s.fault.Planted }))},
		{Name: "reporting", Text: compared(pick(steady, func(s *searched) bool { return !s.fault.Learning }))},
	}
}

func pick(list []searched, which func(*searched) bool) (some []searched) {
	for i := range list {
		if which(&list[i]) {
			some = append(some, list[i])
		}
	}
	return some
}

func described(list []searched) string {
	var b strings.Builder
	b.WriteString("| cases | all | noisy | repositories | commits: least | median | most |\n| --- | ---: | ---: | ---: | ---: | ---: | ---: |\n")
	for _, group := range []struct {
		name          string
		real, planted bool
	}{{"a real commit that broke the test", true, false}, {"a fix taken back among real commits", false, false}, {"a change that makes the test fail by chance, planted among real commits", false, true}} {
		noisy, repositories, sizes := 0, map[string]bool{}, []int{}
		for i := range list {
			s := &list[i]
			if (s.fault.Taken == nil) != group.real || s.fault.Planted != group.planted {
				continue
			}
			if s.noisy {
				noisy++
			}
			repositories[s.fault.Repository] = true
			sizes = append(sizes, len(s.line.Commits))
		}
		if len(sizes) == 0 {
			continue
		}
		slices.Sort(sizes)
		fmt.Fprintf(&b, "| %s | %d | %d | %d | %d | %d | %d |\n", group.name, len(sizes), noisy, len(repositories), sizes[0], sizes[len(sizes)/2], sizes[len(sizes)-1])
	}
	return b.String()
}

// compared has a row for each arm.
func compared(list []searched) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d cases.\n\n", len(list))
	b.WriteString("| arm | right | wrong | no answer | runs | of git bisect, 5 runs | to verify | verified: right | wrong | builds | seconds |\n")
	b.WriteString("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n")
	if len(list) == 0 {
		return b.String()
	}
	fiveRuns := 0
	for i := range list {
		fiveRuns += list[i].answers[1].runs
	}
	n := float64(len(list))
	for k, arm := range arms() {
		var right, wrong, none, runs, verify, verified, mistaken, builds int
		secs := 0.0
		for i := range list {
			a := &list[i].answers[k]
			switch {
			case a.right:
				right++
			case a.found:
				wrong++
			default:
				none++
			}
			if a.verified && a.right {
				verified++
			} else if a.verified {
				mistaken++
			}
			runs, verify, builds, secs = runs+a.runs, verify+a.verify, builds+a.builds, secs+a.seconds
		}
		fmt.Fprintf(&b, "| %s | %d (%.1f %%) | %d | %d | %.1f | %.0f %% | %.1f | %d | %d | %.1f | %.1f |\n", strings.TrimSpace(arm.name), right, 100*float64(right)/n, wrong, none,
			float64(runs)/n, math.Round(100*float64(runs)/float64(fiveRuns)), float64(verify)/n, verified, mistaken, float64(builds)/n, secs/n)
	}
	return b.String()
}
