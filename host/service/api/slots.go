package api

import (
	"context"
	"errors"
	"io"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// slots bound how many dockets are received at once. Who finds none waits: the submitter that has the fewest is next, and of those who
// have as many, who came first. Of several slots one is never a submitter's that has all others. Who has none and finds all taken takes
// the oldest one of a submitter that has several, or the slowest that is no longer new, so that slow uploads keep nobody out. Safe for concurrent use.
type slots struct {
	count int
	now   func() time.Time
	mu    sync.Mutex
	held  []*slot    // the oldest first
	queue []*waiting // who waits, in the order in which they came
}

// slot lets one docket be received.
type slot struct {
	submitter string
	begun     time.Time
	bytes     atomic.Int64 // that were read
	lost      atomic.Bool  // to a submitter that had none
}

// Uploads that have had newUpload and come below slowRate may lose their place to a submitter who has none.
const (
	newUpload = 10 * time.Second
	slowRate  = 1 << 20 // bytes a second
)

// rate is how fast an upload came so far; ok is false for one that is new.
func (own *slot) rate(now time.Time) (bytesPerSecond float64, ok bool) {
	age := now.Sub(own.begun)
	return float64(own.bytes.Load()) / age.Seconds(), age >= newUpload
}

type waiting struct {
	submitter string
	given     chan *slot
}

// maxWaiting is how many requests may wait, each with a connection.
const maxWaiting = 256

// Why a request got no slot, or lost it.
var (
	errBusy = errors.New("the server receives as many dockets as it takes at once")
	errOwn  = errors.New("the submitter sends as many dockets as one may at once")
	errLost = errors.New("the place was given to a submitter that had none")
)

func newSlots(count int, now func() time.Time) *slots { return &slots{count: count, now: now} }

// take waits for a slot until the context ends. The caller releases it with give.
func (s *slots) take(ctx context.Context, submitter string) (*slot, error) {
	s.mu.Lock()
	if len(s.queue) >= maxWaiting {
		s.mu.Unlock()
		return nil, errBusy
	}
	w := &waiting{submitter, make(chan *slot, 1)}
	s.queue = append(s.queue, w)
	s.hand()
	s.evict()
	s.mu.Unlock()
	select {
	case own := <-w.given:
		return own, nil
	case <-ctx.Done():
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.Index(s.queue, w)
	if i < 0 {
		return <-w.given, nil // it was given in the last moment
	}
	s.queue = slices.Delete(s.queue, i, i+1)
	if s.of(submitter) >= s.each() {
		return nil, errOwn
	}
	return nil, errBusy
}

// each is how many slots one submitter may have.
func (s *slots) each() int { return max(s.count-1, 1) }

// of is how many slots a submitter has.
func (s *slots) of(submitter string) int {
	n := 0
	for _, own := range s.held {
		if own.submitter == submitter {
			n++
		}
	}
	return n
}

// give releases a slot.
func (s *slots) give(own *slot) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held = slices.DeleteFunc(s.held, func(other *slot) bool { return other == own })
	s.hand()
}

// hand gives free slots to who waits.
func (s *slots) hand() {
	for {
		next := -1
		for i, w := range s.queue {
			if n := s.of(w.submitter); n < s.each() && (next < 0 || n < s.of(s.queue[next].submitter)) {
				next = i
			}
		}
		if len(s.held) >= s.count || next < 0 {
			return
		}
		w := s.queue[next]
		s.queue = slices.Delete(s.queue, next, next+1)
		own := &slot{submitter: w.submitter, begun: s.now()}
		s.held = append(s.held, own)
		w.given <- own
	}
}

// evict takes a slot for each submitter that waits and has none.
func (s *slots) evict() {
	without := map[string]bool{}
	for _, w := range s.queue {
		if s.of(w.submitter) == 0 {
			without[w.submitter] = true
		}
	}
	left := map[string]int{} // slots that are not lost yet
	leaving := 0
	for _, own := range s.held {
		if own.lost.Load() {
			leaving++
		} else {
			left[own.submitter]++
		}
	}
	for ; leaving < len(without); leaving++ {
		most := 1
		var loses *slot
		for _, own := range s.held {
			if n := left[own.submitter]; n > most && !own.lost.Load() {
				most, loses = n, own
			}
		}
		if loses == nil {
			loses = s.slowest()
		}
		if loses == nil {
			return
		}
		loses.lost.Store(true)
		left[loses.submitter]--
	}
}

// slowest is the slowest upload that may lose its place; nil where none may.
func (s *slots) slowest() (slowest *slot) {
	least, now := float64(slowRate), s.now()
	for _, own := range s.held {
		if rate, ok := own.rate(now); ok && rate < least && !own.lost.Load() {
			least, slowest = rate, own
		}
	}
	return slowest
}

// reading is a body that ends when its slot is lost. A client that sends nothing meets the deadline of reads before.
type reading struct {
	io.ReadCloser
	slot *slot
}

func (r *reading) Read(p []byte) (int, error) {
	if r.slot.lost.Load() {
		return 0, errLost
	}
	n, err := r.ReadCloser.Read(p)
	r.slot.bytes.Add(int64(n))
	return n, err
}
