package api

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
)

// slots bound how many dockets are received at once. Who finds none waits: the submitter that has the fewest is next, of those who have as
// many the one that got its last one longest ago, and then who came first. Of several slots two submitters never have all, so that they
// keep no third one out, however slowly they send. Safe for concurrent use.
type slots struct {
	count int
	mu    sync.Mutex
	held  map[string]int // slots by submitter
	queue []*waiting     // who waits, in the order in which they came
	// turns counts the slots that were given, and last has the turn of each submitter's last one, while the submitter has a slot or waits.
	turns int
	last  map[string]int
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

func newSlots(count int) *slots {
	return &slots{count: count, held: map[string]int{}, last: map[string]int{}}
}

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
	s.forget(submitter)
	if s.held[submitter] >= s.each() {
		return errOwn
	}
	return errBusy
}

// each is how many slots one submitter may have.
func (s *slots) each() int { return max((s.count-1)/2, 1) }

// give releases a slot.
func (s *slots) give(submitter string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held[submitter]--
	s.hand()
	s.forget(submitter)
}

// forget drops what is known of a submitter that neither has a slot nor waits.
func (s *slots) forget(submitter string) {
	if s.held[submitter] == 0 && !slices.ContainsFunc(s.queue, func(w *waiting) bool { return w.submitter == submitter }) {
		delete(s.held, submitter)
		delete(s.last, submitter)
	}
}

// hand gives free slots to who waits.
func (s *slots) hand() {
	taken := 0
	for _, n := range s.held {
		taken += n
	}
	for ; taken < s.count; taken++ {
		next := -1
		for i, w := range s.queue {
			if s.held[w.submitter] < s.each() && (next < 0 || s.before(w.submitter, s.queue[next].submitter)) {
				next = i
			}
		}
		if next < 0 {
			return
		}
		w := s.queue[next]
		s.queue = slices.Delete(s.queue, next, next+1)
		s.held[w.submitter]++
		s.turns++
		s.last[w.submitter] = s.turns
		close(w.given)
	}
}

// before says whether a submitter gets a slot before another one who came first.
func (s *slots) before(submitter, other string) bool {
	return cmp.Or(cmp.Compare(s.held[submitter], s.held[other]), cmp.Compare(s.last[submitter], s.last[other])) < 0
}
