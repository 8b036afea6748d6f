package fit

import (
	"cmp"
	"math/rand/v2"
	"slices"
)

// folds splits samples into k parts so that no group is in two of them and
// that sizes and labels are spread evenly. It gives the part of each sample.
func (c *corpus) folds(use []int, k int, seed uint64) []int {
	members := make([][]int, c.groups)
	for _, i := range use {
		g := c.samples[i].group
		members[g] = append(members[g], i)
	}
	order := make([]int, 0, c.groups)
	for g := range members {
		if len(members[g]) > 0 {
			order = append(order, g)
		}
	}
	random := rand.New(rand.NewPCG(seed, 0x5bd1e995)) //nolint:gosec // reproducible folds, no secret
	random.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(len(members[b]), len(members[a])), cmp.Compare(c.first(members[a]), c.first(members[b])))
	})
	part := make([]int, len(c.samples))
	sizes := make([]int, k)
	labels := make([][]int, k)
	for f := range labels {
		labels[f] = make([]int, len(c.labels))
	}
	for _, g := range order {
		best := 0
		for f := range k {
			if c := cmp.Or(cmp.Compare(c.crowd(labels[f], members[g]), c.crowd(labels[best], members[g])), cmp.Compare(sizes[f], sizes[best])); c < 0 {
				best = f
			}
		}
		for _, i := range members[g] {
			part[i] = best
			labels[best][c.first([]int{i})]++
		}
		sizes[best] += len(members[g])
	}
	return part
}

// first is the true label of the first member.
func (c *corpus) first(members []int) int {
	s := &c.samples[members[0]]
	return s.labels[s.truth]
}

// crowd is how many cases of the members' labels a part has already.
func (c *corpus) crowd(labels []int, members []int) int {
	n := 0
	for _, i := range members {
		n += labels[c.first([]int{i})]
	}
	return n
}
