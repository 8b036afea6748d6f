package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/shadowcourt/shadowcourt/host/lab/internal/launch"
)

// summarise tells what the run gave: what no case came of, the cases by module, cause and kind, and how well Light does.
func summarise(out io.Writer, h *harvest, all []docketCase) error {
	var b strings.Builder
	for _, why := range h.left {
		fmt.Fprintf(&b, "left out: %s\n", why)
	}
	chosen := map[string]int{}
	for _, one := range all {
		chosen[one.from.cause()+" "+one.from.attempt.Fault.Kind]++
	}
	fmt.Fprintf(&b, "\n%-40s %7s %7s %7s %7s %7s\n", "kind", "tried", "broken", "no case", "cases", "chosen")
	for _, key := range slices.Sorted(maps.Keys(h.tally)) {
		n := h.tally[key]
		if n.faults == 0 {
			continue
		}
		fmt.Fprintf(&b, "%-40s %7d %7d %7d %7d %7d\n", key, n.faults, n.broken, n.silent, n.cases, chosen[key])
	}
	fmt.Fprintln(&b)
	for _, key := range slices.Sorted(maps.Keys(h.tally)) {
		for _, why := range h.tally[key].cannot {
			fmt.Fprintf(&b, "this machine can't make a fault: %s\n", why)
		}
	}
	summariseSilent(&b, h.tally)
	summariseModules(&b, all)
	for _, half := range []string{fitHalf, testHalf} {
		summariseLight(&b, half, all)
	}
	_, err := io.WriteString(out, b.String())
	return err
}

// summariseSilent names the faults of the environment that no case came of.
func summariseSilent(b *strings.Builder, all tally) {
	told := map[string]bool{}
	for _, fault := range launch.Faults() {
		kind, _, _ := strings.Cut(fault, ":")
		n := all.of(systemIssue, kind)
		if told[kind] || n.cases > 0 || len(n.cannot) > 0 {
			continue
		}
		told[kind] = true
		why := "all tests pass under it"
		if n.outside > 0 {
			why = "it ends the run before or outside of any test"
		}
		fmt.Fprintf(b, "no case came of %q: %s (tried %d times)\n", kind, why, n.faults)
	}
}

func summariseModules(b *strings.Builder, all []docketCase) {
	counts := map[string]map[string]int{}
	for _, one := range all {
		m := one.from.module
		key := m.half + " | " + m.path + " " + m.version + " | " + m.licence
		if counts[key] == nil {
			counts[key] = map[string]int{}
		}
		counts[key][one.from.cause()]++
	}
	fmt.Fprintf(b, "\n| half | module | licence | pb001 | ab001 | si001 | nd001 |\n| --- | --- | --- | ---: | ---: | ---: | ---: |\n")
	for _, key := range slices.Sorted(maps.Keys(counts)) {
		n := counts[key]
		fmt.Fprintf(b, "| %s | %d | %d | %d | %d |\n", key, n[productBug], n[automationBug], n[systemIssue], n[noDefect])
	}
}

func summariseLight(b *strings.Builder, half string, all []docketCase) {
	var cases, right, band, bandRight int
	byCause := map[string][2]int{}
	for _, one := range all {
		if one.from.module.half != half {
			continue
		}
		cases++
		ok := 0
		if one.Case.Light.Classification == one.Truth.Classification {
			ok = 1
		}
		right += ok
		if one.Truth.ExpectedVerdict != "" {
			band++
			bandRight += ok
		}
		n := byCause[one.from.cause()]
		byCause[one.from.cause()] = [2]int{n[0] + 1, n[1] + ok}
	}
	fmt.Fprintf(b, "\n%s: %d cases, Light right in %d; %d in the uncertain band, right in %d", half, cases, right, band, bandRight)
	for _, cause := range causes() {
		fmt.Fprintf(b, "; %s %d of %d", cause, byCause[cause][1], byCause[cause][0])
	}
	fmt.Fprintf(b, "\n")
}
