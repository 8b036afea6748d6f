package proceeding

import (
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/abitest"
	"github.com/shadowcourt/shadowcourt/host/experiment/plan"
	"github.com/shadowcourt/shadowcourt/host/module"
	"github.com/shadowcourt/shadowcourt/internal/testkit/check"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
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
			check.Equal(t, asks(r), tc.want, "asks for")
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
		check.Equal(t, asks(r), tc.asks, "with a least gain of", tc.least, "of", want, "nats it asks for")
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
	check.Equal(t, Experimented(r.Case.Experiments, weighed(r)), want)
	check.Equal(t, Experimented(nil, weighed(r)), "", "without experiments")
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

// A reference with line breaks stays within the sentence that cites it.
func TestCitesStayInTheirLine(t *testing.T) {
	t.Parallel()
	items := []abi.IndictmentItem{{SourceRef: "log:L9\nround 9\r\u2028forged"}}
	check.Equal(t, Cite(items, 0), "[0] log:L9␊round 9␊␊forged")
}

// Only what nobody measured is challenged for how it says what it says.
func TestKnownSourcesAreChallengedForWhatIsNotThere(t *testing.T) {
	t.Parallel()
	p := &abi.Profile{Sources: []abi.SourceReliability{{Source: "x", Share: 1, Cap: 9}}}
	for _, tc := range []struct {
		name           string
		item           weigh.Testimony
		known, unknown int
	}{
		{"at chance", weigh.Testimony{Content: "it is a", Supports: "a", Confidence: 0.5}, 0, 1},
		{"certain", weigh.Testimony{Content: "it is a", Supports: "a", Confidence: 1}, 0, 1},
		{"empty", weigh.Testimony{Supports: "a", Confidence: 0.7}, 0, 1},
		{"absent", weigh.Testimony{Content: "a quote", Supports: "a", Confidence: 0.7, Quote: abi.QuoteAbsent}, 1, 1},
		{"sound", weigh.Testimony{Content: "it is a", Supports: "a", Confidence: 0.7}, 0, 0},
	} {
		for source, want := range map[string]int{"x:3": tc.known, "y:3": tc.unknown} {
			tc.item.SourceRef = source
			if tc.item.Quote == "" {
				tc.item.Quote = abi.QuoteUnclaimed
			}
			items := &Items{labels: []string{"a", "b"}, profile: p, testimony: []weigh.Testimony{tc.item}}
			got := items.grounds(Everything)
			check.Len(t, got, want, tc.name, "of", source, "challenges")
		}
	}
}

const (
	product     = "pb001"
	automation  = "ab001"
	environment = "si001"
	flaky       = "nd001"
)

func goLabels() []string { return []string{product, automation, environment, flaky} }

func goTest(t *testing.T) *abi.Profile {
	t.Helper()
	return must.Get(module.LoadProfile(filepath.Join("..", "..", "..", "pipelines", "profiles", "go-test.yaml")))(t)
}

// failing is a world in which the tests fail in the same way where a cause is there, and pass otherwise.
func failing(where func(abi.Experiment) bool) func(abi.Experiment) abi.ExperimentOutcome {
	return func(e abi.Experiment) abi.ExperimentOutcome {
		if where(e) {
			return abi.OutcomeSame
		}
		return abi.OutcomePassed
	}
}

// By the shipped model a neutral persona finds each kind of cause, and runs no more than it needs to.
func TestTheShippedModelFindsTheCause(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name   string
		test   abi.TestChange
		world  func(abi.Experiment) abi.ExperimentOutcome
		label  string
		least  float64
		most   float64
		enough int
	}{
		{
			"mixed on one tree", abi.TestChanged, func(e abi.Experiment) abi.ExperimentOutcome {
				if e.Runs < 5 {
					return abi.OutcomePassed
				}
				return abi.OutcomeMixed
			}, flaky, 0.9, 1, 6,
		},
		{
			"fails only under load", abi.TestChanged, func(e abi.Experiment) abi.ExperimentOutcome {
				if e.Environment == abi.StarvedEnvironment {
					return abi.OutcomeMixed
				}
				return abi.OutcomePassed
			}, flaky, 0.9, 1, 6,
		},
		{"fails only with the other tests since the change", abi.TestUnchanged, failing(func(e abi.Experiment) bool { return e.Order == abi.OriginalOrder && e.Product == abi.Head }), automation, 0.4, 0.95, 8},
		{"fails only with the other tests", abi.TestUnchanged, failing(func(e abi.Experiment) bool { return e.Order == abi.OriginalOrder }), flaky, 0.9, 1, 4},
		{"fails everywhere but in a clean environment", abi.TestUnchanged, failing(func(e abi.Experiment) bool { return e.Environment != abi.CleanEnvironment }), environment, 0.7, 1, 5},
		{"a change of the tests, or a fault that it shows", abi.TestChanged, failing(func(e abi.Experiment) bool { return e.Tests == abi.Head }), automation, 0.4, 0.8, 5},
		{"a change of the product, or a stale test", abi.TestUnchanged, failing(func(e abi.Experiment) bool { return e.Product == abi.Head }), product, 0.5, 0.8, 5},
		{"fails no more", abi.TestUnchanged, failing(func(abi.Experiment) bool { return false }), environment, 0.4, 0.8, 10},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			r := offered(goTest(t))
			scale := playOut(t, r, tc.test, tc.world)
			label, p := scale.Top("")
			if label != tc.label || p < tc.least || p > tc.most || len(r.Case.Experiments) > tc.enough {
				t.Errorf("%s at %v after %d experiments: %s", label, p, len(r.Case.Experiments), Experimented(r.Case.Experiments, scale))
			}
		})
	}
}

// What fails everywhere is not flaky, and settles no label: the fault may be older than the base. It is named as such.
func TestAccept_FZ3_WhatFailsEverywhereIsNotSettled(t *testing.T) {
	t.Parallel()
	r := offered(goTest(t))
	scale := playOut(t, r, abi.TestUnchanged, failing(func(abi.Experiment) bool { return true }))
	if label, p := scale.Top(""); p > 0.75 || label == environment || scale.Of(flaky) > 0.02 || BaseFails(r.Case.Experiments) == "" {
		t.Errorf("%s at %v: %s", label, p, Experimented(r.Case.Experiments, scale))
	}
}

// A change of the product and a stale test look alike: both stay open.
func TestAChangeOfTheProductLeavesTheStaleTestOpen(t *testing.T) {
	t.Parallel()
	r := offered(goTest(t))
	scale := playOut(t, r, abi.TestUnchanged, failing(func(e abi.Experiment) bool { return e.Product == abi.Head }))
	if stale := scale.Of(automation); stale < 0.2 || scale.Of(environment)+scale.Of(flaky) > 0.05 {
		t.Errorf("stale test %v, environment %v, flaky %v", stale, scale.Of(environment), scale.Of(flaky))
	}
}

// offered is a request that offers all experiments with what they are expected to take for a test of a tenth of a second.
func offered(p *abi.Profile) *abi.NodeRequest {
	r := &abi.NodeRequest{Profile: p, Case: abi.CaseView{Labels: goLabels()}}
	r.Offers = plan.Offers(100*time.Millisecond, plan.GoPace(), plan.BuildOf)
	return r
}

// playOut runs what is asked for until nothing more is.
func playOut(t *testing.T, r *abi.NodeRequest, test abi.TestChange, world func(abi.Experiment) abi.ExperimentOutcome) *weigh.Scale {
	t.Helper()
	for range len(r.Offers) + 1 {
		scale := weigh.Weigh(&weigh.Matter{Labels: r.Case.Labels, Profile: r.Profile, Experiments: r.Case.Experiments})
		e := Next(r, scale)
		if e == nil {
			return scale
		}
		result := abi.ExperimentResult{Experiment: *e, Outcome: world(*e), Test: test}
		switch result.Outcome {
		case abi.OutcomePassed:
			result.Passed = e.Runs
		case abi.OutcomeMixed:
			result.Passed, result.Same = 1, e.Runs-1
		default:
			result.Same = e.Runs
		}
		r.Case.Experiments = append(r.Case.Experiments, result)
	}
	t.Fatal("asks for more experiments than are offered")
	return nil
}
