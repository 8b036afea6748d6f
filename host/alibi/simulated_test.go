package alibi_test

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/odds"
	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/alibi"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

// hypothesis is a test with known rates of failure.
type hypothesis struct {
	name       string
	head, base float64
	yours      bool
}

func hypotheses() []hypothesis {
	list := []hypothesis{{"fails since the change", 1, 0, true}, {"fails more often", 0.4, 0.1, true}, {"gone", 0, 0, false}, {"failed before", 1, 1, false}}
	for _, rate := range []float64{0.5, 0.2, 0.1, 0.05} {
		list = append(list, hypothesis{"fails sometimes since the change", rate, 0, true})
	}
	for _, rate := range []float64{0.05, 0.1, 0.2, 0.4, 0.6} {
		list = append(list, hypothesis{"flaky", rate, rate, false})
	}
	return list
}

// simulated is a laboratory for tests with known rates.
type simulated struct {
	hypothesis
	random *rand.Rand
	runs   int
}

func step(tree abi.TreeRevision, runs int) abi.Experiment {
	return abi.Experiment{Product: tree, Tests: tree, Environment: abi.OriginalEnvironment, Order: abi.Alone, Runs: runs}
}

// order is that of the runs, those of Light first.
func order() []abi.Experiment {
	return []abi.Experiment{
		step(abi.Head, 5), step(abi.Base, 2), step(abi.Base, 3), step(abi.Head, 15), step(abi.Base, 15), step(abi.Head, 80), step(abi.Base, 80), step(abi.Head, 300), step(abi.Base, 300),
	}
}

func (s *simulated) Offers(context.Context, *abi.Case) ([]abi.ExperimentOffer, error) {
	var offers []abi.ExperimentOffer
	for _, e := range order() {
		offers = append(offers, abi.ExperimentOffer{Experiment: e, Seconds: float64(e.Runs)})
	}
	return offers, nil
}

func (s *simulated) Run(_ context.Context, _ *abi.Case, e abi.Experiment) (abi.ExperimentResult, error) {
	r := abi.ExperimentResult{Experiment: e, Outcome: abi.OutcomeMixed, Test: abi.TestUnchanged, Loaded: abi.Certified}
	rate := s.head
	if e.Product == abi.Base {
		rate = s.base
	}
	for range e.Runs {
		if s.random.Float64() < rate {
			r.Same++
		} else {
			r.Passed++
		}
	}
	s.runs += e.Runs
	return r, nil
}

func (*simulated) Why(*abi.Case) string { return "" }

func (*simulated) Digest() string { return "simulated" }

// decide asks Light, and goes on in the order of the runs until the rule of the judge decides.
func decide(t *testing.T, lab *simulated, profile *abi.Profile, activation, price, blame float64) alibi.Verdict {
	t.Helper()
	light := must.Get(alibi.NewLight(lab, profile, price))(t)
	subject := &abi.Case{ID: "simulated", Labels: alibi.Labels()}
	said := must.Get(light.Answer(t.Context(), host.LightRequest{Case: subject}))(t)
	results := light.Made(subject.ID)
	verdict := func(yours bool) alibi.Verdict {
		if yours {
			return alibi.IsYours
		}
		stays(t, light, profile, results)
		return alibi.NotYours
	}
	if said.Answer.Confidence >= activation {
		return verdict(alibi.Yours(said.Answer.Classification))
	}
	for _, e := range order()[len(results):] {
		if yours := probable(profile, results); yours <= price || yours >= blame {
			return verdict(yours >= blame)
		}
		r := must.Get(lab.Run(t.Context(), subject, e))(t)
		results = append(results, r)
	}
	switch yours := probable(profile, results); {
	case yours <= price:
		return verdict(false)
	case yours >= 0.5:
		return alibi.IsYours
	default:
		return alibi.IsOpen
	}
}

// probable is how probable it is after results that a failure is the author's.
func probable(profile *abi.Profile, results []abi.ExperimentResult) float64 {
	sum := 0.0
	for j, p := range posterior(profile, results) {
		if alibi.Yours(alibi.Labels()[j]) {
			sum += p
		}
	}
	return sum
}

func posterior(profile *abi.Profile, results []abi.ExperimentResult) []float64 {
	nats := make([]float64, len(alibi.Labels()))
	odds.AddBaseRates(nats, alibi.Labels(), profile)
	odds.AddExperiments(nats, alibi.Labels(), profile, results)
	return odds.Probabilities(nats, 0)
}

// stays checks that the court's own check of answers leaves an alibi that the shipped court gives.
func stays(t *testing.T, light *alibi.Light, profile *abi.Profile, results []abi.ExperimentResult) {
	t.Helper()
	label, most := "", 0.0
	for j, p := range posterior(profile, results) {
		if l := alibi.Labels()[j]; !alibi.Yours(l) && p > most {
			label, most = l, p
		}
	}
	tried := &trial.Trial{Case: abi.Case{ID: "simulated", Labels: alibi.Labels()}}
	tried.Result.Final.Classification = label
	for i := range results {
		tried.Result.Experiments = append(tried.Result.Experiments, trial.NewExperiment("", "", &results[i]))
	}
	if a := light.AtPrice(tried); a.Verdict != alibi.NotYours || a.Label != label {
		t.Errorf("%s after %+v: %s, %s", label, results, a.Verdict, a.Why)
	}
}

// atMost is the upper end of Wilson's interval of 95% for k of n.
func atMost(k, n int) float64 {
	const z = 1.96
	p, m := float64(k)/float64(n), float64(n)
	return (p + z*z/(2*m) + z*math.Sqrt(p*(1-p)/m+z*z/(4*m*m))) / (1 + z*z/m)
}

// TestAccept_AL5_FalseAlibisStayWithinTheirPrice: on tests with known rates, and the stop comes earlier at a higher price.
func TestAccept_AL5_FalseAlibisStayWithinTheirPrice(t *testing.T) {
	t.Parallel()
	profile := must.Get(alibi.Profile())(t)
	def := must.Get(alibi.Pipeline())(t)
	const draws, blame = 200, 0.97
	before := math.MaxInt
	for _, price := range []float64{0.01, 0.05} {
		wrong, caused, runs := 0, 0, 0
		for i, h := range hypotheses() {
			count := map[alibi.Verdict]int{}
			for draw := range draws {
				lab := &simulated{hypothesis: h, random: rand.New(rand.NewPCG(uint64(i), uint64(draw)))}
				count[decide(t, lab, profile, def.Court.ActivationThreshold, price, blame)]++
				runs += lab.runs
			}
			if h.yours {
				caused, wrong = caused+draws, wrong+count[alibi.NotYours]
			}
			t.Logf("price %v, %s (%v, %v): %v", price, h.name, h.head, h.base, count)
		}
		if bound := atMost(wrong, caused); bound > price {
			t.Errorf("price %v: %d false alibis of %d, at most %.4f", price, wrong, caused, bound)
		}
		if runs >= before {
			t.Errorf("price %v: %d runs, %d at a lower one", price, runs, before)
		}
		t.Logf("price %v: %d false of %d, %d runs", price, wrong, caused, runs)
		before = runs
	}
}
