package investigate

import (
	"sync"
	"time"
)

// stopwatch adds up how long the searches for each case took.
type stopwatch struct {
	now func() time.Time

	mu    sync.Mutex
	spent map[string]time.Duration
}

func newStopwatch(now func() time.Time) *stopwatch {
	return &stopwatch{now: now, spent: map[string]time.Duration{}}
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
