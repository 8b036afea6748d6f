package odds

import (
	"math"

	"github.com/shadowcourt/shadowcourt/abi"
)

// shape is one of a model: the distribution of a rate. It keeps the logarithms that it has computed.
type shape struct {
	passed, same, other, all rise
}

// leastShape keeps a distribution proper.
const leastShape = 0.001

func newShape(s *abi.RateShape) shape {
	passed, same, other := max(s.Passed, leastShape), max(s.Same, leastShape), max(s.Other, leastShape)
	return shape{newRise(passed), newRise(same), newRise(other), newRise(passed + same + other)}
}

// logMarginal is the logarithm of the probability of a sequence of runs whose rates are drawn from a shape.
func (s *shape) logMarginal(r runs) float64 {
	if r == (runs{}) {
		return 0
	}
	return s.passed.by(r.passed) + s.same.by(r.same) + s.other.by(r.other) - s.all.by(r.passed+r.same+r.other)
}

// rise is how much log Γ rises from one place on.
type rise struct {
	from, logGamma float64
	known          []float64 // by the steps; 0 where it is not known yet
}

func newRise(from float64) rise { return rise{from: from, logGamma: logGamma(from)} }

// mostKnown bounds what a rise keeps.
const mostKnown = 512

// by is log Γ(from+n) - log Γ(from).
func (r *rise) by(n int) float64 {
	switch {
	case n == 0:
		return 0
	case n < 0 || n >= mostKnown:
		return r.compute(n)
	case n >= len(r.known):
		r.known = append(r.known, make([]float64, n+1-len(r.known))...)
	}
	if r.known[n] == 0 {
		r.known[n] = r.compute(n)
	}
	return r.known[n]
}

func (r *rise) compute(n int) float64 { return logGamma(r.from+float64(n)) - r.logGamma }

func logGamma(x float64) float64 {
	v, _ := math.Lgamma(x)
	return v
}
