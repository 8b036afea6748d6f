package fit

import (
	"strings"
	"testing"
)

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
				c.samples[i].group, c.samples[i].labels, x.part[i] = i, make([]int, 3), i%5
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

// A profile that predicts no better than none is doubted, and so are a court that is worse than Light where nothing is learned, and few groups.
func TestWhatIsDoubted(t *testing.T) {
	t.Parallel()
	for name, x := range map[string]struct {
		Report
		model, none Figures
		light       float64 // accuracy
		want        string
	}{
		"it predicts better":             {Report{Learned: true}, Figures{LogLoss: 0.9}, Figures{LogLoss: 1}, 0, ""},
		"it predicts no better":          {Report{Learned: true}, Figures{LogLoss: 1.1}, Figures{LogLoss: 1}, 0, "no better than no profile"},
		"it changes nothing":             {Report{}, Figures{LogLoss: 1.1}, Figures{LogLoss: 1}, 0, ""},
		"Light is better than a court":   {Report{}, Figures{}, Figures{Accuracy: 0.3}, 0.45, "30 of 100 of these cases, and Light alone in 45"},
		"Light is hardly better":         {Report{}, Figures{}, Figures{Accuracy: 0.3}, 0.35, ""},
		"Light is better than a profile": {Report{Learned: true}, Figures{}, Figures{Accuracy: 0.3, LogLoss: 1}, 0.45, ""},
		"two groups":                     {Report{Groups: 2}, Figures{}, Figures{}, 0, "2 groups"},
		"one group":                      {Report{Groups: 1}, Figures{}, Figures{}, 0, ""},
		"five groups":                    {Report{Groups: 5}, Figures{}, Figures{}, 0, ""},
	} {
		r := x.Report
		r.Cases, r.Figures = 100, []Figures{x.model, x.none, {Name: lightAlone(), Accuracy: x.light}}
		r.doubt()
		if got := strings.Join(r.Warnings, "; "); (got == "") != (x.want == "") || !strings.Contains(got, x.want) {
			t.Errorf("%s: warnings %q, not %q", name, got, x.want)
		}
	}
}
