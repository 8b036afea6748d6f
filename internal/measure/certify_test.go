package measure

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
	"github.com/shadowcourt/shadowcourt/internal/testkit/tier"
)

// answers are n answers of a confidence, the first wrong of them wrong.
func answers(n, wrong int, confidence float64) []Point {
	list := make([]Point, n)
	for i := range list {
		list[i] = Point{Confidence: confidence, Right: i >= wrong}
	}
	return list
}

func TestCertifyByHand(t *testing.T) {
	t.Parallel()
	// P(X <= 0) = 0.95^n falls to 0.05 at n = 59.
	c := Certify(answers(59, 0, 0.9), BandOptions{})
	if c.Threshold == nil || *c.Threshold != 0.9 || c.Accepted != 59 || c.Wrong != 0 || c.Needed != nil {
		t.Fatalf("59 right answers: %+v", c)
	}
	if want := 1 - math.Pow(0.05, 1.0/59); math.Abs(*c.ErrorBound-want) > 1e-9 || *c.ErrorBound > 0.05 {
		t.Errorf("bound %v, want %v", *c.ErrorBound, want)
	}
	// The sequence goes from strict to loose, and stops at the first that fails: 0.8 fails with 15 wrong of 159, so that
	// 0.7 is not tested, though with 15 of 1159 it would pass.
	list := slices.Concat(answers(100, 0, 0.9), answers(59, 15, 0.8), answers(1000, 0, 0.7))
	c = Certify(list[:159], BandOptions{})
	if c.Threshold == nil || *c.Threshold != 0.9 || c.Accepted != 100 {
		t.Errorf("100 right, then 15 wrong of 59: %+v", c)
	}
	if last := c.Tested[len(c.Tested)-1]; last.Threshold != 0.8 || last.Accepted != 159 || last.Wrong != 15 || last.P < 0.05 {
		t.Errorf("the last test: %+v", last)
	}
	// The order of the cases has no influence.
	slices.Reverse(list)
	again := Certify(list[len(list)-159:], BandOptions{})
	if *again.Threshold != *c.Threshold || len(again.Tested) != len(c.Tested) {
		t.Errorf("reversed: %+v", again)
	}
}

func TestCertifyCountsGroupsForLess(t *testing.T) {
	t.Parallel()
	// Eight wrong of 300 pass; eight wrong of one group among thirty are worth less than 300 cases.
	list := answers(300, 8, 0.9)
	if c := Certify(list, BandOptions{}); c.Threshold == nil {
		t.Fatalf("8 wrong of 300: %+v", c.Tested)
	}
	for i := range list {
		list[i].Group = string(rune('a' + i/10))
	}
	if c := Certify(list, BandOptions{}); c.Threshold != nil {
		t.Errorf("8 wrong of one group of 10 pass as if they were independent: %+v", c)
	}
}

func TestAccept_FT3_TooFewCasesSayHowManyAreNeeded(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name string
		list []Point
		o    BandOptions
		want int // 0: no number
	}{
		{"no case", nil, BandOptions{}, 59},
		{"58 right", answers(58, 0, 0.9), BandOptions{}, 59},
		{"10 right", answers(10, 0, 0.9), BandOptions{}, 59},
		{"1 %, 99 %", answers(10, 0, 0.9), BandOptions{MaxError: 0.01, Confidence: 0.99}, 459}, // ln 0.01 / ln 0.99 = 458.2
		{"half of them wrong", answers(200, 100, 0.9), BandOptions{}, 0},
	} {
		c := Certify(test.list, test.o)
		switch {
		case c.Threshold != nil:
			t.Errorf("%s: certifies %v", test.name, *c.Threshold)
		case test.want == 0 && c.Needed != nil:
			t.Errorf("%s: %d are said to be needed", test.name, *c.Needed)
		case test.want > 0 && (c.Needed == nil || *c.Needed != test.want):
			t.Errorf("%s: needs %v, want %d", test.name, c.Needed, test.want)
		}
	}
}

// TestAccept_FT3_WhatIsNeededIsEnough: 2 wrong of 100 certify nothing; as many as are said to be needed, with as many wrong
// in proportion, do.
func TestAccept_FT3_WhatIsNeededIsEnough(t *testing.T) {
	t.Parallel()
	c := Certify(answers(100, 2, 0.9), BandOptions{})
	if c.Threshold != nil || c.Needed == nil {
		t.Fatalf("2 wrong of 100: %+v", c)
	}
	n := *c.Needed
	if wrong := n * 2 / 100; Certify(answers(n, wrong, 0.9), BandOptions{}).Threshold == nil {
		t.Errorf("%d cases, %d wrong, are not enough", n, wrong)
	}
	if less := n * 3 / 4; Certify(answers(less, (less*2+99)/100, 0.9), BandOptions{}).Threshold != nil {
		t.Errorf("%d cases are enough, %d are said to be needed", less, n)
	}
}

// world is a domain in which the probability of a wrong answer depends on the stated confidence, which is spread evenly over [0.5, 1] if states
// is nil. groups of cases share a confidence; 0 is none.
type world struct {
	name   string
	size   int
	groups int
	states func(r *rand.Rand) float64
	wrong  func(confidence float64) float64
}

func even(r *rand.Rand) float64 { return 0.5 + r.Float64()/2 }

func (w *world) draw(r *rand.Rand) []Point {
	states := w.states
	if states == nil {
		states = even
	}
	list, shared := make([]Point, w.size), make([]float64, w.groups)
	for g := range shared {
		shared[g] = states(r)
	}
	for i := range list {
		c := states(r)
		if w.groups > 0 {
			g := r.IntN(w.groups)
			c, list[i].Group = shared[g], strconv.Itoa(g)
		}
		list[i].Confidence, list[i].Right = c, r.Float64() >= w.wrong(c)
	}
	return list
}

// wrongAmong is the share of wrong answers among those accepted.
func (w *world) wrongAmong(threshold float64) float64 {
	total, n := 0.0, 0.0
	const steps = 2000
	r := randOf(16, w.name)
	for i := range steps {
		c := 0.5 + 0.5*(float64(i)+0.5)/steps
		if w.states != nil {
			c = w.states(r)
		}
		if c >= threshold {
			total, n = total+w.wrong(c), n+1
		}
	}
	return total / n
}

// certified counts the dockets that are certified, those whose bound is broken, and the share of cases accepted.
func (w *world) certified(r *rand.Rand, dockets int, bound float64, also func([]Point)) (certified, broken int, accepted float64) {
	for range dockets {
		list := w.draw(r)
		if c := Certify(list, BandOptions{MaxError: bound}); c.Threshold != nil {
			certified++
			accepted += float64(c.Accepted) / float64(w.size*dockets)
			if w.wrongAmong(*c.Threshold) > bound {
				broken++
			}
		}
		if also != nil {
			also(list)
		}
	}
	return certified, broken, accepted
}

func calibrated(c float64) float64 { return 1 - c }

// cliff is one share of wrong answers from a confidence on, and another below.
func cliff(least, wrong, below float64) func(float64) float64 {
	return func(c float64) float64 {
		if c >= least {
			return wrong
		}
		return below
	}
}

// TestAccept_FT3_TheBoundHoldsAsOftenAsPromised: in each of several worlds, many dockets. What is certified may break the
// bound in at most one docket in twenty.
func TestAccept_FT3_TheBoundHoldsAsOftenAsPromised(t *testing.T) {
	t.Parallel()
	const dockets = 500
	for _, w := range []world{
		{name: "calibrated", wrong: calibrated},
		{name: "overconfident", wrong: func(c float64) float64 { return min(1, 2*(1-c)) }},
		{name: "a cliff at 0.8", wrong: cliff(0.8, 0.049, 0.30)},
		{name: "always just above the bound", wrong: cliff(0, 0.0501, 0)},
	} {
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			w.size = 300
			naive := 0
			certified, broken, _ := w.certified(randOf(11, w.name), dockets, 0.05, func(list []Point) {
				if w.wrongAmong(loosestBySight(list)) > 0.05 {
					naive++
				}
			})
			// One in twenty of 500 is 25, with a standard deviation of 4.9: 40 is three of them above.
			if broken > 40 {
				t.Errorf("the bound is broken in %d of %d dockets, %d certified", broken, dockets, certified)
			}
			if naive <= 40 {
				t.Errorf("even taking the loosest threshold that looks right breaks the bound in %d dockets only: nothing is shown", naive)
			}
			if w.name == "a cliff at 0.8" && certified == dockets {
				t.Error("an error at the bound is always certified")
			}
		})
	}
}

// loosestBySight is what somebody would choose who tests nothing: the loosest threshold at which no more than a twentieth was wrong.
func loosestBySight(list []Point) float64 {
	loosest := 1.0
	for i := 100; i >= 50; i-- {
		accepted, wrong := 0, 0.0
		for _, p := range list {
			if p.Confidence >= float64(i)/100 {
				accepted++
				wrong += 1 - asNumber(p.Right)
			}
		}
		if accepted > 0 && wrong <= 0.05*float64(accepted) {
			loosest = float64(i) / 100
		}
	}
	return loosest
}

// TestAccept_FT3_EnoughCasesCertify: with plenty of cases the threshold is near the one that a calibrated world has, 0.9.
func TestAccept_FT3_EnoughCasesCertify(t *testing.T) {
	t.Parallel()
	c := Certify((&world{size: 8000, wrong: calibrated}).draw(randOf(12, "plenty")), BandOptions{})
	if c.Threshold == nil || *c.Threshold < 0.9 || *c.Threshold > 0.93 {
		t.Errorf("%+v", c)
	}
}

// TestTheSecondSequence: a wrong answer among the surest ends the first sequence before it began; with so few wrong ones among
// all the second still passes.
func TestTheSecondSequence(t *testing.T) {
	t.Parallel()
	c := Certify(slices.Concat(answers(60, 2, 0.99), answers(400, 3, 0.9)), BandOptions{})
	if c.Threshold == nil || *c.Threshold != 0.9 || c.Accepted != 460 {
		t.Errorf("%+v", c)
	}
	first, second := c.Tested[0], c.Tested[len(c.Tested)-1]
	if first.Accepted != 60 || first.P <= first.Level || second.Accepted != 460 || math.Abs(first.Level+second.Level-0.05) > 1e-9 {
		t.Errorf("tested %+v", c.Tested)
	}
	// Thresholds between two confidences accept the same cases: the strictest of them is promised.
	if c = Certify(answers(100, 0, 0.7345), BandOptions{}); c.Threshold == nil || *c.Threshold != 0.734 {
		t.Errorf("%+v", c)
	}
}

// TestAccept_QU6_TheSmallestCountIsCertified: for several bounds, as many right answers as can pass at all are certified, though
// all that are less sure are wrong; one fewer is not.
func TestAccept_QU6_TheSmallestCountIsCertified(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		o     BandOptions
		least int // ln(1 - confidence) / ln(1 - bound), rounded up
	}{
		{BandOptions{MaxError: 0.1}, 29},
		{BandOptions{}, 59},
		{BandOptions{MaxError: 0.2, Confidence: 0.9}, 11},
		{BandOptions{MaxError: 0.01, Confidence: 0.99}, 459},
		{BandOptions{MaxError: 0.5, Confidence: 0.5}, 1},
	} {
		wrong := answers(130, 130, 0.6)
		if c := Certify(slices.Concat(answers(test.least, 0, 0.9), wrong), test.o); c.Threshold == nil || *c.Threshold != 0.9 || c.Accepted != test.least {
			t.Errorf("%+v: %d right answers are not certified: %+v", test.o, test.least, c)
		}
		if c := Certify(slices.Concat(answers(test.least-1, 0, 0.9), wrong), test.o); c.Threshold != nil {
			t.Errorf("%+v: %d right answers are certified: %+v", test.o, test.least-1, c)
		}
	}
}

// TestAccept_QU6_AGoodRankingIsCertified: of 130 and of 340 answers, of which the surer half is nearly always right and the other
// a coin, most dockets certify some; with an error of 3 % everywhere, nearly all dockets of 2000 do.
func TestAccept_QU6_AGoodRankingIsCertified(t *testing.T) {
	t.Parallel()
	const dockets, bound = 200, 0.1
	r := randOf(14, "ranked")
	for _, test := range []struct {
		world
		least map[int]float64 // share of dockets that are certified, by their size
	}{
		{world{name: "surer half right, others a coin", wrong: cliff(0.75, 0.005, 0.5)}, map[int]float64{130: 0.75, 340: 0.75, 2000: 0.75}},
		{world{name: "calibrated", wrong: calibrated}, map[int]float64{130: 0.1, 340: 0.4, 2000: 0.85}},
		{world{name: "an error of 0.03 everywhere", wrong: cliff(0, 0.03, 0)}, map[int]float64{130: 0.4, 340: 0.85, 2000: 0.95}},
	} {
		for _, test.size = range []int{130, 340, 2000} {
			certified, broken, accepted := test.certified(r, dockets, bound, nil)
			t.Logf("| %s | %d | %.2f | %.2f | %.3f |", test.name, test.size, rate(certified, dockets), accepted, rate(broken, dockets))
			if rate(certified, dockets) < test.least[test.size] || rate(broken, dockets) > 0.1 {
				t.Errorf("%s, %d cases: certified in %d of %d dockets, want %.2f; the bound is broken in %d", test.name, test.size, certified, dockets, test.least[test.size], broken)
			}
		}
	}
}

func TestTinyBoundsComeToAnEnd(t *testing.T) {
	t.Parallel()
	c := Certify(answers(100, 0, 0.9), BandOptions{MaxError: 1e-7, Confidence: 0.999})
	if c.Threshold != nil || c.Needed == nil || *c.Needed < 10_000_000 {
		t.Errorf("%+v", c)
	}
}

// TestAccept_FT3_TheBoundHoldsWithGroups: errors come in groups, of which half have twice the error of the mean and half
// none. The error is just above the bound, so that whatever is certified breaks it.
func TestAccept_FT3_TheBoundHoldsWithGroups(t *testing.T) {
	t.Parallel()
	const dockets, groups, size = 500, 30, 20
	r := randOf(13, "groups")
	broken, asIndependent := 0, 0
	for range dockets {
		var list []Point
		for g := range groups {
			wrong := 0.0
			if r.IntN(2) == 0 {
				wrong = 2 * 0.0501
			}
			for range size {
				list = append(list, Point{Confidence: 0.9, Right: r.Float64() >= wrong, Group: fmt.Sprint("g", g)})
			}
		}
		if Certify(list, BandOptions{}).Threshold != nil {
			broken++
		}
		for i := range list {
			list[i].Group = ""
		}
		if Certify(list, BandOptions{}).Threshold != nil {
			asIndependent++
		}
	}
	if broken > 40 { // as above
		t.Errorf("the bound is broken in %d of %d dockets", broken, dockets)
	}
	if asIndependent <= 40 {
		t.Errorf("taking the cases for independent breaks it in %d dockets only: nothing is shown", asIndependent)
	}
}

// TestAccept_QU6_ThePromiseHoldsWithTiesFewLabelsAndCorrelatedConfidence: with confidences in steps of a tenth; with 40 cases; with
// two labels, where the confidence tells how likely each is to be right; and with confidences that cases of a group share. The
// error of the accepted is known for each threshold.
func TestAccept_QU6_ThePromiseHoldsWithTiesFewLabelsAndCorrelatedConfidence(t *testing.T) {
	t.Parallel()
	tier.Long(t, "internal/measure")
	const bound, dockets = 0.1, 300
	tenths := func(r *rand.Rand) float64 { return math.Round(10*even(r)) / 10 }
	for _, w := range []world{
		{"ties", 200, 0, tenths, cliff(0.9, 0.101, 0.4)},
		{"ties, the surest right", 200, 0, tenths, cliff(1, 0.02, 0.4)},
		{"few cases", 40, 0, nil, cliff(0.5, 0.101, 0.4)},
		{"few cases with ties", 60, 0, tenths, cliff(0.6, 0.101, 0.4)},
		{"calibrated", 300, 0, nil, calibrated},
		{"many cases just above the bound", 1000, 0, nil, cliff(0.8, 0.101, 0.4)},
		{"groups share a confidence", 150, 15, nil, cliff(0.7, 0.101, 0.4)},
		{"groups share a confidence, calibrated", 200, 50, nil, calibrated},
	} {
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			if _, broken, _ := w.certified(randOf(15, w.name), dockets, bound, nil); broken > 26 { // a twentieth of 300 is 15, with a standard deviation of 3.8: three above
				t.Errorf("the bound is broken in %d of %d dockets", broken, dockets)
			}
		})
	}
}

// reportWithBands is one of calibrate --bands, with thresholds if there are cases enough.
func reportWithBands(t testing.TB, cases int) []byte {
	t.Helper()
	var points []Point
	for range cases {
		points = append(points, Point{Confidence: .9, Right: true})
	}
	c := Certify(points, BandOptions{})
	return must.Get(json.Marshal(&Report{Format: ReportFormat, Bands: &Bands{Light: c, Court: c}}))(t)
}

func TestAccept_IG6_CertifiedThresholdsAreRead(t *testing.T) {
	t.Parallel()
	for cases, certified := range map[int]bool{200: true, 5: false} {
		bands := must.Get(ReadBands(bytes.NewReader(reportWithBands(t, cases))))(t)
		if (bands.Court.Threshold != nil) != certified || certified && *bands.Court.Threshold != .9 {
			t.Errorf("%d cases: %s", cases, &bands.Court)
		}
	}
	good := string(reportWithBands(t, 200))
	for name, tc := range map[string]struct{ report, want string }{
		"no JSON":            {"<html>", "not a report"},
		"another format":     {strings.Replace(good, `"format":3`, `"format":2`, 1), "format: 2"},
		"no bands":           {`{"format":3,"bands":null}`, "calibrate --bands"},
		"an odd threshold":   {strings.Replace(good, `"threshold":0.9`, `"threshold":-1`, 1), "bands.light: threshold"},
		"a loose bound":      {strings.Replace(good, `"max_error":0.05`, `"max_error":0.001`, 1), "bands.light: error_bound"},
		"no cases":           {strings.ReplaceAll(good, `"accepted":200`, `"accepted":0`), "don't fit"},
		"errors of everyone": {strings.Replace(good, `"max_error":0.05`, `"max_error":1`, 1), "between 0 and 1"},
	} {
		if _, err := ReadBands(strings.NewReader(tc.report)); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzReadBands(f *testing.F) {
	f.Add(reportWithBands(f, 200))
	f.Add(reportWithBands(f, 5))
	f.Fuzz(func(t *testing.T, data []byte) {
		bands, err := ReadBands(bytes.NewReader(data))
		if err != nil {
			return
		}
		for _, c := range []*Certificate{&bands.Light, &bands.Court} {
			if c.Threshold != nil && (*c.Threshold < 0 || *c.Threshold > 1 || *c.ErrorBound > c.MaxError || c.Accepted == 0) {
				t.Errorf("%s passes", c)
			}
		}
	})
}
