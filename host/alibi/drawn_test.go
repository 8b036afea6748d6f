package alibi_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/alibi"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/experiment/plan"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
	"github.com/shadowcourt/shadowcourt/internal/testkit/tier"
)

// drawn is a laboratory that draws the outcomes of tests whose ids name their rates of failure, on head and on the base.
type drawn struct {
	mu     sync.Mutex
	random map[string]*rand.Rand
}

func (*drawn) Why(*abi.Case) string { return "" }

func (*drawn) Digest() string { return "drawn" }

func (*drawn) Offers(context.Context, *abi.Case) ([]abi.ExperimentOffer, error) {
	return plan.Offers(100*time.Millisecond, plan.GoPace(), func(e abi.Experiment) plan.Build {
		if e.Product != e.Tests || e.Product == abi.Target || e.Product == abi.Merge {
			return plan.Impossible
		}
		return plan.BuildOf(e)
	}), nil
}

func (d *drawn) Run(_ context.Context, subject *abi.Case, e abi.Experiment) (abi.ExperimentResult, error) {
	var head, base float64
	var number int
	if _, err := fmt.Sscanf(subject.ID, "Test%d of %g and %g", &number, &head, &base); err != nil {
		return abi.ExperimentResult{}, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	random := d.random[subject.ID]
	if random == nil {
		random = rand.New(rand.NewPCG(uint64(number), uint64(1000*head+base)))
		d.random[subject.ID] = random
	}
	rate := map[abi.TreeRevision]float64{abi.Head: head, abi.Base: base}[e.Product]
	r := abi.ExperimentResult{Experiment: e, Test: abi.TestUnchanged, Loaded: abi.Certified}
	for range e.Runs {
		if random.Float64() < rate {
			r.Same++
		} else {
			r.Passed++
		}
	}
	switch {
	case r.Same == 0:
		r.Outcome = abi.OutcomePassed
	case r.Passed == 0:
		r.Outcome = abi.OutcomeSame
	default:
		r.Outcome = abi.OutcomeMixed
	}
	return r, nil
}

// ask has the shipped court answer so many tests with these rates, and counts the answers by their verdicts and labels.
func ask(t *testing.T, court *alibi.Court, head, base float64, tests int) map[string]int {
	t.Helper()
	count := map[string]int{}
	for asked := range court.Ask(t.Context(), func(yield func(docket.Entry, error) bool) {
		for n := range tests {
			e := failure("TestTotal")
			e.Case.ID = fmt.Sprintf("Test%d of %g and %g", n, head, base)
			if !yield(e, nil) {
				return
			}
		}
	}, 0) {
		if asked.Err != nil {
			t.Fatal(asked.Err)
		}
		count[string(asked.Answer.Verdict)]++
		count[asked.Answer.Label]++
	}
	return count
}

// TestAccept_AK7_AK8_TheCourtOnDrawnOutcomes: the shipped court, with all experiments that there are, gives at most one alibi in a hundred to tests that fail
// materially more often, and decides equal rates. Where the base fails in more than half of its runs, preexisting has no such bound.
func TestAccept_AK7_AK8_TheCourtOnDrawnOutcomes(t *testing.T) {
	t.Parallel()
	tier.Long(t, "host/alibi", "abi/odds")
	const tests = 500
	court := must.Get(alibi.Open(t.Context(), host.Config{Experiments: &drawn{random: map[string]*rand.Rand{}}, CacheDir: cache}, 0))(t)
	defer func() { _ = court.Close(context.Background()) }()
	wrong, all := 0, 0
	for _, pair := range [][2]float64{
		{0.05, 0}, {0.2, 0}, {1, 0}, {0.25, 0.02}, {0.31, 0.1}, {0.5, 0.2}, {0.64, 0.3}, {0.73, 0.4}, {0.8, 0.5}, {1, 0.5}, {0.9, 0.6}, {1, 0.8},
	} {
		count := ask(t, court, pair[0], pair[1], tests)
		n := count[alibi.Flaky] + count[alibi.Environment]
		if pair[1] <= 0.5 {
			n += count[alibi.Preexisting]
		}
		wrong, all = wrong+n, all+tests
		t.Logf("%v: %v", pair, count)
	}
	if wrong > all/80 {
		t.Errorf("%d false alibis of %d", wrong, all)
	}
	for _, rate := range []float64{0.1, 0.3, 0.5, 1} {
		count := ask(t, court, rate, rate, tests)
		if t.Logf("%v: %v", rate, count); 10*count[string(alibi.NotYours)] < 8*tests || 50*count[string(alibi.IsYours)] > tests {
			t.Errorf("equal rates of %v: %v", rate, count)
		}
	}
}
