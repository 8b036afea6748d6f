package main

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
)

// leastPerBin and mostBins lay out the bins of the calibration error.
const (
	leastPerBin = 20
	mostBins    = 15
)

// stated is a probability that was stated for an answer, and whether the answer was right.
type stated struct {
	Confidence float64
	Right      bool
}

// reliability says how well stated probabilities keep what they promise.
type reliability struct {
	// ECE is the expected calibration error over bins of equal mass: the mean of |right - stated| over the bins, weighted
	// by their cases. Nil with fewer than leastPerBin cases.
	ECE *float64
	// Perfect is what a perfectly calibrated forecaster of as many cases with the same stated probabilities shows.
	Perfect *byChance
	// Brier is the mean of (stated - right)², right being 1 or 0. Nil without a case.
	Brier *float64
}

// byChance is the distribution of the ECE under perfect calibration: its mean and its 95 % point.
type byChance struct {
	Mean float64
	Most float64
}

// reliabilityOf measures stated probabilities. The order of list has no influence.
func reliabilityOf(list []stated, simulations int, r *rand.Rand) reliability {
	sorted := slices.SortedStableFunc(slices.Values(list), func(a, b stated) int { return cmp.Compare(a.Confidence, b.Confidence) })
	out := reliability{}
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
	brier := 0.0
	for i := range p {
		brier += (p[i] - right[i]) * (p[i] - right[i]) / float64(len(p))
	}
	out.Brier = &brier
	bounds := equalMass(p)
	if bounds == nil {
		return out
	}
	ece := eceOf(p, right, bounds)
	out.ECE = &ece
	out.Perfect = perfect(p, bounds, simulations, r)
	return out
}

// equalMass cuts sorted probabilities into bins of as nearly equal mass as ties allow: equal probabilities are never parted,
// so that the order of the cases has no influence, and each bin has at least leastPerBin cases. It gives the bounds, the
// first 0, the last len(p); nil when there are too few cases.
func equalMass(p []float64) []int {
	n := len(p)
	if n < leastPerBin {
		return nil
	}
	bins := min(mostBins, n/leastPerBin)
	bounds := []int{0}
	for i := nextValue(p, 0); i < n; {
		next := nextValue(p, i)
		ideal := float64(len(bounds)) * float64(n) / float64(bins)
		nearest := math.Abs(float64(i)-ideal) <= math.Abs(float64(next)-ideal)
		if nearest && i-bounds[len(bounds)-1] >= leastPerBin && n-i >= leastPerBin {
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

// perfect draws right answers with the stated probabilities, again and again.
func perfect(p []float64, bounds []int, simulations int, r *rand.Rand) *byChance {
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
	return &byChance{Mean: sum(draws) / float64(simulations), Most: quantile(draws, 0.95)}
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

func sum(list []float64) float64 {
	total := 0.0
	for _, v := range list {
		total += v
	}
	return total
}
