package baseline

import (
	"math/rand/v2"
	"slices"
)

// Folds of the cross-validation.
const Folds = 5

// Score is how often a method was right in cross-validation.
type Score struct {
	Method Method
	Right  int
}

// Choose says how often each method is right in the cases that count, and which one is best; ties go to the simpler one.
// A fitted method is fitted on four fifths of all cases and asked about the last fifth, five times; cases of one group are
// never on both sides. Cases without truth are left out. cases is how many counted; with none, best is -1.
func Choose(all []*Case, counts func(*Case) bool, r *rand.Rand) (scores []Score, cases, best int) {
	all = slices.DeleteFunc(slices.Clone(all), func(c *Case) bool { return c.Truth == "" })
	fold := foldsOf(all, r)
	for _, c := range all {
		if counts(c) {
			cases++
		}
	}
	best = -1
	for _, m := range Methods() {
		s := Score{Method: m}
		for k := range Folds {
			var training []*Case
			for i, c := range all {
				if fold[i] != k {
					training = append(training, c)
				}
			}
			rule := m.Fit(training)
			for i, c := range all {
				if fold[i] == k && counts(c) && rule(c) == c.Truth {
					s.Right++
				}
			}
		}
		scores = append(scores, s)
		if cases > 0 && (best < 0 || s.Right > scores[best].Right) {
			best = len(scores) - 1
		}
	}
	return scores, cases, best
}

// foldsOf deals the groups out, in random order and each to the smallest fold; a case without a group is one of its own.
func foldsOf(cases []*Case, r *rand.Rand) []int {
	var groups [][]int
	byName := map[string]int{}
	for i, c := range cases {
		g, known := byName[c.Group]
		if !known || c.Group == "" {
			g = len(groups)
			groups = append(groups, nil)
			byName[c.Group] = g
		}
		groups[g] = append(groups[g], i)
	}
	r.Shuffle(len(groups), func(i, j int) { groups[i], groups[j] = groups[j], groups[i] })
	fold := make([]int, len(cases))
	var sizes [Folds]int
	for _, members := range groups {
		smallest := 0
		for k := range sizes {
			if sizes[k] < sizes[smallest] {
				smallest = k
			}
		}
		sizes[smallest] += len(members)
		for _, i := range members {
			fold[i] = smallest
		}
	}
	return fold
}
