package api

import (
	"context"
	"errors"
	"slices"
	"sync"
)

// slots bound how many dockets are received at once. Who finds none waits: the submitter that has the fewest is next, and of those who
// have as many, who came first. Of several slots one is never a submitter's that has all others. Safe for concurrent use.
type slots struct {
	count int
	mu    sync.Mutex
	held  map[string]int // slots by submitter
	queue []*waiting     // who waits, in the order in which they came
}

type waiting struct {
	submitter string
	given     chan struct{}
}

// maxWaiting is how many requests may wait, each with a connection.
const maxWaiting = 256

// Why a request got no slot.
var (
	errBusy = errors.New("the server receives as many dockets as it takes at once")
	errOwn  = errors.New("the submitter sends as many dockets as one may at once")
)

func newSlots(count int) *slots { return &slots{count: count, held: map[string]int{}} }

// take waits for a slot until the context ends. The caller releases it with give.
func (s *slots) take(ctx context.Context, submitter string) error {
	s.mu.Lock()
	if len(s.queue) >= maxWaiting {
		s.mu.Unlock()
		return errBusy
	}
	w := &waiting{submitter, make(chan struct{})}
	s.queue = append(s.queue, w)
	s.hand()
	s.mu.Unlock()
	select {
	case <-w.given:
		return nil
	case <-ctx.Done():
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.Index(s.queue, w)
	if i < 0 {
		return nil // it was given in the last moment
	}
	s.queue = slices.Delete(s.queue, i, i+1)
	if s.held[submitter] >= s.each() {
		return errOwn
	}
	return errBusy
}

// each is how many slots one submitter may have.
func (s *slots) each() int { return max(s.count-1, 1) }

// give releases a slot.
func (s *slots) give(submitter string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.held[submitter]--; s.held[submitter] == 0 {
		delete(s.held, submitter)
	}
	s.hand()
}

// hand gives free slots to who waits.
func (s *slots) hand() {
	for {
		used := 0
		for _, n := range s.held {
			used += n
		}
		next := -1
		for i, w := range s.queue {
			if n := s.held[w.submitter]; n < s.each() && (next < 0 || n < s.held[s.queue[next].submitter]) {
				next = i
			}
		}
		if used >= s.count || next < 0 {
			return
		}
		w := s.queue[next]
		s.queue = slices.Delete(s.queue, next, next+1)
		s.held[w.submitter]++
		close(w.given)
	}
}
