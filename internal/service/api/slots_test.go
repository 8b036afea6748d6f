package api

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
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

// release gives the oldest slot of a submitter back.
func (s *slots) release(submitter string) {
	s.mu.Lock()
	i := slices.IndexFunc(s.held, func(own *slot) bool { return own.submitter == submitter })
	own := s.held[i]
	s.mu.Unlock()
	s.give(own)
}

func (s *slots) must(t *testing.T, submitter string) *slot {
	t.Helper()
	own, err := s.take(t.Context(), submitter, func() {})
	if err != nil {
		t.Fatal(err)
	}
	return own
}

func (s *slots) later(ctx context.Context, submitter string) <-chan error {
	done := make(chan error, 1)
	go func() { _, err := s.take(ctx, submitter, func() {}); done <- err }()
	return done
}

func TestSlots(t *testing.T) {
	t.Parallel()
	s := newSlots(3, time.Now)
	s.must(t, "large")
	s.must(t, "large")
	// The third is not for who has two.
	impatient, give := context.WithCancel(t.Context())
	more := s.later(impatient, "large")
	s.queued(1)
	give()
	if err := <-more; !errors.Is(err, errOwn) {
		t.Errorf("who has the most of one submitter got %v", err)
	}
	third := s.later(t.Context(), "large")
	s.queued(1)
	s.must(t, "small")
	gone, leave := context.WithCancel(t.Context())
	left := s.later(gone, "other")
	s.queued(2)
	leave()
	if err := <-left; !errors.Is(err, errBusy) {
		t.Errorf("who left got %v", err)
	}
	// large came first, and has two slots.
	other := s.later(t.Context(), "other")
	s.queued(2)
	s.release("small")
	if err := <-other; err != nil {
		t.Error(err)
	}
	s.release("large")
	if err := <-third; err != nil {
		t.Error(err)
	}
	for _, submitter := range []string{"large", "large", "other"} {
		s.release(submitter)
	}
	if len(s.held) != 0 || len(s.queue) != 0 || len(s.last) != 0 {
		t.Errorf("%v are held, %v wait, and %v had turns", s.held, s.queue, s.last)
	}
}

func TestSlotsWithOne(t *testing.T) {
	t.Parallel()
	s := newSlots(1, time.Now)
	ended, end := context.WithCancel(t.Context())
	end()
	own := s.must(t, "a")
	if _, err := s.take(ended, "b", nil); !errors.Is(err, errBusy) || own.lost.Load() {
		t.Errorf("there is another slot: %v", err)
	}
	s.release("a")
	s.must(t, "b")
}

// Two submitters hold all slots as long as they like. A third is served, and then a fourth is not at the expense of who has one.
func TestAccept_FZ7_SlowSubmittersKeepNobodyOut(t *testing.T) {
	t.Parallel()
	s := newSlots(4, time.Now)
	first, second, third := s.must(t, "a"), s.must(t, "b"), s.must(t, "b")
	fourth := s.must(t, "a")
	served := s.later(t.Context(), "c")
	s.queued(1)
	again := s.later(t.Context(), "c")
	s.queued(2)
	if !first.lost.Load() || second.lost.Load() || third.lost.Load() || fourth.lost.Load() {
		t.Fatalf("lost are %v %v %v %v, and not the oldest of several", first.lost.Load(), second.lost.Load(), third.lost.Load(), fourth.lost.Load())
	}
	body := &reading{io.NopCloser(strings.NewReader("the rest")), first}
	if _, err := body.Read(make([]byte, 1)); !errors.Is(err, errLost) {
		t.Errorf("a lost slot reads: %v", err)
	}
	s.give(first)
	if err := <-served; err != nil {
		t.Error(err)
	}
	ended, end := context.WithCancel(t.Context())
	later := s.later(ended, "d")
	s.queued(2)
	if !second.lost.Load() || third.lost.Load() || fourth.lost.Load() {
		t.Error("b has two slots, and loses not the older one alone")
	}
	end()
	if err := <-later; !errors.Is(err, errBusy) {
		t.Error(err)
	}
	s.give(second)
	if err := <-again; err != nil {
		t.Error(err)
	}
}

// A slot that was lost goes to another submitter, not to one that lost it and waits with more requests.
func TestAccept_FZ7_ALostSlotChangesHands(t *testing.T) {
	t.Parallel()
	s := newSlots(2, time.Now)
	first := s.must(t, "a")
	second := s.must(t, "b")
	more := s.later(t.Context(), "a")
	s.queued(1)
	served := s.later(t.Context(), "c")
	s.queued(2)
	s.give(first)
	if err := <-served; err != nil {
		t.Error(err)
	}
	s.give(second)
	if err := <-more; err != nil {
		t.Error(err)
	}
}

// Submitters with one slow upload each keep nobody out, either. One that is new, or fast, keeps its place.
func TestAccept_FZ7_ManySlowSubmittersKeepNobodyOut(t *testing.T) {
	t.Parallel()
	now := time.Unix(0, 0)
	var mu sync.Mutex
	s := newSlots(3, func() time.Time { mu.Lock(); defer mu.Unlock(); return now })
	slow, fast := s.must(t, "slow"), s.must(t, "fast")
	mu.Lock()
	now = now.Add(newUpload)
	mu.Unlock()
	fresh := s.must(t, "fresh")
	slow.bytes.Store(36 << 10 * 10)
	fast.bytes.Store(10 * slowRate)
	served := s.later(t.Context(), "another")
	s.queued(1)
	if !slow.lost.Load() || fast.lost.Load() || fresh.lost.Load() {
		t.Errorf("lost are slow %v, fast %v, fresh %v", slow.lost.Load(), fast.lost.Load(), fresh.lost.Load())
	}
	s.give(slow)
	if err := <-served; err != nil {
		t.Error(err)
	}
}
