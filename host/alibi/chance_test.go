package alibi

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

// sequence draws runs of a test in the steps of the court until the lock closes, and says how many it took and whether the base passed at times. Of
// its failures a share has the reported text.
func sequence(random *rand.Rand, head, base, reported float64, closed func(sides) bool) (ok, passed bool, runs int) {
	var s sides
	draw := func(n *tally, rate float64, to int) {
		for n.all() < to {
			switch {
			case random.Float64() >= rate:
				n.passed++
			case random.Float64() < reported:
				n.same++
			default:
				n.other++
			}
		}
	}
	for _, step := range [][2]int{{5, 2}, {5, 7}, {20, 7}, {20, 20}, {20, 50}, {50, 50}, {50, 100}, {100, 100}} {
		draw(&s.head, head, step[0])
		draw(&s.base, base, step[1])
		if s.head.same > 0 && closed(s) {
			return true, s.base.passed > 0, s.head.all() + s.base.all()
		}
	}
	return false, false, s.head.all() + s.base.all()
}

// remembered is the lock for counts that come again and again.
func remembered() func(sides) bool {
	known := map[sides]bool{}
	return func(s sides) bool {
		closed, ok := known[s]
		if !ok {
			closed = s.closed(MaxFalse)
			known[s] = closed
		}
		return closed
	}
}

// atMost is the upper end of Wilson's interval of 95% for k of n.
func atMost(k, n int) float64 {
	_, high := wilson(k, n, 1.96)
	return high
}

// TestAccept_AK7_FalseAlibisOnACoarseGrid of materially different rates, with one text for all failures, and with several. lab/chance computes the whole grid.
func TestAccept_AK7_FalseAlibisOnACoarseGrid(t *testing.T) {
	t.Parallel()
	const draws = 4000
	closed := remembered()
	for _, tc := range []struct{ head, base, reported float64 }{
		{0.05, 0, 1}, {0.3, 0.01, 1}, {0.26, 0.05, 1}, {0.31, 0.1, 1}, {0.31, 0.1, 0.6}, {0.5, 0.2, 1}, {0.64, 0.3, 0.6}, {0.8, 0.5, 1}, {1, 0.5, 0.6}, {1, 0.8, 1},
	} {
		random, flaky, always := rand.New(rand.NewPCG(7, uint64(1000*tc.head))), 0, 0
		for range draws {
			switch ok, passed, _ := sequence(random, tc.head, tc.base, tc.reported, closed); {
			case ok && passed:
				flaky++
			case ok && tc.base <= 0.5: // preexisting has the bound for these
				always++
			}
		}
		if most := max(atMost(flaky, draws), atMost(always, draws)); most > 0.0125 {
			t.Errorf("%+v: %d times flaky and %d times preexisting of %d, at most %.4f", tc, flaky, always, draws, most)
		}
	}
}

// TestAccept_AK8_EqualRatesGetTheirAlibi within 200 runs of both trees in nine of ten cases, and a test that always fails within 14 runs.
func TestAccept_AK8_EqualRatesGetTheirAlibi(t *testing.T) {
	t.Parallel()
	const draws = 4000
	closed := remembered()
	for _, rate := range []float64{0.1, 0.3, 0.5, 1} {
		random, decided, most := rand.New(rand.NewPCG(8, uint64(10*rate))), 0, 0
		for range draws {
			if ok, _, runs := sequence(random, rate, rate, 1, closed); ok {
				decided, most = decided+1, max(most, runs)
			}
		}
		if float64(decided) < 0.895*draws || most > 200 || rate == 1 && most > 14 {
			t.Errorf("at %v: %d of %d, at most %d runs", rate, decided, draws, most)
		}
	}
}

func TestAccept_AK7_TheLockAtItsEnds(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		counts         Counts
		closed, higher bool
	}{
		{Counts{5, 5, 2, 2}, false, false},
		{Counts{5, 5, 6, 6}, false, false},
		{Counts{5, 5, 7, 7}, true, false},
		{Counts{3, 5, 7, 7}, true, false},
		{Counts{5, 5, 0, 7}, false, true},
		{Counts{1, 100, 0, 100}, false, false},
		{Counts{0, 0, 7, 7}, false, false},
		{Counts{5, 5, 0, 0}, false, false},
		{Counts{420, 420, 16, 20}, false, true},
		{Counts{50, 100, 50, 100}, true, false},
		{Counts{5, 10, 5, 10}, false, false},
		{Counts{240, 400, 200, 400}, true, false}, // no material difference
		{Counts{100, 100, 20, 100}, false, true},
	} {
		if closed, higher := tc.counts.Closed(MaxFalse), tc.counts.Higher(); closed != tc.closed || higher != tc.higher {
			t.Errorf("%+v: closed %t, higher %t", tc.counts, closed, higher)
		}
	}
	if c := (Counts{5, 5, 7, 7}); c.Closed(0.001) || !(Counts{5, 5, 10, 10}).Closed(0.001) {
		t.Error("a stricter price takes more runs")
	}
	if low, high := (Counts{50, 100, 50, 100}).difference(); math.Abs(low+high) > 1e-9 || high < 0.1 || high > 0.2 {
		t.Errorf("the difference is from %v to %v", low, high)
	}
	for c, want := range map[Counts]float64{{5, 5, 7, 7}: 2, {50, 100, 50, 100}: 1.5, {10, 100, 10, 100}: 2.9} {
		if most := c.most(); math.Abs(most-want) > 0.1 {
			t.Errorf("%+v: at most %v times, want %v", c, most, want)
		}
	}
}

// in is a result in another setting than the original one, alone.
func in(at setting, e trial.Experiment) trial.Experiment {
	e.Environment, e.Order = at.environment, at.order
	return e
}

// TestAccept_AK10_EachSettingIsComparedWithItself: what fails here with little processor time alone, or behind other tests alone, is no flake of the base in
// another setting.
func TestAccept_AK10_EachSettingIsComparedWithItself(t *testing.T) {
	t.Parallel()
	light := must.Get(NewLight(nil, must.Get(Profile())(t), 0))(t)
	head, base := abi.Head, abi.Base
	for _, at := range settings()[1:] {
		t.Run(strings.TrimSpace(at.words()), func(t *testing.T) {
			t.Parallel()
			for i, tc := range []struct {
				label string
				runs  []trial.Experiment
				want  string // label
			}{
				{Flaky, []trial.Experiment{ofRuns(head, 20, 0), ofRuns(base, 20, 0), in(at, ofRuns(head, 0, 5)), in(at, ofRuns(base, 7, 0))}, Caused},
				{Flaky, []trial.Experiment{ofRuns(head, 20, 0), ofRuns(base, 17, 3), in(at, ofRuns(head, 10, 10)), in(at, ofRuns(base, 20, 0))}, Caused},
				{Flaky, []trial.Experiment{ofRuns(head, 20, 0), ofRuns(base, 17, 3), in(at, ofRuns(head, 18, 2)), in(at, ofRuns(base, 20, 0))}, ""},
				{Flaky, []trial.Experiment{ofRuns(head, 50, 50), ofRuns(base, 50, 50), in(at, ofRuns(head, 3, 2)), in(at, ofRuns(base, 5, 0))}, ""},
				{Flaky, []trial.Experiment{ofRuns(head, 50, 50), ofRuns(base, 50, 50), in(at, ofRuns(head, 3, 2)), in(at, ofRuns(base, 4, 1))}, Flaky},
				{Preexisting, []trial.Experiment{ofRuns(head, 5, 0), ofRuns(base, 5, 0), in(at, ofRuns(head, 0, 5)), in(at, ofRuns(base, 0, 2))}, ""},
				{Preexisting, []trial.Experiment{ofRuns(head, 5, 0), ofRuns(base, 5, 0), in(at, ofRuns(head, 0, 5)), in(at, ofRuns(base, 0, 7))}, Preexisting},
				{Preexisting, []trial.Experiment{ofRuns(head, 0, 5), ofRuns(base, 0, 7), in(at, ofRuns(head, 0, 5))}, Preexisting}, // it always fails
			} {
				if a := light.of(withLabel(tc.label, tc.runs...)); a.Label != tc.want {
					t.Errorf("%d: %+v, want %q", i, a, tc.want)
				}
			}
		})
	}
}

// TestAccept_AK7_NoAnswerRestsOnThePriorAlone, whatever the court says: neither an alibi, nor blame.
func TestAccept_AK7_NoAnswerRestsOnThePriorAlone(t *testing.T) {
	t.Parallel()
	light := must.Get(NewLight(nil, must.Get(Profile())(t), 0))(t)
	for _, label := range append(Labels()[:4], "") {
		if a := light.of(withLabel(label, ofRuns(abi.Head, 0, 420), ofRuns(abi.Base, 4, 16))); a.Verdict != IsYours || a.Label != Caused {
			t.Errorf("420 of 420 and 16 of 20, %q: %+v", label, a)
		}
		if a := light.of(withLabel(label, ofRuns(abi.Head, 20, 0), ofRuns(abi.Base, 20, 0))); a.Verdict != IsOpen {
			t.Errorf("nothing comes back, %q: %+v", label, a)
		}
		weak := withLabel(label, ofRuns(abi.Head, 18, 2), ofRuns(abi.Base, 19, 1))
		weak.Result.Final.Confidence = 0.94
		if a := light.of(weak); a.Verdict != IsOpen || !strings.HasPrefix(a.Why, "2 of 20 failed here, 1 of 20 failed on the base: the rate changed by -15 to +26 points (95%), and ") ||
			!strings.Contains(a.Why, "; the change is to blame with ") || !strings.Contains(a.Next, "more runs would tell") {
			t.Errorf("%q: %+v", label, a)
		}
		a := light.of(withLabel(label, ofRuns(abi.Head, 70, 30), ofRuns(abi.Base, 70, 30)))
		if a.Verdict != NotYours || !strings.HasSuffix(a.Why, "; at most 1.8 times as often as before") {
			t.Errorf("%q: %+v", label, a)
		}
	}
}
