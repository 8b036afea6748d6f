package calibrate

import (
	"math"
	"math/rand/v2"
	"testing"
)

func near(t *testing.T, what string, got, want, width float64) {
	t.Helper()
	if math.IsNaN(got) || math.Abs(got-want) > width {
		t.Errorf("%s is %.10f, want %.10f", what, got, want)
	}
}

// summed is the binomial tail, term by term.
func summed(k, n int, p float64) float64 {
	total, term := 0.0, math.Pow(1-p, float64(n))
	for i := range k + 1 {
		total += term
		term *= float64(n-i) / float64(i+1) * p / (1 - p)
	}
	return total
}

func TestBinomialTail(t *testing.T) {
	t.Parallel()
	near(t, "P(X <= 1), n 3, p 1/2", binomialTail(1, 3, 0.5), 0.5, 1e-12)
	near(t, "P(X <= 0), n 59, p 0.05", binomialTail(0, 59, 0.05), math.Pow(0.95, 59), 1e-12)
	near(t, "P(X <= n)", binomialTail(4, 4, 0.3), 1, 0)
	near(t, "p 0", binomialTail(0, 4, 0), 1, 0)
	near(t, "p 1", binomialTail(3, 4, 1), 0, 0)
	for _, n := range []int{1, 2, 17, 150, 300} { // beyond, the terms of the sum underflow
		for _, p := range []float64{0.01, 0.05, 0.3, 0.5, 0.9} {
			for k := 0; k < n; k += 1 + n/9 {
				near(t, "the tail", binomialTail(float64(k), float64(n), p), summed(k, n, p), 1e-9)
			}
		}
	}
}

func TestUpperBound(t *testing.T) {
	t.Parallel()
	near(t, "0 of 20", upperBound(0, 20, 0.95), 1-math.Pow(0.05, 1.0/20), 1e-9) // the rule of three, exactly
	near(t, "0 of 59", upperBound(0, 59, 0.95), 0.0495, 1e-4)
	near(t, "1 of 10", upperBound(1, 10, 0.95), 0.3942, 1e-4) // Clopper and Pearson's table
	near(t, "all", upperBound(5, 5, 0.95), 1, 0)
	near(t, "none", upperBound(0, 0, 0.95), 1, 0)
}

func TestSignTest(t *testing.T) {
	t.Parallel()
	near(t, "no difference", signTest(0, 0), 1, 0)
	near(t, "5 to 0", signTest(5, 0), 2.0/32, 1e-12)
	near(t, "6 to 0", signTest(0, 6), 2.0/64, 1e-12)
	near(t, "8 to 1", signTest(8, 1), 2*(1.0+9)/512, 1e-12)
	near(t, "3 to 3", signTest(3, 3), 1, 1e-9)
}

func TestWilson(t *testing.T) {
	t.Parallel()
	// By hand, 8 of 10 with z = 1.96: centre (0.8+0.19207)/1.38415 = 0.71674, half 0.22659.
	in := wilson(8, 10)
	near(t, "low", in.Low, 0.49016, 1e-4)
	near(t, "high", in.High, 0.94332, 1e-4)
	in = wilson(0, 10)
	near(t, "low of none", in.Low, 0, 1e-12)
	near(t, "high of none", in.High, 0.27753, 1e-4)
	if in = wilson(0, 0); in != (Interval{Low: 0, High: 1}) {
		t.Errorf("of no case: %v", in)
	}
}

func TestEffectiveCases(t *testing.T) {
	t.Parallel()
	ones := []float64{1, 1, 1, 1, 0, 0, 0, 0}
	near(t, "no groups", effectiveCases(ones, []int{0, 1, 2, 3, 4, 5, 6, 7}), 8, 0)
	// Student's 97.5 % points from a table: 3.182446 with 3 degrees of freedom, 2.364624 with 7.
	const wider = (3.182446 / 2.364624) * (3.182446 / 2.364624)
	// Four pairs that are always alike: the variance between clusters is 4*1/64*4/3 = 1/12, that of independent cases 1/32.
	near(t, "pairs alike", effectiveCases(ones, []int{0, 0, 1, 1, 2, 2, 3, 3}), 8*(1.0/32)/(1.0/12)/wider, 1e-5)
	near(t, "pairs opposed", effectiveCases(ones, []int{0, 1, 2, 3, 0, 1, 2, 3}), 8/wider, 1e-5)
	near(t, "one cluster", effectiveCases(ones, make([]int, 8)), 0.5, 0)
	near(t, "nothing", effectiveCases(nil, nil), 0, 0)
	// All alike, and one in a pair flipped: the clusters' sums are 1, 2, 2, 2, the mean 7/8; the squares of what is beside
	// the mean add up to 9/16 + 3/16 = 3/4; 3/4/64*4/3 = 1/64 against 7/64/8.
	alike := []float64{1, 1, 1, 1, 1, 1, 1, 1}
	near(t, "all alike", effectiveCases(alike, []int{0, 0, 1, 1, 2, 2, 3, 3}), 8/(8.0/7)/wider, 1e-5)
	if alike[0] != 1 {
		t.Error("the values were changed")
	}
}

func TestClusters(t *testing.T) {
	t.Parallel()
	got := clustersOf([]string{"x", "", "y", "x", "", "y"})
	for i, want := range []int{0, 1, 2, 0, 3, 2} {
		if got[i] != want {
			t.Fatalf("clusters %v", got)
		}
	}
}

func TestQuantile(t *testing.T) {
	t.Parallel()
	list := []float64{1, 2, 4, 8}
	for q, want := range map[float64]float64{0: 1, 0.5: 3, 1: 8, 0.25: 1.75} {
		near(t, "quantile", quantile(list, q), want, 1e-12)
	}
}

func TestBootstrapMeansOfTwoCasesByHand(t *testing.T) {
	t.Parallel()
	// Two clusters give four equally likely draws, with means 0, 1/2, 1/2, 1: both ends are beyond the 2.5 % points.
	in := bootstrapMeans([][]float64{{0, 1}, {1, 0}, {1, 1}}, []int{0, 1}, 2000, randOf(1, "x"))
	if in[0] != (Interval{Low: 0, High: 1}) || in[1] != in[0] || in[2] != (Interval{Low: 1, High: 1}) {
		t.Errorf("intervals %v", in)
	}
	// In one cluster there is nothing to resample.
	if in := bootstrapMeans([][]float64{{0, 1, 1, 1}}, make([]int, 4), 50, randOf(1, "x")); in[0] != (Interval{Low: .75, High: .75}) {
		t.Errorf("one cluster: %v", in)
	}
	if in := bootstrapMeans([][]float64{{}}, nil, 50, randOf(1, "x")); in[0] != (Interval{}) {
		t.Errorf("no case: %v", in)
	}
}

// TestBootstrapCovers: of 400 samples of 120 cases in clusters of four that belong together, the interval over clusters
// holds the true mean about as often as it says; the one that takes the cases for independent does not.
func TestBootstrapCovers(t *testing.T) {
	t.Parallel()
	const samples, clusters, size, mean = 400, 40, 4, 0.1
	r := rand.New(rand.NewPCG(7, 7))
	clustered, independent := 0, 0
	for range samples {
		var values []float64
		var groups, singles []int
		for g := range clusters {
			shared := r.NormFloat64()
			for range size {
				values = append(values, mean+shared+0.3*r.NormFloat64())
				groups, singles = append(groups, g), append(singles, len(singles))
			}
		}
		if holds(values, groups, mean) {
			clustered++
		}
		if holds(values, singles, mean) {
			independent++
		}
	}
	// 95 % of 400 is 380, with a standard deviation of 4.4; the percentile interval of 40 clusters falls a little short.
	if clustered < 360 || clustered > 396 {
		t.Errorf("over clusters the interval holds the mean in %d of %d samples", clustered, samples)
	}
	if independent > 330 {
		t.Errorf("over cases the interval holds the mean in %d of %d samples: the clusters make no difference", independent, samples)
	}
}

func holds(values []float64, clusters []int, mean float64) bool {
	in := bootstrapMeans([][]float64{values}, clusters, 300, randOf(3, "coverage"))[0]
	return in.Low <= mean && mean <= in.High
}
