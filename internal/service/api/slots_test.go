package api

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

// later takes a slot beside the test; the channel has how that ended, once it has.
func (s *slots) later(ctx context.Context, submitter string) <-chan error {
	done := make(chan error, 1)
	go func() { done <- s.take(ctx, submitter) }()
	synctest.Wait()
	return done
}

// A slot goes to another submitter, not to one that had it and waits with more requests; the last one is not for who has the most.
func TestAccept_FZ7_ASlotChangesHands(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newSlots(5)
		impatient, give := context.WithCancel(t.Context())
		for _, submitter := range []string{"large", "large", "small", "small"} {
			must.Do(t, s.take(t.Context(), submitter))
		}
		more, third := s.later(impatient, "large"), s.later(t.Context(), "large")
		must.Do(t, s.take(t.Context(), "other"))
		left, again := s.later(impatient, "another"), s.later(t.Context(), "other")
		give()
		synctest.Wait()
		if own, busy := <-more, <-left; !errors.Is(own, errOwn) || !errors.Is(busy, errBusy) || len(third)+len(again) != 0 {
			t.Errorf("who has the most of one submitter got %v, who left %v", own, busy)
		}
		s.give("large")
		if err := <-again; err != nil || len(third) != 0 {
			t.Error("who had a slot and waited got it:", err)
		}
		s.give("small")
		if err := <-third; err != nil {
			t.Error(err)
		}
		for _, submitter := range []string{"large", "large", "small", "other", "other"} {
			s.give(submitter)
		}
		if len(s.own) != 0 || len(s.all) != 0 || s.waiting.Load() != 0 {
			t.Errorf("%v are held", s.own)
		}
	})
}
