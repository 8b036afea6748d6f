package measure

import (
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
