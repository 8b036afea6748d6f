package stats

import (
	"math"
	"math/rand/v2"
	"slices"
)

// Clusters numbers groups from 0 in the order in which they come. An empty group is a cluster of its own.
func Clusters(groups []string) []int {
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

// Rand is the generator of a seed; stream keeps the uses of one seed apart.
func Rand(seed uint64, stream string) *rand.Rand {
	h := uint64(14695981039346656037) // FNV-1a
	for i := range len(stream) {
		h = (h ^ uint64(stream[i])) * 1099511628211
	}
	return rand.New(rand.NewPCG(seed, h)) //nolint:gosec // simulation, no secret
}

// BootstrapMeans gives, for each row of values, the 95 % percentile interval of its mean over the cases: whole clusters
// are drawn with replacement (Efron and Tibshirani 1993, ch. 8 and 13; Davison and Hinkley 1997, 3.8), the same draw for
// every row. [0, 0] without any case.
func BootstrapMeans(rows [][]float64, clusters []int, resamples int, r *rand.Rand) []Interval {
	intervals := make([]Interval, len(rows))
	if len(clusters) == 0 || resamples <= 0 {
		return intervals
	}
	sums := make([][]float64, len(rows))
	var sizes []int
	for i, row := range rows {
		sums[i], sizes = perCluster(row, clusters)
	}
	means := make([][]float64, len(rows))
	for i := range means {
		means[i] = make([]float64, resamples)
	}
	totals := make([]float64, len(rows))
	for b := range resamples {
		clear(totals)
		cases := 0
		for range sizes {
			g := r.IntN(len(sizes))
			cases += sizes[g]
			for i := range sums {
				totals[i] += sums[i][g]
			}
		}
		for i, total := range totals {
			means[i][b] = total / float64(cases)
		}
	}
	for i := range means {
		slices.Sort(means[i])
		intervals[i] = Interval{Quantile(means[i], 0.025), Quantile(means[i], 0.975)}
	}
	return intervals
}

// Quantile of a sorted, non-empty list, with linear interpolation between its values.
func Quantile(sorted []float64, q float64) float64 {
	at := q * float64(len(sorted)-1)
	i := int(math.Floor(at))
	if i+1 >= len(sorted) {
		return sorted[len(sorted)-1]
	}
	return sorted[i] + (at-float64(i))*(sorted[i+1]-sorted[i])
}
