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

	results []abi.ExperimentResult
	rest    []float64 // nats by label of all but the results
	told    []float64 // nats by label of the results
	doubt   float64
	belief  *belief // nil without an outcome model
	seen    *seen   // of the results, once it is asked for
}

// NewForecast is for a case with these results, and nats by label of all else that is known; doubt is as in [Probabilities]. The
// labels must not be empty.
func NewForecast(labels []string, rest []float64, doubt float64, p *abi.Profile, results []abi.ExperimentResult) *Forecast {
	f := &Forecast{results: results, rest: rest, doubt: doubt, told: make([]float64, len(labels))}
	if p != nil && p.Outcomes != nil {
		f.belief = newBelief(labels, p.Outcomes)
		f.told = f.belief.told(results)
	}
	f.Now = slices.Clone(f.told)
	f.weigh(f.Now)
	return f
}

// ForecastFrom is a NewForecast for probabilities in which the results count already.
func ForecastFrom(labels []string, now []float64, p *abi.Profile, results []abi.ExperimentResult) *Forecast {
	rest := make([]float64, len(labels))
	AddExperiments(rest, labels, p, results)
	for j, x := range now {
		rest[j] = math.Log(max(x, leastProbability)) - rest[j]
	}
	return NewForecast(labels, rest, 0, p, results)
}

// leastProbability keeps logarithms finite.
const leastProbability = 1e-12

// weigh turns what results tell of each label into the probabilities of the labels.
func (f *Forecast) weigh(told []float64) {
	for j := range told {
		told[j] += f.rest[j]
	}
	probabilities(told, f.doubt)
}

// Information is how much an experiment is expected to tell of the label: by how many nats the entropy of the labels falls, over all counts of
// its runs, and that the base lacks the test. It is 0 where the model does not know the experiment.
func (f *Forecast) Information(e *abi.Experiment) float64 {
	if f.belief == nil {
		return 0
	}
	if f.seen == nil {
		f.seen = f.belief.see(f.results)
	}
	before, sum := entropy(f.Now), 0.0
	for _, c := range f.belief.ahead(f.seen, f.told, e) {
		probability := 0.0
		for j, p := range f.Now {
			probability += p * c.given[j]
		}
		f.weigh(c.told)
		sum += probability * (before - entropy(c.told))
	}
	return sum
}

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
