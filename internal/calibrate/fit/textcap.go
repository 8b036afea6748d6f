package fit

import (
	"math"

	"github.com/shadowcourt/shadowcourt/abi/odds"
)

// textCaps are what the signals of a case may tell at most, in nats, from nothing to all.
func textCaps() []float64 {
	return []float64{0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.7, 1, 1.5, 2, 3, 5, mostNats}
}

// mostTurned is how large a share of the answers a made-up text may turn at most, if to prevent it makes no larger share of them wrong.
const mostTurned = 0.05

// capped is a plan, judged on cases that its models haven't seen.
type capped struct {
	judged
	plan
	// hits and turned are 1 or 0, by sample: whether the answer is right, and whether it is right and some text turns it.
	hits, turned []float64
}

// capTexts chooses how far texts are trusted, by some cases: anybody may write into a document.
//
// The largest cap is taken with which no text could turn more than mostTurned of the answers. A text turns an answer whose lead by
// everything else is less than the cap. Where texts decide, so small a cap makes answers wrong, whether somebody makes up texts or not. If
// these are more than as many, by a standard error, the least cap is taken that predicts as well as the best.
func (c *corpus) capTexts(x *crossed, use []int, by plan, trust bool) *capped {
	caps := textCaps()
	list, losses, safe := make([]*capped, len(caps)), make([]judged, len(caps)), 0
	for i, most := range caps {
		list[i] = c.capped(x, use, plan{setting: by.setting, sources: by.setting, text: by.text, most: most})
		if other := c.capped(x, use, plan{setting: by.setting, sources: x.alone, text: by.text, most: most}); other.loss(use) < list[i].loss(use) {
			list[i] = other
		}
		losses[i] = list[i].judged
		if mean(list[i].turned, use) <= mostTurned {
			safe = i
		}
	}
	useful := c.simplest(losses, places(len(list)), use, simpler)
	lost, deviation := c.difference(list[useful].hits, list[safe].hits, use)
	if trust || useful < safe || lost-deviation > mostTurned {
		return list[useful]
	}
	return list[safe]
}

// capped weighs what sources say beside texts within a cap, and judges that.
func (c *corpus) capped(x *crossed, use []int, by plan) *capped {
	n := len(c.samples)
	j := &capped{judged{make([]float64, n)}, by, make([]float64, n), make([]float64, n)}
	within := make([][]float64, n)
	for _, i := range use {
		within[i] = sum(x.text[by.setting][i], by.text, nil, 0)
		odds.Limit(within[i], by.most)
	}
	j.rest, _ = c.scales(use, func(i int) (u, v, given []float64) { return x.rest[by.sources][i], nil, within[i] })
	for _, i := range use {
		truth, rest := c.samples[i].truth, x.rest[by.sources][i]
		z := sum(rest, j.rest, within[i], 1)
		right := best(z) == truth
		j.losses[i] = lossOf(softmax(z), truth)
		if right {
			j.hits[i] = 1
		}
		if right && j.rest*margin(rest, truth) < by.most {
			j.turned[i] = 1
		}
	}
	return j
}

// margin is by how much a label is ahead of the next, below 0 if it is not.
func margin(z []float64, label int) float64 {
	least := math.Inf(1)
	for j, x := range z {
		if j != label {
			least = min(least, z[label]-x)
		}
	}
	return least
}
