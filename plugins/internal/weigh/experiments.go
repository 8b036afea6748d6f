package weigh

import (
	"slices"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/odds"
)

// addExperiments adds what experiments have shown, and gives the posterior. They are observations of their own: Light's word, which
// rests on what it read, counts beside them.
func (s *Scale) addExperiments(m *Matter) {
	shown := make([]float64, len(m.Labels))
	odds.AddExperiments(shown, m.Labels, m.Profile, m.Experiments)
	lift(s.Support, shown)
	for j, x := range shown {
		s.Evidence[j] += x
	}
	s.Posterior = s.posterior(shown)
}

// DiffSource is the source of items that read in a diff which side broke a test.
const DiffSource = "seeker-source"

// mixedShare is what such an item counts once revisions were mixed, or a test failed again that is the same in both: the experiments
// have tried what it guesses, and of a bug it says the same as of a test that nobody updated.
const mixedShare = 0.25

// afterMixing is the share of an item that is left by experiments on mixtures of revisions.
func (m *Matter) afterMixing(t *Testimony) float64 {
	if t.speaker() != DiffSource || odds.Source(m.Profile, DiffSource) != nil {
		return 1
	}
	for i := range m.Experiments {
		r := &m.Experiments[i]
		ran := r.Outcome == abi.OutcomePassed || r.Outcome == abi.OutcomeSame || r.Outcome == abi.OutcomeOther
		if ran && r.Experiment.Product != r.Experiment.Tests || r.Test == abi.TestUnchanged && r.Outcome == abi.OutcomeSame {
			return mixedShare
		}
	}
	return 1
}

func (s *Scale) posterior(shown []float64) []float64 {
	total := slices.Clone(s.read)
	for j, x := range shown {
		total[j] += x
	}
	return odds.Probabilities(total, odds.Doubt)
}

// Forecast foretells what further experiments would do.
func (s *Scale) Forecast() *odds.Forecast {
	return odds.NewForecast(s.Labels, s.read, odds.Doubt, s.matter.Profile, s.matter.Experiments)
}

// Shown says what the i-th experiment tells by itself: for which label it speaks most, against which, and by how many nats.
// Nats are 0 where it tells nothing.
func (s *Scale) Shown(i int) (speaksFor, against string, nats float64) {
	v := odds.Objections(s.Labels, s.matter.Profile, s.matter.Experiments, i)
	if odds.Spread(v) < noise {
		return "", "", 0
	}
	most, least := slices.Index(v, slices.Max(v)), slices.Index(v, slices.Min(v))
	return s.Labels[most], s.Labels[least], odds.Spread(v)
}
