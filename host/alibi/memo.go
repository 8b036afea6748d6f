package alibi

import (
	"context"
	"slices"
	"sync"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host"
)

// memo makes each experiment of a case once: what Light has run, the court sees, too. Once the base has run code that is not its own, nothing
// more is on offer, since no further run can say what the change did; and no run of a base that does not build or lacks the test is.
type memo struct {
	host.Experiments

	mu   sync.Mutex
	made map[memoKey]*once
	base map[string]abi.ExperimentResult // by the ids of cases: the last result of the base
}

type memoKey struct {
	id string
	e  abi.Experiment
}

type once struct {
	sync.Mutex
	done   bool
	result abi.ExperimentResult
}

func newMemo(e host.Experiments) *memo {
	return &memo{Experiments: e, made: map[memoKey]*once{}, base: map[string]abi.ExperimentResult{}}
}

// Offers are the experiments of a case, those that were made among them.
func (m *memo) Offers(ctx context.Context, subject *abi.Case) ([]abi.ExperimentOffer, error) {
	offers, err := m.Experiments.Offers(ctx, subject)
	m.mu.Lock()
	defer m.mu.Unlock()
	base := m.base[subject.ID]
	lacks := base.Outcome == abi.OutcomeNotBuilt || base.Outcome == abi.OutcomeNoTest
	return slices.DeleteFunc(slices.Clone(offers), func(o abi.ExperimentOffer) bool {
		idle := base.Loaded == abi.Contradicted || lacks && isBase(&o.Experiment)
		return idle && m.made[memoKey{subject.ID, o.Experiment}] == nil
	}), err
}

func isBase(e *abi.Experiment) bool { return e.Product == abi.Base && e.Tests == abi.Base }

// Run runs an experiment, or gives its result. What ended with an error is run again.
func (m *memo) Run(ctx context.Context, subject *abi.Case, e abi.Experiment) (abi.ExperimentResult, error) {
	m.mu.Lock()
	o := m.made[memoKey{subject.ID, e}]
	if o == nil {
		o = &once{}
		m.made[memoKey{subject.ID, e}] = o
	}
	m.mu.Unlock()
	o.Lock()
	defer o.Unlock()
	if o.done {
		return o.result, nil
	}
	r, err := m.Experiments.Run(ctx, subject, e)
	if err == nil {
		o.done, o.result = true, r
	}
	if isBase(&e) && err == nil {
		m.mu.Lock()
		m.base[subject.ID] = r
		m.mu.Unlock()
	}
	return r, err
}
