package odds

import "math"

// beta is a Beta distribution.
type beta struct{ a, b float64 }

// failing is the distribution of the rate of failure behind some runs.
func (s *shape) failing(r runs) beta {
	return beta{s.same.from + s.other.from + float64(r.same+r.other), s.passed.from + float64(r.passed)}
}

// logAbove is the logarithm of what exceeds gives, which is kept.
func (b *belief) logAbove(x, y beta) float64 {
	pair := [2]beta{x, y}
	v, ok := b.above[pair]
	if !ok {
		v = math.Log(max(exceeds(x, y), unlikely))
		if b.above == nil {
			b.above = map[[2]beta]float64{}
		}
		b.above[pair] = v
	}
	return v
}

// steps is how finely two rates are compared.
const steps = 256

// exceeds is the probability that the odds of failure behind a rate drawn from one distribution are at least twice those behind one drawn
// from another: less is not told from chance by any number of runs that somebody makes. Both densities are summed over the middles of equal pieces and scaled to
// 1, so that poles at the ends do no harm.
func exceeds(x, y beta) float64 {
	var px, py [steps]float64
	fill(&px, x)
	fill(&py, y)
	above, below, j := 0.0, 0.0, 0
	for i := range px {
		v := (float64(i) + 0.5) / steps
		for ; j < steps && (float64(j)+0.5)/steps <= v/(2-v); j++ { // half the odds of v
			below += py[j]
		}
		above += px[i] * below
	}
	return above
}

func fill(p *[steps]float64, d beta) {
	most, sum := math.Inf(-1), 0.0
	for i := range p {
		v := (float64(i) + 0.5) / steps
		p[i] = (d.a-1)*math.Log(v) + (d.b-1)*math.Log1p(-v)
		most = max(most, p[i])
	}
	for i := range p {
		p[i] = math.Exp(p[i] - most)
		sum += p[i]
	}
	for i := range p {
		p[i] /= sum
	}
}
