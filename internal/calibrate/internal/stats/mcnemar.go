package stats

import "math"

// ExactBelow is the number of discordant pairs from which [McNemar] takes the approximation.
const ExactBelow = 25

// McNemarResult is what McNemar's test found.
type McNemarResult struct {
	// P is two-sided.
	P float64
	// Exact: P is that of the binomial test. Otherwise Statistic is the chi-square with one degree of freedom.
	Exact     bool
	Statistic float64
}

// McNemar tests whether the two kinds of discordant pairs, of which there are b and c, are equally likely (McNemar 1947).
// Under ExactBelow pairs it is the exact binomial test; from there on the chi-square with the correction for continuity
// (Edwards 1948), (max(0, |b-c|-1))²/(b+c), which follows the exact test closely and from above, so that there is no jump
// between the two.
func McNemar(b, c int) McNemarResult {
	// The mid-p test has more power, but P would jump where one test gives way to the other.
	n := b + c
	if n < ExactBelow {
		return McNemarResult{P: SignTest(b, c), Exact: true}
	}
	distance := math.Max(0, math.Abs(float64(b-c))-1)
	statistic := distance * distance / float64(n)
	return McNemarResult{P: math.Erfc(math.Sqrt(statistic / 2)), Statistic: statistic}
}
