package api

import (
	"context"
	"errors"
	"testing"
)

// queued waits until n requests wait.
func (s *slots) queued(n int) {
	for {
		s.mu.Lock()
		now := len(s.queue)
		s.mu.Unlock()
		if now == n {
			return
		}
	}
}

func TestSlots(t *testing.T) {
	t.Parallel()
	s := newSlots(3)
	take := func(ctx context.Context, submitter string) <-chan error {
		done := make(chan error, 1)
		go func() { done <- s.take(ctx, submitter) }()
		return done
	}
	for range 2 {
		if err := s.take(t.Context(), "large"); err != nil {
			t.Fatal(err)
		}
	}
	// The third is not for who has two.
	impatient, give := context.WithCancel(t.Context())
	more := take(impatient, "large")
	s.queued(1)
	give()
	if err := <-more; !errors.Is(err, errOwn) {
		t.Errorf("who has the most of one submitter got %v", err)
	}
	third := take(t.Context(), "large")
	s.queued(1)
	if err := s.take(t.Context(), "small"); err != nil {
		t.Fatal(err)
	}
	gone, leave := context.WithCancel(t.Context())
	left := take(gone, "other")
	s.queued(2)
	leave()
	if err := <-left; !errors.Is(err, errBusy) {
		t.Errorf("who left got %v", err)
	}
	// large came first, and has two slots.
	other := take(t.Context(), "other")
	s.queued(2)
	s.give("small")
	if err := <-other; err != nil {
		t.Error(err)
	}
	s.give("large")
	if err := <-third; err != nil {
		t.Error(err)
	}
	for _, submitter := range []string{"large", "large", "other"} {
		s.give(submitter)
	}
	if len(s.held) != 0 || len(s.queue) != 0 {
		t.Errorf("%v are held, %v wait", s.held, s.queue)
	}
}

func TestSlotsWithOne(t *testing.T) {
	t.Parallel()
	s := newSlots(1)
	ended, end := context.WithCancel(t.Context())
	end()
	if err := s.take(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	if err := s.take(ended, "b"); !errors.Is(err, errBusy) {
		t.Errorf("there is another slot: %v", err)
	}
	s.give("a")
	if err := s.take(t.Context(), "b"); err != nil {
		t.Error(err)
	}
}
