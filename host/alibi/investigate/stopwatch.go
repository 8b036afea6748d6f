package investigate

import (
	"context"
	"sync"
	"time"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host"
)

// stopwatch adds up how long the experiments of each case took, and the search for its commit.
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
	defer s.measure(subject.ID)()
	return s.Experiments.Run(ctx, subject, e)
}

// measure begins to measure something for a case; the function that it returns ends that.
func (s *stopwatch) measure(id string) func() {
	began := s.now()
	return func() {
		took := s.now().Sub(began)
		s.mu.Lock()
		s.spent[id] += took
		s.mu.Unlock()
	}
}

func (s *stopwatch) of(id string) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.spent[id]
}
