package judge

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/lab/internal/history"
	"github.com/shadowcourt/shadowcourt/host/lab/internal/study"
)

// most is how many repositories may have half of the cases of a kind, and much is how many runs a cell should have.
const (
	most = 5
	much = 20
)

// Mined are the tables of what there is.
func Mined(learning, reporting []history.Repo) []study.Table {
	halves := [][]history.Repo{learning, reporting}
	return []study.Table{
		{Name: "mined", Text: kinds(halves)},
		{Name: "runners", Text: runners(halves)},
		{Name: "repositories", Text: repositories(halves)},
		{Name: "traps", Text: traps(halves)},
		{Name: "dropped", Text: dropped(halves)},
		{Name: "cells", Text: cells(halves)},
	}
}

// hard says whether a case has a trap.
func hard(c *history.Case) bool { return len(c.Traps) > 0 }

// count counts the cases of some repositories that fit.
func count(repos []history.Repo, fits func(*history.Case) bool) int {
	n := 0
	for i := range repos {
		for j := range repos[i].Cases {
			n += one(fits(&repos[i].Cases[j]))
		}
	}
	return n
}

// runners counts cases, and repositories that have some, by what runs their tests.
func runners(halves [][]history.Repo) string {
	var b strings.Builder
	b.WriteString("| runner | learning: cases | learning: repositories | reporting: cases | reporting: repositories | reporting: timed alone |\n| --- | ---: | ---: | ---: | ---: | ---: |\n")
	for _, runner := range []string{"go", "pytest", "surefire", "jest"} {
		fmt.Fprintf(&b, "| %s |", runner)
		of := func(c *history.Case) bool { return c.Failure.Runner == runner }
		for _, repos := range halves {
			from := 0
			for i := range repos {
				from += one(count(repos[i:i+1], of) > 0)
			}
			fmt.Fprintf(&b, " %d | %d |", count(repos, of), from)
		}
		fmt.Fprintf(&b, " %d |\n", count(halves[1], func(c *history.Case) bool { return of(c) && c.Timed() }))
	}
	return b.String()
}

func kinds(halves [][]history.Repo) string {
	var b strings.Builder
	b.WriteString("| kind | learning: real | learning: planted | learning: hard | learning: repositories | reporting: real | reporting: planted | reporting: hard | reporting: repositories | reporting: of the five largest |\n" +
		"| --- |" + strings.Repeat(" ---: |", 9) + "\n")
	row := func(name string, of func(*history.Case) bool) {
		fmt.Fprintf(&b, "| %s |", name)
		var largest []int
		for _, repos := range halves {
			from := 0
			largest = nil
			for i := range repos {
				n := count(repos[i:i+1], of)
				from += one(n > 0)
				largest = append(largest, n)
			}
			planted := count(repos, func(c *history.Case) bool { return of(c) && c.Planted })
			fmt.Fprintf(&b, " %d | %d | %d | %d |", count(repos, of)-planted, planted, count(repos, func(c *history.Case) bool { return of(c) && hard(c) }), from)
		}
		slices.Sort(largest)
		n := 0
		for _, k := range largest[max(0, len(largest)-most):] {
			n += k
		}
		fmt.Fprintf(&b, " %d |\n", n)
	}
	for _, kind := range history.Kinds() {
		row(string(kind), func(c *history.Case) bool { return c.Kind == kind })
	}
	row("all", func(*history.Case) bool { return true })
	for _, a := range attributions()[:len(attributions())-1] {
		row("truth: "+string(a), func(c *history.Case) bool { return c.Truth.Attribution == a })
	}
	return b.String()
}

func repositories(halves [][]history.Repo) string {
	var b strings.Builder
	b.WriteString("| repository | half | cases | hard | candidates dropped |\n| --- | --- | ---: | ---: | ---: |\n")
	for _, repos := range halves {
		for i := range repos {
			r, n := &repos[i], 0
			for _, reasons := range r.Dropped {
				for _, k := range reasons {
					n += k
				}
			}
			fmt.Fprintf(&b, "| %s | %s | %d | %d | %d |\n", r.Name, r.Half, len(r.Cases), count(repos[i:i+1], hard), n)
		}
	}
	return b.String()
}

func traps(halves [][]history.Repo) string {
	var b strings.Builder
	b.WriteString("| trap | learning | reporting | planted, of both |\n| --- | ---: | ---: | ---: |\n")
	all := slices.Concat(halves...)
	n := map[history.Trap]bool{}
	count(all, func(c *history.Case) bool {
		for _, t := range c.Traps {
			n[t] = true
		}
		return true
	})
	for _, t := range slices.Sorted(maps.Keys(n)) {
		has := func(c *history.Case) bool { return slices.Contains(c.Traps, t) }
		fmt.Fprintf(&b, "| %s | %d | %d | %d |\n", t, count(halves[0], has), count(halves[1], has), count(all, func(c *history.Case) bool { return has(c) && c.Planted }))
	}
	return b.String()
}

func dropped(halves [][]history.Repo) string {
	var b strings.Builder
	b.WriteString("| kind | why | learning | reporting |\n| --- | --- | ---: | ---: |\n")
	for _, kind := range append(history.Kinds(), "planted") {
		n := map[string][2]int{}
		for h, repos := range halves {
			for i := range repos {
				for why, k := range repos[i].Dropped[kind] {
					x := n[why]
					x[h] += k
					n[why] = x
				}
			}
		}
		for _, why := range slices.Sorted(maps.Keys(n)) {
			fmt.Fprintf(&b, "| %s | %s | %d | %d |\n", kind, why, n[why][0], n[why][1])
		}
	}
	return b.String()
}

// cells counts what of the cells that each case should have is saved.
func cells(halves [][]history.Repo) string {
	var b strings.Builder
	fmt.Fprintf(&b, "| cell | cases | with %d runs | with fewer | not built, or without the test | not run | missing |\n"+
		"| --- | ---: | ---: | ---: | ---: | ---: | ---: |\n", much)
	repos := slices.Concat(halves...)
	short := map[*history.Case]bool{}
	for _, p := range places() {
		var many, few, nothing, not, missing int
		all := count(repos, func(c *history.Case) bool {
			if !p.of(c) {
				return false
			}
			switch k := c.Find(p.product, p.tests, p.environment, p.order); {
			case k != nil && len(k.Runs) >= much:
				many++
				return true
			case k == nil:
				missing++
			case k.Why == abi.OutcomeNotBuilt || k.Why == abi.OutcomeNoTest:
				nothing++
				return true
			case k.Runs == "":
				not++
			default:
				few++
			}
			short[c] = true
			return true
		})
		fmt.Fprintf(&b, "| %s | %d | %d | %d | %d | %d | %d |\n", p.String(), all, many, few, nothing, not, missing)
	}
	fmt.Fprintf(&b, "\nIn %d of %d cases every cell has %d runs, or can have none; of the hard cases in %d of %d.\n",
		count(repos, func(c *history.Case) bool { return !short[c] }), count(repos, func(*history.Case) bool { return true }), much,
		count(repos, func(c *history.Case) bool { return hard(c) && !short[c] }), count(repos, hard))
	return b.String()
}
