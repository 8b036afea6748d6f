package proceeding

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/abitest"
	"github.com/shadowcourt/shadowcourt/plugins/internal/weigh"
)

func rerun(n int) abi.Experiment {
	return abi.Experiment{Product: abi.Head, Tests: abi.Head, Environment: abi.OriginalEnvironment, Order: abi.Alone, Runs: n}
}

// places are cells of which none rests on another.
func places() (list []abi.Experiment) {
	for _, environment := range []abi.RunEnvironment{abi.OriginalEnvironment, abi.StarvedEnvironment, abi.CleanEnvironment} {
		for _, tree := range []abi.TreeRevision{abi.Head, abi.Target, abi.Merge} {
			list = append(list, abi.Experiment{Product: tree, Tests: tree, Environment: environment, Order: abi.OriginalOrder, Runs: 1})
		}
	}
	return list
}

// known is the n-th place, from 1, with P(passed | label), and else the same failure, for the labels a, b and c.
func known(n int, a, b, c float64) abitest.Passing {
	return abitest.Passing{Of: places()[n-1], Given: []float64{a, b, c}}
}

// asks gives the place that is asked for, 0 for none.
func asks(r *abi.NodeRequest) int {
	if e := Next(r, weighed(r)); e != nil {
		return slices.Index(places(), *e) + 1
	}
	return 0
}

func weighed(r *abi.NodeRequest) *weigh.Scale {
	return weigh.Weigh(&weigh.Matter{Labels: r.Case.Labels, Profile: r.Profile, Experiments: r.Case.Experiments})
}

// offers is a request that offers what is known, all of the same seconds.
func offers(list ...abitest.Passing) *abi.NodeRequest {
	r := &abi.NodeRequest{Case: abi.CaseView{Labels: []string{"a", "b", "c"}}}
	r.Profile = &abi.Profile{Outcomes: abitest.Outcomes(r.Case.Labels, list...)}
	for i := range list {
		r.Offers = append(r.Offers, abi.ExperimentOffer{Experiment: list[i].Of, Seconds: 2})
	}
	return r
}

func TestAccept_EX7_TheOfferThatTellsMostPerSecondIsAskedFor(t *testing.T) {
	t.Parallel()
	number := func(name string, x float64) func(*abi.NodeRequest) {
		return func(r *abi.NodeRequest) { r.Params = append(r.Params, abi.Param{Name: name, Number: &x}) }
	}
	seconds := func(i int, s float64) func(*abi.NodeRequest) {
		return func(r *abi.NodeRequest) { r.Offers[i].Seconds = s }
	}
	shown := func(r *abi.NodeRequest) {
		r.Case.Experiments = []abi.ExperimentResult{{Experiment: places()[0], Outcome: abi.OutcomePassed, Passed: 1}}
	}
	plain, faint, nothing := known(1, 0.9, 0.1, 0.1), known(2, 0.75, 0.3, 0.3), known(3, 0.5, 0.5, 0.5)
	for _, tc := range []struct {
		name   string
		offers []abitest.Passing
		change func(*abi.NodeRequest)
		want   int
	}{
		{"no offers", nil, nil, 0},
		{"what tells more", []abitest.Passing{faint, plain}, nil, 1},
		{"what tells more per second", []abitest.Passing{faint, plain}, seconds(1, 60), 2},
		{"of equal ones the first", []abitest.Passing{known(7, 0.9, 0.1, 0.1), plain}, nil, 7},
		{"what tells nothing", []abitest.Passing{nothing}, number("min_gain", 0), 0},
		{"below the least gain", []abitest.Passing{faint}, number("min_gain", 0.1), 0},
		{"above the least gain", []abitest.Passing{faint}, number("min_gain", 0.01), 2},
		{"without a model", []abitest.Passing{plain}, func(r *abi.NodeRequest) { r.Profile = nil }, 0},
		{"settled", []abitest.Passing{plain}, func(r *abi.NodeRequest) {
			r.Profile.BaseRates = []abi.LabelWeight{{Label: "a", Weight: 0.985}, {Label: "b", Weight: 0.01}, {Label: "c", Weight: 0.005}}
		}, 0},
		{"settled later, by parameter", []abitest.Passing{plain}, func(r *abi.NodeRequest) {
			r.Profile.BaseRates = []abi.LabelWeight{{Label: "a", Weight: 0.95}, {Label: "b", Weight: 0.03}, {Label: "c", Weight: 0.02}}
			number("settled", 0.99)(r)
		}, 1},
		{"enough were run", []abitest.Passing{plain, known(2, 0.1, 0.9, 0.5)}, func(r *abi.NodeRequest) {
			shown(r)
			number("max_experiments", 1)(r)
		}, 0},
		{"what was run already", []abitest.Passing{plain}, shown, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			r := offers(tc.offers...)
			if tc.change != nil {
				tc.change(r)
			}
			if got := asks(r); got != tc.want {
				t.Errorf("asks for %d, want %d", got, tc.want)
			}
		})
	}
}

// Of three labels and an outcome that leaves one of them, log 3 minus nothing is learned in a third of the cases, and log 3 minus log 2
// in the others.
func TestTheLeastGainIsInNatsOfInformation(t *testing.T) {
	t.Parallel()
	const sure = 0.999999999999
	r := offers(known(1, sure, 1-sure, 1-sure))
	want := math.Log(3) - 2.0/3*math.Log(2)
	for _, tc := range []struct {
		least float64
		asks  int
	}{{want * 0.93, 1}, {want, 0}} { // the court's doubt takes some of it
		r.Params = []abi.Param{{Name: "min_gain", Number: &tc.least}}
		if got := asks(r); got != tc.asks {
			t.Errorf("with a least gain of %v of %v nats it asks for %d", tc.least, want, got)
		}
	}
}

// What tells nothing is never asked for, and no experiment is asked for because it takes longer.
func TestAnyModel(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(7, 0))
	for range 2000 {
		var tables []abitest.Passing
		for n := 1; n <= 1+rnd.IntN(5); n++ {
			x := rnd.Float64()*0.98 + 0.01
			if n%2 == 0 {
				tables = append(tables, known(n, x, x, x))
			} else {
				tables = append(tables, known(n, x, rnd.Float64()*0.98+0.01, rnd.Float64()*0.98+0.01))
			}
		}
		r := offers(tables...)
		r.Params = []abi.Param{{Name: "min_gain", Number: new(0.0)}, {Name: "max_experiments", Number: new(9.0)}}
		for i := range r.Offers {
			r.Offers[i].Seconds = rnd.Float64() * 10
		}
		chosen := asks(r)
		if chosen != 0 && chosen%2 == 0 {
			t.Fatalf("asks for what tells nothing: %+v", tables[chosen-1])
		}
		other := rnd.IntN(len(r.Offers))
		r.Offers[other].Seconds += rnd.Float64() * 10
		if got := asks(r); got != chosen && got == other+1 {
			t.Fatalf("asks for %d once it takes longer, before for %d", got, chosen)
		}
	}
}

func TestWords(t *testing.T) {
	t.Parallel()
	r := offers(abitest.Passing{Of: rerun(5), Given: []float64{0.9, 0.1, 0.1}})
	mixed := abi.Experiment{Product: abi.Head, Tests: abi.Base, Environment: abi.CleanEnvironment, Order: abi.OriginalOrder, Runs: 1}
	starved := abi.Experiment{Product: abi.Base, Tests: abi.Base, Environment: abi.StarvedEnvironment, Order: abi.Alone, Runs: 3}
	r.Case.Experiments = []abi.ExperimentResult{
		{Experiment: rerun(5), Outcome: abi.OutcomeSame, Same: 5},
		{Experiment: mixed, Outcome: abi.OutcomePassed, Passed: 1},
		{Experiment: starved, Outcome: abi.OutcomeMixed, Passed: 1, Same: 2},
	}
	want := "Experiments: this tree, 5 times: 5 failed in the same way (10.99 nats against a); " +
		"this product with the tests of the base, once in a clean environment, with all tests of the package: 1 passed (tells nothing); " +
		"the base, 3 times on a busy machine: 1 passed, 2 failed in the same way (tells nothing)."
	if got := Experimented(r.Case.Experiments, weighed(r)); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got := Experimented(nil, weighed(r)); got != "" {
		t.Errorf("without experiments: %s", got)
	}
}

func TestAccept_FZ3_TheReasoningNamesABaseThatFails(t *testing.T) {
	t.Parallel()
	base := abi.Experiment{Product: abi.Base, Tests: abi.Base, Environment: abi.OriginalEnvironment, Order: abi.Alone, Runs: 2}
	for outcome, want := range map[abi.ExperimentOutcome]string{
		abi.OutcomePassed: "", abi.OutcomeNotRun: "", abi.OutcomeMixed: "", abi.OutcomeSame: "The base fails too, in the same way, so this change did not cause it",
		abi.OutcomeOther: "The base fails too, but in another way",
	} {
		got := BaseFails([]abi.ExperimentResult{{Experiment: rerun(5), Outcome: abi.OutcomeSame}, {Experiment: base, Outcome: outcome}})
		if want == "" && got != "" || !strings.HasPrefix(got, want) {
			t.Errorf("%s: %s", outcome, got)
		}
	}
}
