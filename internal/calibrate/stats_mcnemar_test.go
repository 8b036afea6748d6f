package calibrate

import (
	"math"
	"testing"
)

// Worked by hand: below 25 pairs twice the binomial tail, such as 2(1+6)/2^6 for
// 1 and 5; from 25 on the chi-square. McNemar's own example of 1947 in the form of
// most textbooks has 121 and 59 pairs: (62-1)²/180 = 20.67.
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
		got := mcNemar(test.b, test.c)
		if got.Exact != test.exact || math.Abs(got.Statistic-test.statistic) > 1e-9 || math.Abs(got.P-test.p) > 1e-4*math.Max(test.p, 0.01) && math.Abs(got.P/test.p-1) > 0.01 {
			t.Errorf("%d and %d: %+v, want %+v", test.b, test.c, got, test)
		}
	}
}

// Where one test gives way to the other, they say nearly the same.
func TestMcNemarHasNoJump(t *testing.T) {
	t.Parallel()
	for b := range exactBelow + 1 {
		c := exactBelow - b
		if exact, approximate := signTest(b, c), mcNemar(b, c).P; math.Abs(exact-approximate) > 0.012 {
			t.Errorf("%d and %d: %g, by the exact test %g", b, c, approximate, exact)
		}
	}
}
