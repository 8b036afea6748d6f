package main

import (
	"math/rand/v2"
	"regexp"
	"sort"
	"strings"
)

// choose takes the same share of every cause, module after module, and orders the cases by id. Of failures whose logs
// differ in numbers only one is taken, and no kind of fault and no broken build makes up more than a part of its cause.
func choose(c config, all []labelled) []labelled {
	rng := rand.New(rand.NewPCG(c.seed, 0)) //nolint:gosec // chosen, not secret
	rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	all = byTurn(all)
	ofKind, ofBuilds := max(1, c.share/3), max(1, c.share/6)
	seen := map[string]bool{}
	count := map[string]int{}
	var chosen []labelled
	for _, l := range all {
		kind, build := l.about.Cause+" "+l.about.Kind, l.about.Cause+" does not build"
		built := !broken(l.entry.Case)
		if count[l.about.Cause] >= c.share || count[kind] >= ofKind || seen[likeness(l)] || !built && count[build] >= ofBuilds {
			continue
		}
		seen[likeness(l)] = true
		count[l.about.Cause]++
		count[kind]++
		if !built {
			count[build]++
		}
		chosen = append(chosen, l)
	}
	sort.Slice(chosen, func(i, j int) bool { return chosen[i].entry.Case.ID < chosen[j].entry.Case.ID })
	return chosen
}

// byTurn puts first the first case of each cause and module, then the second, and so on.
func byTurn(all []labelled) []labelled {
	turns := map[string]int{}
	turn := map[string]int{}
	for _, l := range all {
		key := l.about.Cause + " " + l.about.Module
		turn[l.about.Stream] = turns[key]
		turns[key]++
	}
	sort.SliceStable(all, func(i, j int) bool { return turn[all[i].about.Stream] < turn[all[j].about.Stream] })
	return all
}

var numbers = regexp.MustCompile(`[0-9]+`)

// likeness is the log without its numbers and the names of its package.
func likeness(l labelled) string {
	text := strings.ReplaceAll(l.entry.Case.Documents[0].Text, l.entry.Case.Group, "")
	text = strings.Join(strings.Fields(text), " ")
	return numbers.ReplaceAllString(text, "0")
}
