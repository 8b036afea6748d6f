package measure

import (
	"hash/fnv"
	"io"
	"math"
	"math/rand/v2"
	"testing"
)

// randOf is the generator of a seed; stream keeps the uses of one seed apart.
func randOf(seed uint64, stream string) *rand.Rand {
	h := fnv.New64a()
	_, _ = io.WriteString(h, stream)
	return rand.New(rand.NewPCG(seed, h.Sum64()))
}

func nearly(t *testing.T, what string, got, want, width float64) {
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
	nearly(t, "P(X <= 1), n 3, p 1/2", binomialTail(1, 3, 0.5), 0.5, 1e-12)
	nearly(t, "P(X <= 0), n 59, p 0.05", binomialTail(0, 59, 0.05), math.Pow(0.95, 59), 1e-12)
	nearly(t, "P(X <= n)", binomialTail(4, 4, 0.3), 1, 0)
	nearly(t, "p 0", binomialTail(0, 4, 0), 1, 0)
	nearly(t, "p 1", binomialTail(3, 4, 1), 0, 0)
	for _, n := range []int{1, 2, 17, 150, 300} { // beyond, the terms of the sum underflow
		for _, p := range []float64{0.01, 0.05, 0.3, 0.5, 0.9} {
			for k := 0; k < n; k += 1 + n/9 {
				nearly(t, "the tail", binomialTail(float64(k), float64(n), p), summed(k, n, p), 1e-9)
			}
		}
	}
}

func TestUpperBound(t *testing.T) {
	t.Parallel()
	nearly(t, "0 of 20", upperBound(0, 20, 0.95), 1-math.Pow(0.05, 1.0/20), 1e-9) // the rule of three, exactly
	nearly(t, "0 of 59", upperBound(0, 59, 0.95), 0.0495, 1e-4)
	nearly(t, "1 of 10", upperBound(1, 10, 0.95), 0.3942, 1e-4) // Clopper and Pearson's table
	nearly(t, "all", upperBound(5, 5, 0.95), 1, 0)
	nearly(t, "none", upperBound(0, 0, 0.95), 1, 0)
}

// Twice the binomial tail. 121 and 59 pairs are McNemar's own example of 1947 in the form of most textbooks.
func TestAccept_PL12_McNemarByHand(t *testing.T) {
	t.Parallel()
	nearly(t, "no difference", signTest(0, 0), 1, 0)
	nearly(t, "5 to 0", signTest(5, 0), 2.0/32, 1e-12)
	nearly(t, "6 to 0", signTest(0, 6), 2.0/64, 1e-12)
	nearly(t, "8 to 1", signTest(8, 1), 2*(1.0+9)/512, 1e-12)
	nearly(t, "3 to 3", signTest(3, 3), 1, 1e-9)
	nearly(t, "6 to 18", signTest(6, 18), 2*(1+24+276+2024+10626+42504+134596.0)/(1<<24), 1e-12)
	nearly(t, "18 to 7", signTest(18, 7), 0.043285250663757, 1e-12)
	nearly(t, "121 to 59", signTest(121, 59), 4.434449263755176e-06, 1e-15)
}

func TestWilson(t *testing.T) {
	t.Parallel()
	// By hand, 8 of 10 with z = 1.96: centre (0.8+0.19207)/1.38415 = 0.71674, half 0.22659.
	in := wilson(8, 10)
	nearly(t, "low", in.Low, 0.49016, 1e-4)
	nearly(t, "high", in.High, 0.94332, 1e-4)
	in = wilson(0, 10)
	nearly(t, "low of none", in.Low, 0, 1e-12)
	nearly(t, "high of none", in.High, 0.27753, 1e-4)
	if in = wilson(0, 0); in != (Interval{Low: 0, High: 1}) {
		t.Errorf("of no case: %v", in)
	}
}

func TestEffectiveCases(t *testing.T) {
	t.Parallel()
	ones := []float64{1, 1, 1, 1, 0, 0, 0, 0}
	nearly(t, "no groups", effectiveCases(ones, []int{0, 1, 2, 3, 4, 5, 6, 7}), 8, 0)
	// Student's 97.5 % points from a table: 3.182446 with 3 degrees of freedom, 2.364624 with 7.
	const wider = (3.182446 / 2.364624) * (3.182446 / 2.364624)
	// Four pairs that are always alike: the variance between clusters is 4*1/64*4/3 = 1/12, that of independent cases 1/32.
	nearly(t, "pairs alike", effectiveCases(ones, []int{0, 0, 1, 1, 2, 2, 3, 3}), 8*(1.0/32)/(1.0/12)/wider, 1e-5)
	nearly(t, "pairs opposed", effectiveCases(ones, []int{0, 1, 2, 3, 0, 1, 2, 3}), 8/wider, 1e-5)
	nearly(t, "one cluster", effectiveCases(ones, make([]int, 8)), 0.5, 0)
	nearly(t, "nothing", effectiveCases(nil, nil), 0, 0)
	// All alike, and one in a pair flipped: the clusters' sums are 1, 2, 2, 2, the mean 7/8; the squares of what is beside
	// the mean add up to 9/16 + 3/16 = 3/4; 3/4/64*4/3 = 1/64 against 7/64/8.
	alike := []float64{1, 1, 1, 1, 1, 1, 1, 1}
	nearly(t, "all alike", effectiveCases(alike, []int{0, 0, 1, 1, 2, 2, 3, 3}), 8/(8.0/7)/wider, 1e-5)
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
