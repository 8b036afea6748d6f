package fit

import (
	"math"
)

// judged are the losses of something on cases that it hasn't seen, by sample.
type judged struct{ losses []float64 }

func (j *judged) loss(use []int) float64 { return mean(j.losses, use) }

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
		worse, deviation := c.difference(list[at].losses, list[top].losses, use)
		if worse <= share*deviation {
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

// mean of what is given by sample.
func mean(v []float64, use []int) float64 {
	sum := 0.0
	for _, i := range use {
		sum += v[i]
	}
	return sum / float64(len(use))
}

// lossOf is -log of the probability of the truth.
func lossOf(p []float64, truth int) float64 { return -math.Log(p[truth]) }

// least gives the x of a range in which a convex function is least (golden section), to three digits.
func least(from, to float64, of func(x float64) float64) float64 {
	const golden = 0.6180339887498949
	a, b := to-golden*(to-from), from+golden*(to-from)
	atA, atB := of(a), of(b)
	for to-from > 1e-3 {
		if atA <= atB {
			to, b, atB = b, a, atA
			a = to - golden*(to-from)
			atA = of(a)
		} else {
			from, a, atA = a, b, atB
			b = from + golden*(to-from)
			atB = of(b)
		}
	}
	return (from + to) / 2
}
