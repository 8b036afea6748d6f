package fit

import "github.com/shadowcourt/shadowcourt/abi/odds"

// asStated counts a confidence as it is stated.
func asStated(u *utterance) float64 { return u.logit }

// atMost counts a confidence as the highest that its source stated in all but a few cases.
func (c *corpus) atMost(u *utterance) float64 {
	if r := c.ranges[u.source]; r != nil {
		return odds.Logit(r.Most)
	}
	return u.logit
}

// trustConfidences gives the setting of what sources say: the best of those in which the confidences count that sources state, unless it costs
// too many answers if all sources begin to overstate, and more than the best of the others costs now.
func (c *corpus) trustConfidences(x *crossed) int {
	n := len(sourcePenalties())
	plain, stated := c.simplest(x.losses, places(n), x.use, simpler), c.simplest(x.losses, places(2 * n)[n:], x.use, simpler)
	overstated, lost := 0.0, 0.0
	for _, i := range x.use {
		s := &c.samples[i]
		if best(x.rest[stated][i]) != s.truth {
			continue
		}
		if best(x.models[stated][x.part[i]].rest(s, c.atMost)) != s.truth {
			overstated += 1 / float64(len(x.use))
		}
	}
	for _, i := range x.use {
		truth := c.samples[i].truth
		lost += (right(x.rest[stated][i], truth) - right(x.rest[plain][i], truth)) / float64(len(x.use))
	}
	if overstated > mostTurned && lost < overstated {
		return plain
	}
	return stated
}

// right is 1 where a label is the best, otherwise 0.
func right(z []float64, label int) float64 {
	if best(z) == label {
		return 1
	}
	return 0
}
