package fit

import (
	"math"
	"slices"
)

// judged is a candidate with its losses on cases that it hasn't seen.
type judged struct {
	candidate
	losses []float64 // by sample
	right  int
	// weights of its learners, by the part that they were found without
	weights []weights
}

func (j *judged) loss(use []int) float64 {
	sum := 0.0
	for _, i := range use {
		sum += j.losses[i]
	}
	return sum / float64(len(use))
}

// Standard errors of a difference in log loss.
const (
	// withinLearned is the share of one by which a simpler candidate of those that learn may be worse than the best, and a profile
	// worse than none.
	withinLearned = 0.5
	// likely is by how many the court without a profile must be better than base rates for the labels not to be noise.
	likely = 1
	// certain is by how many something must be better where it could be noise.
	certain = 2
)

// compare judges all candidates.
func (c *corpus) compare(x *crossed, workers int) []judged {
	candidates := c.candidates()
	list := make([]judged, len(candidates))
	for i := range list {
		list[i] = judged{candidate: candidates[i], weights: make([]weights, x.k)}
	}
	jobs := len(list) * x.k
	each(jobs, workers, func(i int) {
		i = jobs - 1 - i // those with the most learners first: they take longest
		j := &list[i/x.k]
		j.weights[i%x.k] = c.blendWeights(x, &j.candidate, i%x.k)
	})
	each(len(list), workers, func(i int) { c.judge(x, &list[i]) })
	return list
}

// judge predicts every part by a blend whose weights were found on the others.
func (c *corpus) judge(x *crossed, j *judged) {
	j.losses = make([]float64, len(c.samples))
	for _, i := range x.use {
		p, truth := softmax(c.blended(x.nats, &j.candidate, &j.weights[x.part[i]], i)), c.samples[i].truth
		j.losses[i] = lossOf(p, truth)
		if best(p) == truth {
			j.right++
		}
	}
}

// rival gives the place of what a profile has to be better than by some cases, and by how many standard errors.
//
// If the court without a profile is better than base rates, the labels aren't noise, and it is the rival. A profile may then be as much
// worse as a simpler candidate may be: where both do alike, that is safer which bounds what unknown sources count. Where labels may have
// nothing to do with the cases, anything beats that court, and the rival is the best of what learns neither sources nor texts.
func (c *corpus) rival(list []judged, use []int) (at int, by float64) {
	if c.tellsMore(list[courtRates].losses, list, use) {
		return courtAlone, -withinLearned
	}
	return c.simplest(list, places(unprofiled), use, 0), certain
}

// tellsMore says whether a candidate predicts better than base rates, and than even ones, which are better where the labels differ by group: if not,
// the labels may be noise.
func (c *corpus) tellsMore(losses []float64, list []judged, use []int) bool {
	rates, even := list[ratesAlone].losses, make([]float64, len(c.samples))
	for _, i := range use {
		even[i] = math.Log(float64(len(c.samples[i].labels)))
	}
	if worse, _ := c.difference(rates, even, use); worse > 0 {
		rates = even
	}
	gain, deviation := c.difference(rates, losses, use)
	return gain > likely*deviation
}

// choose gives the place of the candidate to take by some cases: the simplest of
// those that learn, unless its rival does as well as what would be chosen of them without each part. With always it is one that learns.
func (c *corpus) choose(list []judged, x *crossed, use []int, always bool) int {
	none, by := c.rival(list, use)
	learners := places(len(list))[unprofiled:]
	nested := judged{losses: make([]float64, len(c.samples))}
	for part := range x.k {
		others := slices.DeleteFunc(slices.Clone(use), func(i int) bool { return x.part[i] == part })
		if len(others) == len(use) {
			continue
		}
		chosen := &list[c.simplest(list, learners, others, withinLearned)]
		for _, i := range use {
			if x.part[i] == part {
				nested.losses[i] = chosen.losses[i]
			}
		}
	}
	if gain, deviation := c.difference(list[none].losses, nested.losses, use); !always && gain <= by*deviation {
		return none
	}
	return c.simplest(list, learners, use, withinLearned)
}

// simplest gives the first of some candidates that is no worse than the best of them by more
// than share of the standard error of their difference.
func (c *corpus) simplest(list []judged, of, use []int, share float64) int {
	top, least := of[0], math.Inf(1)
	for _, at := range of {
		if loss := list[at].loss(use); loss < least {
			top, least = at, loss
		}
	}
	for _, at := range of {
		mean, deviation := c.difference(list[at].losses, list[top].losses, use)
		if mean <= share*deviation {
			return at
		}
	}
	return top
}

// difference gives the mean of a - b over cases and its standard error, which
// allows for what the cases of a group have in common.
func (c *corpus) difference(a, b []float64, use []int) (mean, deviation float64) {
	n := float64(len(use))
	for _, i := range use {
		mean += (a[i] - b[i]) / n
	}
	sums := make([]float64, c.groups)
	for _, i := range use {
		sums[c.samples[i].group] += a[i] - b[i] - mean
	}
	for _, x := range sums {
		deviation += x * x
	}
	return mean, math.Sqrt(deviation) / n
}

// places are 0 to n-1.
func places(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return list
}

func best(p []float64) int {
	top := 0
	for j := range p {
		if p[j] > p[top] {
			top = j
		}
	}
	return top
}
