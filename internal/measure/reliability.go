package measure

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
)

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
	// BrierOfRate is the Brier score of stating the share of right answers for every case: what knowing nothing but that
	// share gives.
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
