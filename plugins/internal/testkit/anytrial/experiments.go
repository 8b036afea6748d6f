package anytrial

import (
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/abitest"
	"github.com/shadowcourt/shadowcourt/abi/codec"
	"github.com/shadowcourt/shadowcourt/abi/guest/node"
)

// experiment gives half of the requests offers, results of other experiments, and a profile that knows some of both.
func (s *Source) experiment(r *abi.NodeRequest) {
	if s.chance(2) {
		return
	}
	if asks := r.Family == abi.FamilyIndict || r.Family == abi.FamilyDiscover || r.Family == abi.FamilyVerdict; asks && s.chance(2) {
		r.Params = append(r.Params, abi.Param{Name: "max_experiments", Number: new(8.0)})
	}
	var known []abitest.Passing
	begun := s.chance(2)
	for _, e := range s.someExperiments() {
		switch n := s.rnd.IntN(3); {
		case n == 0:
			r.Offers = append(r.Offers, abi.ExperimentOffer{Experiment: e, Seconds: 100 * s.figure()})
		case n == 1 && begun:
			r.Case.Experiments = append(r.Case.Experiments, s.result(e))
		}
		if !s.chance(4) {
			rates := abitest.Passing{Of: e}
			for range r.Case.Labels {
				rates.Given = append(rates.Given, s.figure())
			}
			known = append(known, rates)
		}
	}
	if r.Profile == nil {
		return
	}
	r.Profile.Outcomes = abitest.Outcomes(r.Case.Labels, known...)
	if s.chance(2) {
		r.Profile.BaseRates = nil // which settle the label before anything was read
	}
}

func (s *Source) someExperiments() []abi.Experiment {
	var out []abi.Experiment
	for _, product := range []abi.TreeRevision{abi.Head, abi.Base} {
		for _, tests := range []abi.TreeRevision{abi.Head, abi.Base} {
			for _, environment := range []abi.RunEnvironment{abi.OriginalEnvironment, abi.CleanEnvironment, abi.StarvedEnvironment} {
				if s.chance(2) {
					order := abi.RunOrder(s.pick(string(abi.Alone), string(abi.OriginalOrder)))
					out = append(out, abi.Experiment{Product: product, Tests: tests, Environment: environment, Order: order, Runs: 1 + s.rnd.IntN(5)})
				}
			}
		}
	}
	return out
}

// outcomes that a result may have.
func outcomes() []abi.ExperimentOutcome {
	return []abi.ExperimentOutcome{
		abi.OutcomePassed, abi.OutcomeSame, abi.OutcomeOther, abi.OutcomeMixed, abi.OutcomeNotBuilt, abi.OutcomeNoTest, abi.OutcomeNotRun,
	}
}

func (s *Source) result(e abi.Experiment) abi.ExperimentResult {
	list := outcomes()
	return abi.ExperimentResult{Experiment: e, Outcome: list[s.rnd.IntN(len(list))], Passed: s.rnd.IntN(3), Same: s.rnd.IntN(3), Detail: s.line()}
}

// CheckChoice asks a chooser through the codec, twice, and checks that it gives nothing or one of the offers, whatever their
// seconds: dearer offers are chosen no more readily.
func CheckChoice(t *testing.T, choose node.Chooser, r *abi.NodeRequest) (asked bool) {
	t.Helper()
	request, err := codec.DecodeNodeRequest(codec.AppendNodeRequest(nil, r), 0)
	if err != nil {
		t.Fatal(err)
	}
	e, again := choose(&request), choose(&request)
	if (e == nil) != (again == nil) || e != nil && *e != *again {
		t.Fatalf("two choices, %v and %v, for one request: %+v", e, again, r)
	}
	if e == nil {
		return false
	}
	for i := range r.Offers {
		if r.Offers[i].Experiment != *e {
			continue
		}
		for j := range request.Offers {
			if j != i {
				request.Offers[j].Seconds += 100
			}
		}
		if dearer := choose(&request); dearer == nil || *dearer != *e {
			t.Fatalf("%v is chosen, but %v once all others take longer: %+v", e, dearer, r)
		}
		return true
	}
	t.Fatalf("%v is not offered: %+v", e, r.Offers)
	return true
}
