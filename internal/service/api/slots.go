package api

import (
	"cmp"
	"context"
	"errors"
	"io"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// slots bound how many dockets are received at once. Who finds none waits: the submitter that has the fewest is next, of those who have as
// many the one that got its last one longest ago, and then who came first. Of several slots one is never a submitter's that has all others.
// Who has none and finds all taken takes the oldest one of a submitter that has several, or the slowest that is no longer new, so that slow
// uploads keep nobody out. Safe for concurrent use.
type slots struct {
	count int
	now   func() time.Time
	mu    sync.Mutex
	held  []*slot    // the oldest first
	queue []*waiting // who waits, in the order in which they came
	// turns counts the slots that were given, and last has the turn of each submitter's last one, while the submitter has a slot or waits.
	// Without them a slot that was lost would go to the next request of the submitter that lost it, if that came first.
	turns int
	last  map[string]int
}

// slot lets one docket be received.
type slot struct {
	submitter string
	begun     time.Time
	bytes     atomic.Int64 // that were read
	lost      atomic.Bool  // to a submitter that had none
	stop      func()       // ends a read that waits for the client
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
	stop      func()
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

func newSlots(count int, now func() time.Time) *slots {
	return &slots{count: count, now: now, last: map[string]int{}}
}

// lookPause is between two looks of who waits whether uploads are no longer new.
const lookPause = time.Second

// take waits for a slot until the context ends. The caller releases it with give. When the slot is lost, stop is called.
func (s *slots) take(ctx context.Context, submitter string, stop func()) (*slot, error) {
	s.mu.Lock()
	if len(s.queue) >= maxWaiting {
		s.mu.Unlock()
		return nil, errBusy
	}
	w := &waiting{submitter, stop, make(chan *slot, 1)}
	s.queue = append(s.queue, w)
	s.hand()
	s.evict()
	s.mu.Unlock()
	look := time.NewTicker(lookPause)
	defer look.Stop()
	for ctx.Err() == nil {
		select {
		case own := <-w.given:
			return own, nil
		case <-look.C:
			s.mu.Lock()
			s.evict()
			s.mu.Unlock()
		case <-ctx.Done():
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.Index(s.queue, w)
	if i < 0 {
		return <-w.given, nil // it was given in the last moment
	}
	s.queue = slices.Delete(s.queue, i, i+1)
	s.forget(submitter)
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
	s.forget(own.submitter)
}

// forget drops what is known of a submitter that neither has a slot nor waits.
func (s *slots) forget(submitter string) {
	if s.of(submitter) == 0 && !slices.ContainsFunc(s.queue, func(w *waiting) bool { return w.submitter == submitter }) {
		delete(s.last, submitter)
	}
}

// hand gives free slots to who waits.
func (s *slots) hand() {
	for {
		next := -1
		for i, w := range s.queue {
			if s.of(w.submitter) < s.each() && (next < 0 || s.before(w.submitter, s.queue[next].submitter)) {
				next = i
			}
		}
		if len(s.held) >= s.count || next < 0 {
			return
		}
		w := s.queue[next]
		s.queue = slices.Delete(s.queue, next, next+1)
		own := &slot{submitter: w.submitter, begun: s.now(), stop: w.stop}
		s.held = append(s.held, own)
		s.turns++
		s.last[w.submitter] = s.turns
		w.given <- own
	}
}

// before says whether a submitter gets a slot before another one who came first.
func (s *slots) before(submitter, other string) bool {
	return cmp.Or(cmp.Compare(s.of(submitter), s.of(other)), cmp.Compare(s.last[submitter], s.last[other])) < 0
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
		loses.stop()
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

// reading is a body that ends when its slot is lost.
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
	if err != nil && !errors.Is(err, io.EOF) && r.slot.lost.Load() {
		err = errLost // it was stopped
	}
	return n, err
}
