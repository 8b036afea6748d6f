package odds

import (
	"math"
	"slices"

	"github.com/shadowcourt/shadowcourt/abi"
)

// Forecast foretells what experiments would do to the probabilities of the labels.
type Forecast struct {
	// Now are the probabilities with the results that there are.
	Now []float64

	labels  []string
	profile *abi.Profile
	results []abi.ExperimentResult
	rest    []float64 // nats by label of all but the results
	doubt   float64
	test    abi.TestChange
	causes  causeList
	nats    []float64 // of the results, by cause
	belief  *belief   // in place of causes, if the profile has an outcome model
}

// NewForecast is for a case with these results, and nats by label of all else that is known; doubt is as in [Probabilities]. The
// labels must not be empty.
func NewForecast(labels []string, rest []float64, doubt float64, p *abi.Profile, results []abi.ExperimentResult) *Forecast {
	f := &Forecast{labels: labels, profile: p, results: results, rest: rest, doubt: doubt, test: testOf(results)}
	if p != nil && p.Outcomes != nil {
		f.belief = newBelief(labels, p.Outcomes)
		f.Now = f.weighed(f.belief.told(results))
		return f
	}
	f.causes = causesOf(labels, p, f.test)
	f.nats = f.causes.nats(p, results, true)
	f.Now = f.probabilities(f.causes, f.nats)
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

func (f *Forecast) probabilities(causes causeList, nats []float64) []float64 {
	shown := make([]float64, len(f.rest))
	for j := range shown {
		shown[j] = causes.sum(j, nats)
	}
	return f.weighed(shown)
}

// weighed are the probabilities of the labels where results tell so much of each.
func (f *Forecast) weighed(shown []float64) []float64 {
	sum := slices.Clone(f.rest)
	for j := range sum {
		sum[j] += shown[j]
	}
	return Probabilities(sum, f.doubt)
}

// Prospect is an outcome that an experiment may have.
type Prospect struct {
	// Given is P(outcome | label), as AddExperiments reads it, given the results so far.
	Given []float64
	// After are the probabilities of the labels after the outcome.
	After []float64
}

// Of gives what may come of an experiment: by an outcome model all counts of its runs, else the outcomes of the profile's table, in its
// order; nothing where neither knows it. Where P(outcome | cause) of a table sum to more than 1 for a cause, all are divided by the
// largest sum. What is missing to 1 stands for outcomes that tell nothing.
func (f *Forecast) Of(e *abi.Experiment) []Prospect {
	if f.belief != nil {
		var list []Prospect
		for _, p := range f.belief.ahead(f.results, e) {
			list = append(list, Prospect{Given: p.given, After: f.weighed(p.told)})
		}
		return list
	}
	if table := ExperimentTable(f.profile, e); table != nil {
		return f.of(table)
	}
	return nil
}

func (f *Forecast) of(table *abi.ExperimentTable) []Prospect {
	out := make([]Prospect, len(table.Outcomes))
	sums := make([]float64, len(f.causes))
	likelihoods := make([][]float64, len(out))
	for o := range out {
		likelihoods[o] = f.causes.likelihoods(table.Outcomes[o].Given)
		for c, x := range likelihoods[o] {
			sums[c] += x
		}
	}
	most := 1.0
	for _, x := range sums {
		most = max(most, x)
	}
	shares := make([]float64, len(f.causes)) // P(cause | label)
	for c := range f.causes {
		if total := f.causes.sum(f.causes[c].label, f.nats); !math.IsInf(total, -1) {
			shares[c] = f.causes[c].share * math.Exp(f.nats[c]-total)
		}
	}
	results := append(slices.Clone(f.results), abi.ExperimentResult{Experiment: table.Experiment})
	for o := range out {
		out[o].Given = make([]float64, len(f.labels))
		for c, x := range likelihoods[o] {
			out[o].Given[f.causes[c].label] += x / most * shares[c]
		}
		results[len(f.results)].Outcome = table.Outcomes[o].Outcome
		causes := f.causes
		if test := testOf(results); test != f.test {
			causes = causesOf(f.labels, f.profile, test)
		}
		out[o].After = f.probabilities(causes, causes.nats(f.profile, results, true))
	}
	return out
}

// Gain is what the outcomes of an experiment are expected to be worth. worth says what an outcome is worth by the probabilities of the
// labels after it, if the label of that index is the true one.
func (f *Forecast) Gain(e *abi.Experiment, worth func(label int, after []float64) float64) float64 {
	sum := 0.0
	for _, o := range f.Of(e) {
		for j, p := range f.Now {
			sum += p * o.Given[j] * worth(j, o.After)
		}
	}
	return sum
}

// Information is how much an experiment is expected to tell of the label: by how many nats the entropy of the labels falls. Where the base
// fails, too, it is how far the probabilities are expected to move, by their divergence: only another environment can then make a label
// surer, seldom and by much, while its most probable outcome tells nothing.
func (f *Forecast) Information(e *abi.Experiment) float64 {
	before, sum, red := entropy(f.Now), 0.0, f.belief == nil && BaseFails(f.results) != nil
	for _, o := range f.Of(e) {
		probability := 0.0
		for j, p := range f.Now {
			probability += p * o.Given[j]
		}
		if red {
			sum += probability * divergence(o.After, f.Now)
		} else {
			sum += probability * (before - entropy(o.After))
		}
	}
	return sum
}

const (
	// nothing in nats is the rounding of a table that tells nothing.
	nothing = 1e-9
	// leastSeconds is as short as an experiment is taken to be: a run and another call of the module are not free.
	leastSeconds = 0.1
)

// Choose is the offer with the largest gain per expected second among those that a profile knows and that gain more than
// least, of equal ones the first; nil where there is none. It gives the gain per second, too. If what it rests on is on offer, that comes
// first, whatever it takes: the rerun of head in its own environment before everything else, and the base before mixtures with it. By an outcome
// model nothing rests on anything, and of one cell the least number of runs comes first.
func Choose(p *abi.Profile, offers []abi.ExperimentOffer, least float64, gain func(*abi.Experiment) float64) (best *abi.ExperimentOffer, rate float64) {
	for i := range offers {
		if !Tells(p, &offers[i].Experiment) || p.Outcomes != nil && !nextStep(offers, i) {
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
	if best != nil && p.Outcomes == nil {
		best = restsOn(p, offers, best)
	}
	return best, rate
}

// nextStep says whether no other offer is for fewer runs of the same cell.
func nextStep(offers []abi.ExperimentOffer, i int) bool {
	e := &offers[i].Experiment
	return !slices.ContainsFunc(offers, func(o abi.ExperimentOffer) bool { return sameCell(&o.Experiment, e) && o.Experiment.Runs < e.Runs })
}

// restsOn is the offer without which another one does not count, or that one.
func restsOn(p *abi.Profile, offers []abi.ExperimentOffer, best *abi.ExperimentOffer) *abi.ExperimentOffer {
	find := func(is func(*abi.Experiment) bool) *abi.ExperimentOffer {
		at := slices.IndexFunc(offers, func(o abi.ExperimentOffer) bool { return is(&o.Experiment) && Tells(p, &o.Experiment) })
		if at < 0 {
			return nil
		}
		return &offers[at]
	}
	if rerun := find(IsRerun); rerun != nil && !IsRerun(&best.Experiment) {
		return rerun
	}
	if base := find(isBase); base != nil && best.Experiment.Product != best.Experiment.Tests {
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

// divergence of probabilities from others, in nats.
func divergence(p, from []float64) float64 {
	d := 0.0
	for j, x := range p {
		if x > 0 {
			d += x * math.Log(x/max(from[j], leastProbability))
		}
	}
	return max(d, 0)
}
