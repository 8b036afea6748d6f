package alibi

import (
	"context"
	"sync"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host"
)

// memo makes each experiment of a case once: what Light has run, the court sees, too.
type memo struct {
	host.Experiments

	mu   sync.Mutex
	made map[memoKey]*once
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
	return &memo{Experiments: e, made: map[memoKey]*once{}}
}

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
	return r, err
}
