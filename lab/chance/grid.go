package main

import (
	"fmt"
	"math"
	"strings"

	"github.com/shadowcourt/shadowcourt/host/alibi"
)

// lock is the rule of the program, and court are the steps in which it runs a test that fails alone.
func lock() *rule {
	return &rule{"the lock of the program", func(c counts) bool {
		return alibi.Counts{Head: c.head, OfHead: c.ofHead, Base: c.base, OfBase: c.ofBase}.Closed(alibi.MaxFalse)
	}}
}

func court() *ladder {
	l := &ladder{name: "5, 20, 50, 100 and 2, 7, 20, 50, 100"}
	for _, s := range [][2]int{{5, 2}, {5, 7}, {20, 7}, {20, 20}, {20, 50}, {50, 50}, {50, 100}, {100, 100}} {
		l.steps = append(l.steps, counts{ofHead: s[0], ofBase: s[1]})
	}
	return l
}

// alibis is how often the lock closes for a pair of rates, because the base failed in each of its first seven runs or by the rates of both trees,
// and how many runs there are in the mean.
type alibis struct{ preexisting, flaky, runs float64 }

// characteristics computes what the lock does for pairs of rates.
func characteristics(pairs []pair) []alibis {
	l := court()
	closed := l.closings(lock())
	list := make([]alibis, len(pairs))
	for i, p := range pairs {
		share, runs := l.decided(closed, p)
		always := math.Pow(p.base, 7)
		list[i] = alibis{always, max(share-always, 0), runs}
	}
	return list
}

// wholeGrid is what the lock does for each pair of the grid, and for equal rates.
func wholeGrid() string {
	pairs := grid()
	for percent := 10; percent <= 100; percent += 5 {
		pairs = append(pairs, pair{float64(percent) / 100, float64(percent) / 100})
	}
	var text strings.Builder
	text.WriteString("| base | head | material | flaky | preexisting | runs |\n| ---: | ---: | --- | ---: | ---: | ---: |\n")
	for i, a := range characteristics(pairs) {
		p := pairs[i]
		fmt.Fprintf(&text, "| %v | %v | %t | %.2f%% | %.2f%% | %.0f |\n", p.base, p.head, p.material(), 100*a.flaky, 100*a.preexisting, a.runs)
	}
	return text.String()
}
