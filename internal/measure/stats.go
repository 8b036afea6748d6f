package measure

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mathext"
)

// Interval is a two-sided interval, Low <= High.
type Interval struct {
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// z95 is the 97.5 % point of the normal distribution.
const z95 = 1.959963984540054

// wilson is the 95 % score interval of a share of k in n. n may be an effective, real number. [0, 1] without any case.
func wilson(k, n float64) Interval {
	if n <= 0 {
		return Interval{0, 1}
	}
	p, z2 := k/n, z95*z95
	centre := (p + z2/(2*n)) / (1 + z2/n)
	half := z95 / (1 + z2/n) * math.Sqrt(p*(1-p)/n+z2/(4*n*n))
	return Interval{max(0, centre-half), min(1, centre+half)}
}

// effectiveCases is how many independent cases the values (0 or 1) are worth when those of a cluster belong together: n divided by the
// design effect, which is the variance of the mean as the clusters show it over that of independent cases (Kish, Survey Sampling, 1965),
// and by the square of how much wider Student's interval is with as many degrees of freedom as there are clusters less one than with as
// many as there are cases less one (Korn and Graubard 1998). Never more than the cases; less than 1 for a single cluster. Where all values
// are equal the design effect can't be seen; then it is that of one other value, in the largest cluster.
func effectiveCases(values []float64, clusters []int) float64 {
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

// binomialTail is P(X <= k) for X ~ Binomial(n, p). It takes real k and n, 0 <= k <= n, so that an effective number of
// cases can stand in for n: P(X <= k) = I_{1-p}(n-k, k+1), with I the regularised incomplete beta function.
func binomialTail(k, n, p float64) float64 {
	switch {
	case k >= n || p <= 0:
		return 1
	case p >= 1:
		return 0
	}
	return mathext.RegIncBeta(n-k, k+1, 1-p)
}

// upperBound is the Clopper-Pearson upper end: the largest p at which k or fewer of n are still as likely as 1-confidence.
// 1 without any case.
func upperBound(k, n, confidence float64) float64 {
	if k >= n {
		return 1
	}
	low, high := 0.0, 1.0
	for range 60 {
		if mid := (low + high) / 2; binomialTail(k, n, mid) > 1-confidence {
			low = mid
		} else {
			high = mid
		}
	}
	return high
}

// signTest is the exact two-sided test that plus and minus are equally likely. Over single cases, of which one method has
// right what the other has wrong, it is McNemar's exact test. 1 without any case.
func signTest(plus, minus int) float64 {
	n := plus + minus
	if n == 0 {
		return 1
	}
	return min(1, 2*binomialTail(float64(min(plus, minus)), float64(n), 0.5))
}

// student975 is the 97.5 % point of Student's t with df degrees of freedom, by bisection of its distribution, which is
// P(T <= t) = 1 - I_x(df/2, 1/2)/2 with x = df/(df+t*t).
func student975(df float64) float64 {
	low, high := 1.0, 13.0 // 12.7 with one degree, 1.96 with all
	for range 50 {
		if mid := (low + high) / 2; mathext.RegIncBeta(df/2, 0.5, df/(df+mid*mid))/2 > 0.025 {
			low = mid
		} else {
			high = mid
		}
	}
	return high
}

// clustersOf numbers groups from 0 in the order in which they come. An empty group is a cluster of its own.
func clustersOf(groups []string) []int {
	numbers := make([]int, len(groups))
	seen := map[string]int{}
	next := 0
	for i, g := range groups {
		number, known := seen[g]
		if !known {
			number = next
			next++
			if g != "" { // so that the next empty one is another cluster
				seen[g] = number
			}
		}
		numbers[i] = number
	}
	return numbers
}

func asNumber(yes bool) float64 { return float64(one(yes)) }

func one(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

func sum(list []float64) float64 {
	total := 0.0
	for _, v := range list {
		total += v
	}
	return total
}
