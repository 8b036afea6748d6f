package measure

import (
	"hash/fnv"
	"io"
	"math"
	"math/rand/v2"
	"slices"
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

func TestSignTest(t *testing.T) {
	t.Parallel()
	nearly(t, "no difference", signTest(0, 0), 1, 0)
	nearly(t, "5 to 0", signTest(5, 0), 2.0/32, 1e-12)
	nearly(t, "6 to 0", signTest(0, 6), 2.0/64, 1e-12)
	nearly(t, "8 to 1", signTest(8, 1), 2*(1.0+9)/512, 1e-12)
	nearly(t, "3 to 3", signTest(3, 3), 1, 1e-9)
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

func TestQuantile(t *testing.T) {
	t.Parallel()
	list := []float64{1, 2, 4, 8}
	for q, want := range map[float64]float64{0: 1, 0.5: 3, 1: 8, 0.25: 1.75} {
		nearly(t, "quantile", quantile(list, q), want, 1e-12)
	}
}

// Worked by hand: below 25 pairs twice the binomial tail, such as 2(1+6)/2^6 for 1 and 5; from 25 on the chi-square.
// McNemar's own example of 1947 in the form of most textbooks has 121 and 59 pairs: (62-1)²/180 = 20.67.
func TestAccept_PL12_McNemarByHand(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		b, c      int
		exact     bool
		statistic float64
		p         float64
	}{
		{0, 0, true, 0, 1},
		{1, 0, true, 0, 1},
		{5, 0, true, 0, 2.0 / 32},
		{6, 0, true, 0, 2.0 / 64},
		{1, 5, true, 0, 14.0 / 64},
		{5, 1, true, 0, 14.0 / 64},
		{2, 8, true, 0, 112.0 / 1024},
		{12, 12, true, 0, 1},
		{6, 18, true, 0, 2 * (1 + 24 + 276 + 2024 + 10626 + 42504 + 134596.0) / (1 << 24)},
		{25, 0, false, 24 * 24 / 25.0, 1.6e-6},
		{13, 12, false, 0, 1},
		{15, 10, false, 16 / 25.0, 0.4237},
		{18, 7, false, 4, 0.0455003},
		{121, 59, false, 61 * 61 / 180.0, 5.45e-6},
	} {
		name, statistic, p := mcNemar(test.b, test.c)
		if (name == ExactTest) != test.exact || math.Abs(statistic-test.statistic) > 1e-9 || math.Abs(p-test.p) > 1e-4*math.Max(test.p, 0.01) && math.Abs(p/test.p-1) > 0.01 {
			t.Errorf("%d and %d: %s %g, p = %g, want %+v", test.b, test.c, name, statistic, p, test)
		}
	}
}

// Where one test gives way to the other, they say nearly the same.
func TestMcNemarHasNoJump(t *testing.T) {
	t.Parallel()
	for b := range exactBelow + 1 {
		c := exactBelow - b
		_, _, approximate := mcNemar(b, c)
		if exact := signTest(b, c); math.Abs(exact-approximate) > 0.012 {
			t.Errorf("%d and %d: %g, by the exact test %g", b, c, approximate, exact)
		}
	}
}

// stated are n answers of a confidence, the first right of them right.
func stated(n, right int, confidence float64) []Stated {
	list := make([]Stated, n)
	for i := range list {
		list[i] = Stated{Confidence: confidence, Right: i < right}
	}
	return list
}

func wantNear(t *testing.T, what string, got *float64, want float64) {
	t.Helper()
	if got == nil || math.Abs(*got-want) > 1e-9 {
		t.Errorf("%s is %v, want %v", what, got, want)
	}
}

func TestAccept_ME5_ReliabilityByHand(t *testing.T) {
	t.Parallel()
	// 20 at 0.6, 15 right: |15/20 - 0.6| = 0.15; 30 at 0.9, 24 right: |24/30 - 0.9| = 0.1. ECE = 20/50*0.15 + 30/50*0.1 = 0.12. Brier =
	// (15*0.16 + 5*0.36 + 24*0.01 + 6*0.81)/50 = (2.4+1.8+0.24+4.86)/50 = 0.186; of the rate 39/50: 0.78*0.22.
	list := slices.Concat(stated(20, 15, .6), stated(30, 24, .9))
	r := ReliabilityOf(list, 4000, randOf(1, "x"))
	wantNear(t, "ECE", r.ECE, 0.12)
	wantNear(t, "Brier", r.Brier, 0.186)
	wantNear(t, "Brier of the rate", r.BrierOfRate, 0.78*0.22)
	if len(r.Bins) != 2 || r.Bins[0].Right.Of != 20 || r.Bins[1].Stated < 0.9-1e-9 {
		t.Errorf("bins %+v", r.Bins)
	}
	// A perfectly calibrated one: the mean of |Bin(20, 0.6)/20 - 0.6|*0.4 + |Bin(30, 0.9)/30 - 0.9|*0.6, exactly.
	want := 0.4*meanGap(20, .6) + 0.6*meanGap(30, .9)
	if math.Abs(r.Perfect.Mean-want) > 0.002 || r.Perfect.Most <= r.Perfect.Mean {
		t.Errorf("perfect %+v, want a mean of %v", r.Perfect, want)
	}
	slices.Reverse(list)
	if again := ReliabilityOf(list, 10, randOf(1, "x")); *again.ECE != *r.ECE || *again.Brier != *r.Brier {
		t.Error("the order of the cases has an influence")
	}
}

// meanGap is the mean absolute deviation of a binomial share.
func meanGap(n int, p float64) float64 {
	total, probability := 0.0, math.Pow(1-p, float64(n))
	for k := range n + 1 {
		total += probability * math.Abs(float64(k)/float64(n)-p)
		probability *= float64(n-k) / float64(k+1) * p / (1 - p)
	}
	return total
}

func TestBinsAreOfEqualMassAndNotTooSmall(t *testing.T) {
	t.Parallel()
	spread := func(n int) []Stated {
		list := make([]Stated, n)
		for i := range list {
			list[i].Confidence = float64(i) / float64(n)
		}
		return list
	}
	for _, test := range []struct {
		name string
		list []Stated
		want []int
	}{
		{"too few", spread(19), nil},
		{"one bin", spread(39), []int{39}},
		{"two", spread(40), []int{20, 20}},
		{"uneven", spread(47), []int{23, 24}},
		{"no more than fifteen", spread(600), slices.Repeat([]int{40}, 15)},
		{"ties are not parted", slices.Concat(stated(30, 9, .5), stated(30, 9, .6)), []int{30, 30}},
		{"all alike", stated(100, 50, .7), []int{100}},
		{"the last is not too small", slices.Concat(spread(25), stated(30, 9, 1), stated(5, 1, 2)), []int{20, 40}},
	} {
		r := ReliabilityOf(test.list, 1, randOf(1, "x"))
		var got []int
		for _, b := range r.Bins {
			got = append(got, b.Right.Of)
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: bins of %v, want %v", test.name, got, test.want)
		}
		if (r.ECE == nil) != (test.want == nil) {
			t.Errorf("%s: ECE %v", test.name, r.ECE)
		}
	}
}

// TestPerfectIsWhatCalibratedOnesShow: of 300 forecasters that are calibrated, about one in twenty shows more than the
// 95 % point, and their mean is the mean that is stated.
func TestPerfectIsWhatCalibratedOnesShow(t *testing.T) {
	t.Parallel()
	r := randOf(4, "calibrated")
	above, total, mean := 0, 0.0, 0.0
	const forecasters = 300
	for range forecasters {
		list := make([]Stated, 150)
		for i := range list {
			p := 0.5 + 0.5*r.Float64()
			list[i] = Stated{Confidence: p, Right: r.Float64() < p}
		}
		got := ReliabilityOf(list, 200, randOf(1, "x"))
		if *got.ECE > got.Perfect.Most {
			above++
		}
		total += *got.ECE
		mean += got.Perfect.Mean
	}
	if above < 4 || above > 30 { // 15, with a standard deviation of 3.8
		t.Errorf("%d of %d calibrated forecasters are above the 95 %% point", above, forecasters)
	}
	if math.Abs(total-mean)/forecasters > 0.004 {
		t.Errorf("they show %.4f, and %.4f is stated", total/forecasters, mean/forecasters)
	}
}
