package fit

import (
	"cmp"
	"math"
	"slices"
	"sync"
	"sync/atomic"
)

// simplest gives the first of some candidates, by their losses, that is no worse than the best of them by more
// than a share of the standard error of their difference: see simpler.
func (c *corpus) simplest(losses [][]float64, of, use []int) int {
	top := slices.MinFunc(of, func(a, b int) int { return cmp.Compare(mean(losses[a], use), mean(losses[b], use)) })
	for _, at := range of {
		worse, deviation := c.difference(losses[at], losses[top], use)
		if worse <= simpler*deviation {
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

// best is the first place of the largest figure.
func best(p []float64) int { return slices.Index(p, slices.Max(p)) }

// right is 1 where a label is the best, otherwise 0.
func right(z []float64, label int) float64 {
	if best(z) == label {
		return 1
	}
	return 0
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

// margin is by how much a label is ahead of the next, below 0 if it is not.
func margin(z []float64, label int) float64 {
	others := slices.Clone(z)
	others[label] = math.Inf(-1)
	return z[label] - slices.Max(others)
}

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

// each calls do for 0 to n-1, at most so many at a time. What do writes must
// belong to its own index, so that the order doesn't matter.
func each(n, workers int, do func(i int)) {
	var next atomic.Int64
	var wg sync.WaitGroup
	for range max(1, min(workers, n)) {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				do(i)
			}
		})
	}
	wg.Wait()
}
