package measure

import (
	"math"
	"slices"
	"testing"
)

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
	// 20 at 0.6, 15 right: |15/20 - 0.6| = 0.15; 30 at 0.9, 24 right: |24/30 - 0.9| = 0.1.
	// ECE = 20/50*0.15 + 30/50*0.1 = 0.12.
	// Brier = (15*0.16 + 5*0.36 + 24*0.01 + 6*0.81)/50 = (2.4+1.8+0.24+4.86)/50 = 0.186; of the rate 39/50: 0.78*0.22.
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
