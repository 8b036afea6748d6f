package culprit

import (
	"errors"
	"fmt"
	"math"
)

// Count is how often a test failed and passed.
type Count struct{ Failed, Passed int }

func (c Count) plus(d Count) Count { return Count{c.Failed + d.Failed, c.Passed + d.Passed} }

func (c Count) runs() int { return c.Failed + c.Passed }

// Component is a Beta distribution of a failure rate, with the share of tests that it describes. A is one more than the failures, and B one
// more than the passes, that it is worth; both are at least 1, so that its density has one peak.
type Component struct {
	Weight float64
	A, B   int
}

// Rates is a mixture of Beta distributions. Weights are relative.
type Rates []Component

// The usual rates: before the culprit most tests never fail, and from it on most always do.
var (
	usualBefore = Rates{{0.7, 1, 200}, {0.3, 1, 3}}
	usualAfter  = Rates{{0.9, 200, 1}, {0.1, 2, 1}}
)

const (
	maxComponents = 8
	maxParameter  = 1000
	maxKnown      = 1 << 16 // marginals that are remembered
)

func (r Rates) check(what string) error {
	if len(r) == 0 || len(r) > maxComponents {
		return fmt.Errorf("rates %s the culprit: %d components, expected 1 to %d", what, len(r), maxComponents)
	}
	for _, c := range r {
		if !(c.Weight > 0) || math.IsInf(c.Weight, 0) || min(c.A, c.B) < 1 || max(c.A, c.B) > maxParameter {
			return fmt.Errorf("rates %s the culprit: Beta(%d, %d) with weight %v: expected parameters from 1 to %d and a positive weight", what, c.A, c.B, c.Weight, maxParameter)
		}
	}
	return nil
}

// model has a failure rate before the culprit and a higher one from it on. It gives exact marginal likelihoods of counts, under mixtures
// of Beta distributions of which the first rate is lower than the second.
type model struct {
	before, after Rates
	factorials    []float64 // logarithms
	known         map[[2]Count]float64
}

func newModel(before, after Rates) (*model, error) {
	if err := errors.Join(before.check("before"), after.check("from")); err != nil {
		return nil, err
	}
	return &model{before: before, after: after, known: map[[2]Count]float64{}}, nil
}

// marginal is the logarithm of the probability that runs before the culprit, and runs from it on, came out as they did, but for a constant.
func (m *model) marginal(before, after Count) float64 {
	key := [2]Count{before, after}
	if p, ok := m.known[key]; ok {
		return p
	}
	total := math.Inf(-1)
	for _, x := range m.before {
		for _, y := range m.after {
			p := math.Log(x.Weight) - m.beta(x.A, x.B) + math.Log(y.Weight) - m.beta(y.A, y.B) +
				m.ordered(x.A+before.Failed, x.B+before.Passed, y.A+after.Failed, y.B+after.Passed)
			total = logSum(total, p)
		}
	}
	if len(m.known) >= maxKnown {
		clear(m.known)
	}
	m.known[key] = total
	return total
}

// ordered is the logarithm of the integral of x^(a-1) (1-x)^(b-1) y^(c-1) (1-y)^(d-1) over 0 < x < y < 1.
func (m *model) ordered(a, b, c, d int) float64 {
	const most = 0.9 // of the whole may be subtracted without a loss of precision
	if min(a, d) < min(b, c) {
		whole := m.beta(a, b) + m.beta(c, d)
		if other := math.Exp(m.sum(c, d, a, b) - whole); other < most {
			return whole + math.Log1p(-other)
		}
	}
	return m.sum(a, b, c, d)
}

// sum is the same as ordered. For whole parameters it is a sum of positive terms: that of the tail of one Beta distribution as a binomial one,
// integrated over the other.
func (m *model) sum(a, b, c, d int) float64 {
	if b < c { // the same integral of 1-y < 1-x has fewer terms
		a, b, c, d = d, c, b, a
	}
	// The sum over i < c of C(d+i-1, i) B(a+i, b+d), relative to its first term.
	const large = 1e200
	term, sum, scale := 1.0, 1.0, 0.0
	for i := range c - 1 {
		term *= float64(d+i) / float64(i+1) * float64(a+i) / float64(a+b+d+i)
		if sum += term; sum > large {
			term, sum, scale = term/large, sum/large, scale+math.Log(large)
		}
	}
	return m.beta(a, b+d) + m.beta(c, d) + math.Log(sum) + scale
}

// beta is the logarithm of the Beta function.
func (m *model) beta(a, b int) float64 {
	return m.factorial(a-1) + m.factorial(b-1) - m.factorial(a+b-1)
}

func (m *model) factorial(n int) float64 {
	if m.factorials == nil {
		m.factorials = []float64{0}
	}
	for len(m.factorials) <= n {
		m.factorials = append(m.factorials, m.factorials[len(m.factorials)-1]+math.Log(float64(len(m.factorials))))
	}
	return m.factorials[n]
}

// choose is the logarithm of the number of ways to choose k of n.
func (m *model) choose(n, k int) float64 { return m.factorial(n) - m.factorial(k) - m.factorial(n-k) }

// logSum is the logarithm of the sum of what two logarithms stand for.
func logSum(a, b float64) float64 {
	if a < b {
		a, b = b, a
	}
	if math.IsInf(a, -1) {
		return a
	}
	return a + math.Log1p(math.Exp(b-a))
}
