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

func (s *slots) must(t *testing.T, submitter string) {
	t.Helper()
	if err := s.take(t.Context(), submitter); err != nil {
		t.Fatal(err)
	}
}

func (s *slots) later(ctx context.Context, submitter string) <-chan error {
	done := make(chan error, 1)
	go func() { done <- s.take(ctx, submitter) }()
	return done
}

func TestSlots(t *testing.T) {
	t.Parallel()
	s := newSlots(5)
	for _, submitter := range []string{"large", "large", "small", "small"} {
		s.must(t, submitter)
	}
	// The fifth is not for who has two.
	impatient, give := context.WithCancel(t.Context())
	more := s.later(impatient, "large")
	s.queued(1)
	give()
	if err := <-more; !errors.Is(err, errOwn) {
		t.Errorf("who has the most of one submitter got %v", err)
	}
	third := s.later(t.Context(), "large")
	s.queued(1)
	s.must(t, "other")
	gone, leave := context.WithCancel(t.Context())
	left := s.later(gone, "another")
	s.queued(2)
	leave()
	if err := <-left; !errors.Is(err, errBusy) {
		t.Errorf("who left got %v", err)
	}
	// large came first, and has two slots.
	again := s.later(t.Context(), "other")
	s.queued(2)
	s.give("small")
	if err := <-again; err != nil {
		t.Error(err)
	}
	s.give("large")
	if err := <-third; err != nil {
		t.Error(err)
	}
	for _, submitter := range []string{"large", "large", "small", "other", "other"} {
		s.give(submitter)
	}
	if len(s.held) != 0 || len(s.queue) != 0 || len(s.last) != 0 {
		t.Errorf("%v are held, %v wait, and %v had turns", s.held, s.queue, s.last)
	}
}

func TestSlotsWithOne(t *testing.T) {
	t.Parallel()
	s := newSlots(1)
	ended, end := context.WithCancel(t.Context())
	end()
	s.must(t, "a")
	if err := s.take(ended, "b"); !errors.Is(err, errBusy) {
		t.Errorf("there is another slot: %v", err)
	}
	s.give("a")
	s.must(t, "b")
}

// A slot goes to another submitter, not to one that had it and waits with more requests.
func TestAccept_FZ7_ASlotChangesHands(t *testing.T) {
	t.Parallel()
	s := newSlots(2)
	s.must(t, "a")
	s.must(t, "b")
	more := s.later(t.Context(), "a")
	s.queued(1)
	served := s.later(t.Context(), "c")
	s.queued(2)
	s.give("a")
	if err := <-served; err != nil {
		t.Error(err)
	}
	s.give("b")
	if err := <-more; err != nil {
		t.Error(err)
	}
}
