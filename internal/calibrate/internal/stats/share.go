package stats

import (
	"math"
	"slices"
)

// Interval is a two-sided interval, Low <= High.
type Interval struct {
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// z95 is the 97.5 % point of the normal distribution.
const z95 = 1.959963984540054

// Wilson is the 95 % score interval of a share of k in n. n may be an effective, real number. [0, 1] without any case.
func Wilson(k, n float64) Interval {
	if n <= 0 {
		return Interval{0, 1}
	}
	p, z2 := k/n, z95*z95
	centre := (p + z2/(2*n)) / (1 + z2/n)
	half := z95 / (1 + z2/n) * math.Sqrt(p*(1-p)/n+z2/(4*n*n))
	return Interval{max(0, centre-half), min(1, centre+half)}
}

// EffectiveCases is how many independent cases the values (0 or 1) are worth when those of a cluster belong together:
// n divided by the design effect, which is the variance of the mean as the clusters show it over that of independent
// cases (Kish, Survey Sampling, 1965), and by the square of how much wider Student's interval is with as many degrees of
// freedom as there are clusters less one than with as many as there are cases less one (Korn and Graubard 1998). Never more
// than the cases; less than 1 for a single cluster. Where all values are equal the design effect can't be seen; then it is
// that of one other value, in the largest cluster.
func EffectiveCases(values []float64, clusters []int) float64 {
	n := float64(len(values))
	sums, sizes := perCluster(values, clusters)
	g := float64(len(sums))
	if len(sums) == len(values) {
		return n
	}
	if g < 2 {
		return min(1, g) / 2
	}
	total := 0.0
	for _, s := range sums {
		total += s
	}
	if total == 0 || total == n {
		largest := slices.Index(sizes, slices.Max(sizes))
		change := 1 - 2*total/n
		sums[largest] += change
		total += change
	}
	mean := total / n
	between := 0.0
	for i, s := range sums {
		d := s - mean*float64(sizes[i])
		between += d * d
	}
	clustered := between / (n * n) * g / (g - 1)
	wider := student975(g-1) / student975(n-1)
	return n / (max(1, clustered/(mean*(1-mean)/n)) * wider * wider)
}

// perCluster adds up the values of each cluster; clusters are numbered from 0 without gaps.
func perCluster(values []float64, clusters []int) (sums []float64, sizes []int) {
	for i, v := range values {
		for clusters[i] >= len(sums) {
			sums, sizes = append(sums, 0), append(sizes, 0)
		}
		sums[clusters[i]] += v
		sizes[clusters[i]]++
	}
	return sums, sizes
}
