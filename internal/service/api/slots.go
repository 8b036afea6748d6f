package api

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
)

// slots bound how many dockets are received at once. Who finds none waits; who came first is next, of those who don't have the most that one
// submitter may have: of several slots two submitters never have all, so that they keep no third one out, however slowly they send. Safe for
// concurrent use.
type slots struct {
	all     chan struct{}
	waiting atomic.Int32
	mu      sync.Mutex
	own     map[string]*ownSlots // of submitters that have a slot or wait
}

type ownSlots struct {
	taken chan struct{}
	users int
}

// maxWaiting is how many requests may wait, each with a connection.
const maxWaiting = 256

// Why a request got no slot.
var (
	errBusy = errors.New("the server receives as many dockets as it takes at once")
	errOwn  = errors.New("the submitter sends as many dockets as one may at once")
)

func newSlots(count int) *slots {
	return &slots{all: make(chan struct{}, count), own: map[string]*ownSlots{}}
}

// each is how many slots one submitter may have.
func (s *slots) each() int { return max((cap(s.all)-1)/2, 1) }

// take waits for a slot until the context ends. The caller releases it with give.
func (s *slots) take(ctx context.Context, submitter string) error {
	defer s.waiting.Add(-1)
	if s.waiting.Add(1) > maxWaiting {
		return errBusy
	}
	s.mu.Lock()
	o := s.own[submitter]
	if o == nil {
		o = &ownSlots{taken: make(chan struct{}, s.each())}
		s.own[submitter] = o
	}
	o.users++
	s.mu.Unlock()
	if !enter(ctx, o.taken) {
		s.leave(submitter)
		return errOwn
	}
	if !enter(ctx, s.all) {
		<-o.taken
		s.leave(submitter)
		return errBusy
	}
	return nil
}

func enter(ctx context.Context, taken chan<- struct{}) bool {
	select {
	case taken <- struct{}{}:
		return true
	default:
	}
	select {
	case taken <- struct{}{}:
		return true
	case <-ctx.Done():
		return false
	}
}

// give releases a slot.
func (s *slots) give(submitter string) {
	<-s.all // to who waits, before more of the same submitter do
	s.mu.Lock()
	o := s.own[submitter]
	s.mu.Unlock()
	<-o.taken
	s.leave(submitter)
}

func (s *slots) leave(submitter string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.own[submitter].users--; s.own[submitter].users == 0 {
		delete(s.own, submitter)
	}
}
