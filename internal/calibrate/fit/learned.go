package fit

import (
	"math"
	"slices"
)

const (
	// floor is by how many nats of log loss something must be better than base rates at least, however small the standard error.
	floor = 0.01
	// ahead, likely and certain are numbers of standard errors of a difference in log loss.
	ahead   = 0.5
	likely  = 1
	certain = 2
	// mostTemperature is up to where the court tells something: beyond, the labels may be noise.
	mostTemperature = 5
)

// rivals are what a profile has to be better than, judged on cases that they haven't seen.
type rivals struct {
	rates  judged    // base rates alone, or even ones where these predict better
	court  judged    // the court without a profile
	scaled judged    // the same, as sure as it is right
	both   judged    // the same with base rates
	scales []float64 // by part: what the court's log-odds are multiplied by
	scale  float64   // by all parts
}

// rivals judges them. The court's log-odds are given.
func (c *corpus) rivals(x *crossed, court [][]float64) *rivals {
	n := len(c.samples)
	r := &rivals{judged{make([]float64, n)}, judged{make([]float64, n)}, judged{make([]float64, n)}, judged{make([]float64, n)}, make([]float64, x.k), 0}
	even := judged{make([]float64, n)}
	for part := range x.k {
		others := x.without(part)
		frequent := c.frequencies(others)
		rates := func(i int, times float64) []float64 {
			z := make([]float64, len(c.samples[i].labels))
			for j, l := range c.samples[i].labels {
				z[j] = times * frequent[l]
			}
			return z
		}
		scaled := func(i int, by float64) []float64 { return sum(court[i], by, nil, 0) }
		both := func(i int, by float64) []float64 { return sum(court[i], by, rates(i, 1), 1) }
		r.scales[part] = c.scaleOf(others, scaled)
		beside := c.scaleOf(others, both)
		for _, i := range x.use {
			if x.part[i] != part {
				continue
			}
			truth := c.samples[i].truth
			even.losses[i] = lossOf(softmax(rates(i, 0)), truth)
			r.rates.losses[i] = lossOf(softmax(rates(i, 1)), truth)
			r.court.losses[i] = lossOf(softmax(scaled(i, 1)), truth)
			r.scaled.losses[i] = lossOf(softmax(scaled(i, r.scales[part])), truth)
			r.both.losses[i] = lossOf(softmax(both(i, beside)), truth)
		}
		r.scale += r.scales[part] / float64(x.k)
	}
	if even.loss(x.use) < r.rates.loss(x.use) {
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
		out[c.first([]int{i})]++
	}
	for l, n := range out {
		out[l] = math.Log((n + 0.5) / (float64(len(train)) + 0.5*float64(len(out))))
	}
	return out
}

// better says whether something predicts some cases better than base rates by so many standard errors, and not by next to nothing.
func (r *rivals) better(c *corpus, losses []float64, use []int, by float64) bool {
	gain, deviation := c.difference(r.rates.losses, losses, use)
	return gain > max(by*deviation, floor)
}

// beaten says whether a profile predicts some cases better than base rates, by more than chance, and better than the court without one,
// however sure that is. Where the court tells labels apart that nobody taught it, they are not noise, and less is asked for.
func (r *rivals) beaten(c *corpus, losses []float64, use []int) bool {
	needed := float64(certain)
	if r.better(c, r.both.losses, use, likely) {
		needed = likely
	}
	lead, deviation := c.difference(r.scaled.losses, losses, use)
	return r.better(c, losses, use, needed) && lead > ahead*deviation
}

// temperature is by what the court's log-odds without a profile are divided where nothing else is learned: the court
// may tell labels apart, and be far too sure. Nil where some cases don't show both.
func (r *rivals) temperature(c *corpus, scale float64, use []int) *float64 {
	if !r.better(c, r.scaled.losses, use, likely) {
		return nil
	}
	if gain, deviation := c.difference(r.court.losses, r.scaled.losses, use); gain <= certain*deviation {
		return nil
	}
	t := math.Round(100/scale) / 100
	if t <= 1 || t > mostTemperature { // nothing makes it surer
		return nil
	}
	return &t
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
