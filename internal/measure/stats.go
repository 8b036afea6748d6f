package measure

import (
	"cmp"
	"math"
	"math/rand/v2"
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

// quantile of a sorted, non-empty list, with linear interpolation between its values.
func quantile(sorted []float64, q float64) float64 {
	at := q * float64(len(sorted)-1)
	i := int(math.Floor(at))
	if i+1 >= len(sorted) {
		return sorted[len(sorted)-1]
	}
	return sorted[i] + (at-float64(i))*(sorted[i+1]-sorted[i])
}

// exactBelow is the number of discordant pairs from which [mcNemar] takes the approximation.
const exactBelow = 25

// mcNemar tests whether the two kinds of discordant pairs, of which there are b and c, are equally likely (McNemar 1947). Under exactBelow
// pairs it is the exact binomial test; from there on the chi-square with the correction for continuity (Edwards 1948), (max(0,
// |b-c|-1))²/(b+c), which follows the exact test closely and from above, so that there is no jump between the two. p is two-sided.
func mcNemar(b, c int) (test string, statistic, p float64) {
	// The mid-p test has more power, but p would jump where one test gives way to the other.
	n := b + c
	if n < exactBelow {
		return ExactTest, 0, signTest(b, c)
	}
	distance := math.Max(0, math.Abs(float64(b-c))-1)
	statistic = distance * distance / float64(n)
	return ChiSquareTest, statistic, math.Erfc(math.Sqrt(statistic / 2))
}

func asNumber(yes bool) float64 { return float64(one(yes)) }

func one(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

// LeastPerBin and MostBins lay out the bins of the calibration error.
const (
	LeastPerBin = 20
	MostBins    = 15
)

// Stated is a probability that was stated for an answer, and whether the answer was right.
type Stated struct {
	Confidence float64
	Right      bool
}

// Reliability says how well stated probabilities keep what they promise.
type Reliability struct {
	Cases int `json:"cases"`
	// ECE is the expected calibration error over bins of equal mass: the mean of |right - stated| over the bins, weighted
	// by their cases. Nil with fewer than LeastPerBin cases.
	ECE *float64 `json:"ece"`
	// Perfect is what a perfectly calibrated forecaster of as many cases with the same stated probabilities shows.
	Perfect *Perfect `json:"perfect"`
	// Brier is the mean of (stated - right)², right being 1 or 0. Nil without a case.
	Brier *float64 `json:"brier"`
	// BrierOfRate is the Brier score of stating the share of right answers for every case: what knowing nothing but that share gives.
	BrierOfRate *float64 `json:"brier_of_rate"`
	Bins        []Bin    `json:"bins"`
}

// Perfect is the distribution of the ECE under perfect calibration: its mean and its 95 % point.
type Perfect struct {
	Mean float64 `json:"mean"`
	Most float64 `json:"p95"`
}

// Bin is one point of the reliability diagram: the mean stated probability and the share of right answers.
type Bin struct {
	Low    float64 `json:"low"`
	High   float64 `json:"high"`
	Stated float64 `json:"stated"`
	Right  Share   `json:"right"`
}

// ReliabilityOf measures stated probabilities. The order of list has no influence.
func ReliabilityOf(list []Stated, simulations int, r *rand.Rand) Reliability {
	sorted := slices.SortedStableFunc(slices.Values(list), func(a, b Stated) int { return cmp.Compare(a.Confidence, b.Confidence) })
	out := Reliability{Cases: len(list), Bins: []Bin{}}
	if len(list) == 0 {
		return out
	}
	p, right := make([]float64, len(sorted)), make([]float64, len(sorted))
	for i, s := range sorted {
		p[i] = s.Confidence
		if s.Right {
			right[i] = 1
		}
	}
	brier, rate := brierOf(p, right)
	out.Brier, out.BrierOfRate = &brier, &rate
	bounds := equalMass(p)
	if bounds == nil {
		return out
	}
	ece := eceOf(p, right, bounds)
	out.ECE = &ece
	out.Perfect = perfect(p, bounds, simulations, r)
	for i := range len(bounds) - 1 {
		low, high := bounds[i], bounds[i+1]
		out.Bins = append(out.Bins, Bin{
			Low: p[low], High: p[high-1], Stated: sum(p[low:high]) / float64(high-low),
			Right: shareOf(int(sum(right[low:high])), high-low),
		})
	}
	return out
}

// equalMass cuts sorted probabilities into bins of as nearly equal mass as ties allow: equal probabilities are never parted,
// so that the order of the cases has no influence, and each bin has at least LeastPerBin cases. It gives the bounds, the
// first 0, the last len(p); nil when there are too few cases.
func equalMass(p []float64) []int {
	n := len(p)
	if n < LeastPerBin {
		return nil
	}
	bins := min(MostBins, n/LeastPerBin)
	bounds := []int{0}
	for i := nextValue(p, 0); i < n; {
		next := nextValue(p, i)
		ideal := float64(len(bounds)) * float64(n) / float64(bins)
		nearest := math.Abs(float64(i)-ideal) <= math.Abs(float64(next)-ideal)
		if nearest && i-bounds[len(bounds)-1] >= LeastPerBin && n-i >= LeastPerBin {
			bounds = append(bounds, i)
		}
		i = next
	}
	return append(bounds, n)
}

// nextValue is where the next larger value begins.
func nextValue(sorted []float64, i int) int {
	value := sorted[i]
	for i < len(sorted) && sorted[i] == value {
		i++
	}
	return i
}

func eceOf(p, right []float64, bounds []int) float64 {
	gap := 0.0
	for i := range len(bounds) - 1 {
		low, high := bounds[i], bounds[i+1]
		d := sum(right[low:high]) - sum(p[low:high])
		gap += max(d, -d)
	}
	return gap / float64(len(p))
}

func brierOf(p, right []float64) (brier, ofRate float64) {
	n := float64(len(p))
	for i := range p {
		brier += (p[i] - right[i]) * (p[i] - right[i])
	}
	rate := sum(right) / n
	return brier / n, rate * (1 - rate)
}

// perfect draws right answers with the stated probabilities, again and again.
func perfect(p []float64, bounds []int, simulations int, r *rand.Rand) *Perfect {
	if simulations <= 0 {
		return nil
	}
	draws := make([]float64, simulations)
	right := make([]float64, len(p))
	for i := range draws {
		for j := range p {
			right[j] = 0
			if r.Float64() < p[j] {
				right[j] = 1
			}
		}
		draws[i] = eceOf(p, right, bounds)
	}
	slices.Sort(draws)
	return &Perfect{Mean: sum(draws) / float64(simulations), Most: quantile(draws, 0.95)}
}

func sum(list []float64) float64 {
	total := 0.0
	for _, v := range list {
		total += v
	}
	return total
}
