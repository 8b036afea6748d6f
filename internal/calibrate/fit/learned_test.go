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
		rates, scaled, both, learned loss
		want                         bool
	}{
		"it predicts better":                         {loss{1, 0.1}, loss{0.80, 0}, loss{0.80, 0}, loss{0.78, 0.3}, true},
		"it predicts better within noise":            {loss{1, 0.1}, loss{0.80, 0}, loss{0.80, 0}, loss{0.79, 0.3}, false},
		"the court predicts better":                  {loss{1, 0.1}, loss{0.80, 0}, loss{0.80, 0}, loss{0.82, 0.3}, false},
		"labels that may be noise":                   {loss{1, 0}, loss{1, 0}, loss{1, 0}, loss{0.95, 0.3}, false},
		"it is better where labels may be noise":     {loss{1, 0}, loss{1, 0}, loss{1, 0}, loss{0.93, 0.3}, true},
		"better by next to nothing, without noise":   {loss{1, 0}, loss{1, 0}, loss{1, 0}, loss{0.999997, 0}, false},
		"better than the court, not than base rates": {loss{1, 0}, loss{1.2, 0}, loss{1, 0}, loss{0.995, 0}, false},
		"the court is better by next to nothing":     {loss{1, 0}, loss{1, 0}, loss{0.999997, 0}, loss{0.95, 0.3}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := &corpus{groups: cases, samples: make([]sample, cases)}
			for i := range cases {
				c.samples[i].group = i
			}
			by := func(l loss) []float64 {
				losses := make([]float64, cases)
				for i := range losses {
					losses[i] = l.mean + l.noise*float64(1-2*(i/5%2))
				}
				return losses
			}
			r := &rivals{rates: by(tc.rates), scaled: by(tc.scaled), both: by(tc.both)}
			if got := r.beaten(c, by(tc.learned), places(cases)); got != tc.want {
				t.Errorf("learned: %v", got)
			}
		})
	}
}

// A court that is worse than Light where nothing is learned is doubted, and so are few groups.
func TestWhatIsDoubted(t *testing.T) {
	t.Parallel()
	for name, x := range map[string]struct {
		Report
		model, none Figures
		light       float64 // accuracy
		want        string
	}{
		"it predicts better":             {Report{Learned: true}, Figures{LogLoss: 0.9}, Figures{LogLoss: 1}, 0, ""},
		"it changes nothing":             {Report{}, Figures{LogLoss: 1.1}, Figures{LogLoss: 1}, 0, ""},
		"Light is better than a court":   {Report{}, Figures{}, Figures{Accuracy: 0.3}, 0.45, "30 of 100 of these cases, and Light alone in 45"},
		"Light is hardly better":         {Report{}, Figures{}, Figures{Accuracy: 0.3}, 0.35, ""},
		"Light is better than a profile": {Report{Learned: true}, Figures{}, Figures{Accuracy: 0.3, LogLoss: 1}, 0.45, ""},
		"two groups":                     {Report{Groups: 2}, Figures{}, Figures{}, 0, "2 groups"},
		"one group":                      {Report{Groups: 1}, Figures{}, Figures{}, 0, ""},
		"five groups":                    {Report{Groups: 5}, Figures{}, Figures{}, 0, ""},
	} {
		r := x.Report
		r.Cases, r.Figures = 100, []Figures{x.model, x.none, {Name: lightAlone, Accuracy: x.light}}
		r.doubt()
		if got := strings.Join(r.Warnings, "; "); (got == "") != (x.want == "") || !strings.Contains(got, x.want) {
			t.Errorf("%s: warnings %q, not %q", name, got, x.want)
		}
	}
}
