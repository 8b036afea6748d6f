package measure

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
)

const (
	// floor is by how many nats of log loss something must be better than base rates at least, however small the standard error.
	floor = 0.01
	// ahead, likely and certain are numbers of standard errors of a difference in log loss.
	ahead   = 0.5
	likely  = 1
	certain = 2
)

// rivals are what a profile has to be better than: their losses on cases that they haven't seen.
type rivals struct {
	rates  []float64 // base rates alone, or even ones where these predict better
	scaled []float64 // the court without a profile, as sure as it is right
	both   []float64 // the same with base rates
}

// rivals judges them. The court's log-odds are given.
func (c *corpus) rivals(x *crossed, court [][]float64) *rivals {
	n := len(c.samples)
	r := &rivals{make([]float64, n), make([]float64, n), make([]float64, n)}
	even := make([]float64, n)
	for part := range x.k {
		others := x.without(part)
		frequent := c.frequencies(others)
		rates := func(i int) []float64 {
			z := make([]float64, len(c.samples[i].labels))
			for j, l := range c.samples[i].labels {
				z[j] = frequent[l]
			}
			return z
		}
		scaled := func(i int, by float64) []float64 { return plus(court[i], by, nil, 0) }
		both := func(i int, by float64) []float64 { return plus(court[i], by, rates(i), 1) }
		alone, beside := c.scaleOf(others, scaled), c.scaleOf(others, both)
		for _, i := range x.use {
			if x.part[i] != part {
				continue
			}
			truth := c.samples[i].truth
			even[i] = math.Log(float64(len(court[i])))
			r.rates[i] = lossOf(softmax(rates(i)), truth)
			r.scaled[i] = lossOf(softmax(scaled(i, alone)), truth)
			r.both[i] = lossOf(softmax(both(i, beside)), truth)
		}
	}
	if mean(even, x.use) < mean(r.rates, x.use) {
		r.rates = even
	}
	return r
}

// scaleOf is what the court's log-odds are to be multiplied by to predict some cases best; nothing makes it much surer.
func (c *corpus) scaleOf(use []int, nats func(i int, by float64) []float64) float64 {
	return least(0, 1.2, func(by float64) float64 {
		loss := 0.0
		for _, i := range use {
			loss += lossOf(softmax(nats(i, by)), c.samples[i].truth)
		}
		return loss
	})
}

// frequencies are the logs of how often each label is true, smoothed.
func (c *corpus) frequencies(train []int) []float64 {
	out := make([]float64, len(c.labels))
	for _, i := range train {
		out[c.trueLabel(i)]++
	}
	for l, n := range out {
		out[l] = math.Log((n + 0.5) / (float64(len(train)) + 0.5*float64(len(out))))
	}
	return out
}

// better says whether something predicts some cases better than base rates by so many standard errors, and not by next to nothing.
func (r *rivals) better(c *corpus, losses []float64, use []int, by float64) bool {
	gain, deviation := c.difference(r.rates, losses, use)
	return gain > max(by*deviation, floor)
}

// beaten says whether a profile predicts some cases better than base rates, by more than chance, and better than the court without one,
// however sure that is. Where the court tells labels apart that nobody taught it, they are not noise, and less is asked for.
func (r *rivals) beaten(c *corpus, losses []float64, use []int) bool {
	needed := float64(certain)
	if r.better(c, r.both, use, likely) {
		needed = likely
	}
	lead, deviation := c.difference(r.scaled, losses, use)
	return r.better(c, losses, use, needed) && lead > ahead*deviation
}

// usual is the share of what sources say that is said by those who speak in several cases, from which on others are strangers.
const usual = 0.95

// seen are the sources that speak in several cases: nothing was learned of them, and they count as without a profile, but no stranger decides
// beside them. Where many speak once, so do strangers, and nobody is told from them.
func (c *corpus) seen() []string {
	said, all, known := make([]int, len(c.sources)), 0, 0
	c.eachStated(func(u *utterance) {
		if u.source > 0 {
			said[u.source]++
			all++
		}
	})
	var list []string
	for source, n := range said {
		if n >= leastCases {
			list, known = append(list, c.sources[source]), known+n
		}
	}
	if float64(known) < usual*float64(all) {
		return nil
	}
	slices.Sort(list)
	return list
}

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
		return cmp.Or(cmp.Compare(len(members[b]), len(members[a])), cmp.Compare(c.trueLabel(members[a][0]), c.trueLabel(members[b][0])))
	})
	part := make([]int, len(c.samples))
	sizes := make([]int, k)
	labels := make([]map[int]int, k) // by part: how many of its cases have a label
	for f := range labels {
		labels[f] = make(map[int]int)
	}
	for _, g := range order {
		crowd := make([]int, k) // how many cases of the group's labels a part has already
		for f := range k {
			for _, i := range members[g] {
				crowd[f] += labels[f][c.trueLabel(i)]
			}
		}
		best := slices.MinFunc(places(k), func(a, b int) int { return cmp.Or(cmp.Compare(crowd[a], crowd[b]), cmp.Compare(sizes[a], sizes[b])) })
		for _, i := range members[g] {
			part[i] = best
			labels[best][c.trueLabel(i)]++
		}
		sizes[best] += len(members[g])
	}
	return part
}

// trueLabel is the right label of a case, as the corpus numbers it.
func (c *corpus) trueLabel(i int) int {
	s := &c.samples[i]
	return s.labels[s.truth]
}

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

// difference gives the mean of a - b over cases and its standard error, which allows for what the cases of a group have in common.
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

// each calls do for 0 to n-1, at most so many at a time. What do writes must belong to its own index, so that the order doesn't matter.
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
