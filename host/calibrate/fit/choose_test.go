package fit

import "testing"

// Whether a profile is learned, by how it and its rivals predict cases that they haven't seen. Losses are a mean, and by how much they are
// above it in one half of the cases and below it in the other.
func TestWhenAProfileIsLearned(t *testing.T) {
	t.Parallel()
	const cases = 100
	type loss struct{ mean, noise float64 }
	for name, tc := range map[string]struct {
		court, rates, both, learned loss
		want                        bool
	}{
		"it predicts better":                           {loss{0.80, 0}, loss{1, 0.1}, loss{0.80, 0}, loss{0.79, 0.3}, true},
		"it predicts as well, within noise":            {loss{0.80, 0}, loss{1, 0.1}, loss{0.80, 0}, loss{0.81, 0.3}, true},
		"it predicts worse":                            {loss{0.80, 0}, loss{1, 0.1}, loss{0.80, 0}, loss{0.82, 0.3}, false},
		"labels that may be noise":                     {loss{1, 0}, loss{1, 0}, loss{1, 0}, loss{0.95, 0.3}, false},
		"it is better where labels may be noise":       {loss{1, 0}, loss{1, 0}, loss{1, 0}, loss{0.93, 0.3}, true},
		"better than the court, not than base rates":   {loss{1.2, 0}, loss{1, 0}, loss{1, 0}, loss{0.99, 0.3}, false},
		"the court tells more than base rates, hardly": {loss{0.98, 0.3}, loss{1, 0}, loss{0.98, 0.3}, loss{0.97, -0.3}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, x := &corpus{groups: cases, samples: make([]sample, cases)}, &crossed{k: 5, part: make([]int, cases)}
			for i := range cases {
				c.samples[i].group, x.part[i] = i, i%5
			}
			by := func(l loss) judged {
				j := judged{losses: make([]float64, cases)}
				for i := range j.losses {
					j.losses[i] = l.mean + l.noise*float64(1-2*(i/5%2))
				}
				return j
			}
			list := []judged{courtAlone: by(tc.court), ratesAlone: by(tc.rates), courtRates: by(tc.both), unprofiled: by(tc.learned)}
			if got := c.choose(list, x, places(cases), false) == unprofiled; got != tc.want {
				t.Errorf("learned: %v", got)
			}
			if c.choose(list, x, places(cases), true) != unprofiled {
				t.Error("not learned where it is asked for")
			}
		})
	}
}

// A profile that predicts no better than none is doubted; one that predicts better is not, nor what changes nothing.
func TestAProfileThatIsNoBetterIsDoubted(t *testing.T) {
	t.Parallel()
	for _, x := range []struct {
		model, none float64
		learned     bool
		want        int
	}{{1.1, 1.0, true, 1}, {0.9, 1.0, true, 0}, {1.1, 1.0, false, 0}} {
		r := Report{Learned: x.learned, Figures: []Figures{{LogLoss: x.model}, {LogLoss: x.none}}}
		if r.doubt(); len(r.Warnings) != x.want {
			t.Errorf("log loss %v, %v without a profile, learned %v: warnings %q", x.model, x.none, x.learned, r.Warnings)
		}
	}
}
