package odds

import (
	"math"
	"slices"

	"github.com/shadowcourt/shadowcourt/abi"
)

// Forecast foretells what experiments would do to the probabilities of the labels. One goroutine at a time uses it.
type Forecast struct {
	// Now are the probabilities with the results that there are.
	Now []float64

	rest  []float64 // nats by label of all but the results
	doubt float64
	ahead func(*abi.Experiment) []coming
}

// NewForecast is for a case with these results, and nats by label of all else that is known; doubt is as in [Probabilities]. The
// labels must not be empty.
func NewForecast(labels []string, rest []float64, doubt float64, p *abi.Profile, results []abi.ExperimentResult) *Forecast {
	told := make([]float64, len(labels))
	if p == nil || p.Outcomes == nil {
		return newForecast(told, rest, doubt, func(*abi.Experiment) []coming { return nil })
	}
	b := newBelief(labels, p.Outcomes)
	told = b.told(results)
	var s *seen
	return newForecast(told, rest, doubt, func(e *abi.Experiment) []coming {
		if s == nil {
			s = b.see(results)
		}
		return b.ahead(s, told, e)
	})
}

// newForecast is for results that tell so much of each label.
func newForecast(told, rest []float64, doubt float64, ahead func(*abi.Experiment) []coming) *Forecast {
	f := &Forecast{Now: make([]float64, len(told)), rest: rest, doubt: doubt, ahead: ahead}
	f.weigh(f.Now, told)
	return f
}

// weigh gives the probabilities of the labels where results tell so much of each.
func (f *Forecast) weigh(out, told []float64) {
	for j, x := range told {
		out[j] = f.rest[j] + x
	}
	probabilities(out, f.doubt)
}

// Information is how much an experiment is expected to tell of the label: by how many nats the entropy of the labels falls, over all counts of
// its runs, and that the base lacks the test. It is 0 where the model does not know the experiment.
func (f *Forecast) Information(e *abi.Experiment) float64 {
	before, sum := entropy(f.Now), 0.0
	after := make([]float64, len(f.Now))
	for _, c := range f.ahead(e) {
		probability := 0.0
		for j, p := range f.Now {
			probability += p * c.given[j]
		}
		f.weigh(after, c.told)
		sum += probability * (before - entropy(after))
	}
	return sum
}

// Outlook is what may come of experiments after results, whatever else is known of a case. It does not change: several goroutines may use it.
type Outlook struct {
	told  []float64 // nats by label of the results
	ahead map[abi.Experiment][]coming
}

// NewOutlook is for a case with these labels and results. It knows these experiments alone.
func NewOutlook(labels []string, p *abi.Profile, results []abi.ExperimentResult, experiments []abi.Experiment) *Outlook {
	o := &Outlook{told: make([]float64, len(labels)), ahead: map[abi.Experiment][]coming{}}
	if p == nil || p.Outcomes == nil {
		return o
	}
	b := newBelief(labels, p.Outcomes)
	o.told = b.told(results)
	s := b.see(results)
	for i := range experiments {
		o.ahead[experiments[i]] = b.ahead(s, o.told, &experiments[i])
	}
	return o
}

// From is a Forecast from probabilities of the labels, in which the results count already.
func (o *Outlook) From(now []float64) *Forecast {
	rest := make([]float64, len(now))
	for j, x := range now {
		rest[j] = math.Log(max(x, leastProbability)) - o.told[j]
	}
	return newForecast(o.told, rest, 0, func(e *abi.Experiment) []coming { return o.ahead[*e] })
}

// leastProbability keeps logarithms finite.
const leastProbability = 1e-12

const (
	// nothing in nats is the rounding of what tells nothing.
	nothing = 1e-9
	// leastSeconds is as short as an experiment is taken to be: a run and another call of the module are not free.
	leastSeconds = 0.1
)

// Choose is the offer with the largest gain per expected second among those that a profile knows and that gain more than
// least, of equal ones the first; nil where there is none. It gives the gain per second, too. Of one cell the least number of runs comes first.
// If what it rests on was not run and is on offer, that comes first, whatever it takes: the rerun of head in its own environment before
// everything else, and the base before mixtures with it.
func Choose(p *abi.Profile, results []abi.ExperimentResult, offers []abi.ExperimentOffer, least float64, gain func(*abi.Experiment) float64) (best *abi.ExperimentOffer, rate float64) {
	for i := range offers {
		if !Tells(p, &offers[i].Experiment) || !nextStep(offers, i) {
			continue
		}
		g := gain(&offers[i].Experiment)
		if g <= max(least, nothing) {
			continue
		}
		if x := g / max(offers[i].Seconds, leastSeconds); best == nil || x > rate {
			best, rate = &offers[i], x
		}
	}
	if best != nil {
		best = restsOn(p, results, offers, best)
	}
	return best, rate
}

// nextStep says whether no other offer is for fewer runs of the same cell.
func nextStep(offers []abi.ExperimentOffer, i int) bool {
	e := &offers[i].Experiment
	for j := range offers {
		if o := &offers[j].Experiment; o.Runs < e.Runs && sameCell(o, e) {
			return false
		}
	}
	return true
}

// restsOn is the offer without which another one tells little, or that one.
func restsOn(p *abi.Profile, results []abi.ExperimentResult, offers []abi.ExperimentOffer, best *abi.ExperimentOffer) *abi.ExperimentOffer {
	first := func(is func(*abi.Experiment) bool) *abi.ExperimentOffer {
		if is(&best.Experiment) || slices.ContainsFunc(results, func(r abi.ExperimentResult) bool { return is(&r.Experiment) }) {
			return nil
		}
		for i := range offers {
			if is(&offers[i].Experiment) && Tells(p, &offers[i].Experiment) && nextStep(offers, i) {
				return &offers[i]
			}
		}
		return nil
	}
	if rerun := first(IsRerun); rerun != nil {
		return rerun
	}
	if base := first(isBase); base != nil && best.Experiment.Product != best.Experiment.Tests {
		return base
	}
	return best
}

func entropy(p []float64) float64 {
	h := 0.0
	for _, x := range p {
		if x > 0 {
			h -= x * math.Log(x)
		}
	}
	return h
}
