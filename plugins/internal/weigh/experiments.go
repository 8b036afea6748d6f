package weigh

import (
	"math"
	"slices"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/odds"
)

// addExperiments adds what experiments have shown, and gives the posterior. They are observations of their own: Light's word, which
// rests on what it read, counts beside them.
func (s *Scale) addExperiments(m *Matter) {
	if m.Profile == nil || m.Profile.Outcomes == nil {
		s.Posterior = odds.Probabilities(s.read, odds.Doubt)
		return
	}
	shown := make([]float64, len(m.Labels))
	odds.AddExperiments(shown, m.Labels, m.Profile, m.Experiments)
	lift(s.Support, shown)
	total := slices.Clone(s.read)
	for j, x := range shown {
		s.Evidence[j] += x
		total[j] += x
	}
	s.Posterior = odds.Probabilities(total, odds.Doubt)
}

// DiffSource is the source of items that read in a diff which side broke a test.
const DiffSource = "seeker-source"

// mixedShare is what such items count at least once revisions were mixed: the experiments have tried what they guess, and of a bug they
// say the same as of a test that nobody updated.
const mixedShare = 0.25

// afterMixing is the share of an item that is left by experiments on other trees. What these show and what was read in the diff
// is one fact: of both the stronger counts, so that a guess that they confirm makes a label no less likely than it was. A
// base that fails in the same way refutes all guesses about the change.
func (m *Matter) afterMixing(w *witness, items []witness) float64 {
	if len(m.Experiments) == 0 || !w.guesses() {
		return 1
	}
	if base := odds.BaseFails(m.Experiments); base != nil && base.Outcome == abi.OutcomeSame {
		return 0
	}
	at := slices.Index(m.Labels, w.Supports)
	if at < 0 || !slices.ContainsFunc(m.Experiments, mixes) {
		return 1
	}
	guessed := 0.0
	for i := range items {
		if other := &items[i]; other.guesses() && other.Supports == w.Supports {
			guessed += other.Left * odds.Unmeasured(other.Confidence, len(m.Labels))
		}
	}
	shown := make([]float64, len(m.Labels))
	odds.AddExperiments(shown, m.Labels, m.Profile, m.Experiments)
	lead := math.Inf(1)
	for j, x := range shown {
		if j != at {
			lead = min(lead, shown[at]-x)
		}
	}
	if lead <= 0 || guessed <= 0 {
		return mixedShare
	}
	return max(mixedShare, 1-lead/guessed)
}

// guesses says whether an item reads in a diff which side broke a test.
func (w *witness) guesses() bool { return w.known == nil && w.speaker() == DiffSource }

// mixes says whether a result shows the test and the product of different revisions: a base with the same test does, too.
func mixes(r abi.ExperimentResult) bool {
	e := &r.Experiment
	ran := r.Outcome == abi.OutcomePassed || r.Outcome == abi.OutcomeSame || r.Outcome == abi.OutcomeOther
	return ran && (e.Product != e.Tests || e.Product == abi.Base && r.Test == abi.TestUnchanged)
}

// Forecast foretells what further experiments would do.
func (s *Scale) Forecast() *odds.Forecast {
	return odds.NewForecast(s.Labels, s.read, odds.Doubt, s.matter.Profile, s.matter.Experiments)
}

// Shown says what the i-th experiment tells by itself: for which label it speaks most, against which, and by how many nats. Where it speaks
// for several as much it names none of them. Nats are 0 where it tells nothing.
func (s *Scale) Shown(i int) (speaksFor, against string, nats float64) {
	v := odds.Objections(s.Labels, s.matter.Profile, s.matter.Experiments, i)
	if odds.Spread(v) < noise {
		return "", "", 0
	}
	most, least := slices.Index(v, slices.Max(v)), slices.Index(v, slices.Min(v))
	for j, x := range v {
		if j != most && v[most]-x < noise {
			return "", s.Labels[least], odds.Spread(v)
		}
	}
	return s.Labels[most], s.Labels[least], odds.Spread(v)
}
