package main

import (
	"fmt"
	"slices"
	"strings"
)

// ways a case may go, in the order of the table.
const (
	lightAlone = "the Light path, no trial"
	noHearing  = "and the court, without a hearing"
	hearing    = "and the court, with a hearing"
	remanded   = "and the court, with a remand"
)

// way is how a case went.
func way(t *tried) string {
	switch {
	case !t.band():
		return lightAlone
	case t.result.Remands > 0:
		return remanded
	case t.result.Rounds > 0:
		return hearing
	default:
		return noHearing
	}
}

// times are of one case at a time.
func (s *lightStudy) times() string {
	took, fuel := make(map[string][]float64), make(map[string]float64)
	calls := make(map[string]int)
	for _, p := range s.parts {
		for i := range p.runs[oneByOne] {
			t := &p.runs[oneByOne][i]
			w := way(t)
			took[w] = append(took[w], float64(t.result.Timings.TotalMicros)/1000)
			calls[w] += t.result.Timings.Calls
			if t.result.Fuel != nil {
				fuel[w] += float64(*t.result.Fuel) / 1e6
			}
		}
	}
	var b strings.Builder
	b.WriteString("| a case that goes through | cases | calls of modules | fuel (million) | mean (ms) | median (ms) | 95 % within (ms) |\n")
	b.WriteString("| --- | ---: | ---: | ---: | ---: | ---: | ---: |\n")
	for _, w := range []string{lightAlone, noHearing, hearing, remanded} {
		list := took[w]
		if len(list) == 0 {
			fmt.Fprintf(&b, "| %s | 0 | | | | | |\n", w)
			continue
		}
		slices.Sort(list)
		sum := 0.0
		for _, x := range list {
			sum += x
		}
		n := float64(len(list))
		fmt.Fprintf(&b, "| %s | %d | %.1f | %.1f | %.1f | %.1f | %.1f |\n", w, len(list), float64(calls[w])/n, fuel[w]/n,
			sum/n, list[len(list)/2], list[min(len(list)*95/100, len(list)-1)])
	}
	return b.String()
}
