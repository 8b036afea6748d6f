package alibi

import (
	"context"
	"sync"
	"time"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host"
)

// stopwatch adds up how long the experiments of each case took.
type stopwatch struct {
	host.Experiments
	now func() time.Time

	mu    sync.Mutex
	spent map[string]time.Duration
}

func newStopwatch(e host.Experiments, now func() time.Time) *stopwatch {
	return &stopwatch{Experiments: e, now: now, spent: map[string]time.Duration{}}
}

// Run runs an experiment.
func (s *stopwatch) Run(ctx context.Context, subject *abi.Case, e abi.Experiment) (abi.ExperimentResult, error) {
	began := s.now()
	r, err := s.Experiments.Run(ctx, subject, e)
	s.mu.Lock()
	s.spent[subject.ID] += s.now().Sub(began)
	s.mu.Unlock()
	return r, err
}

func (s *stopwatch) of(id string) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.spent[id]
}
