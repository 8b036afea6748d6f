package work

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
)

// mostIdle is how many things stay open on a shelf that nobody uses: a swap opens a host beside those of dockets that are pinned.
const mostIdle = 4

// shelf keeps open what is costly to open. What nobody uses is closed but for those that were used last. It is safe for concurrent use.
type shelf[K comparable, V any] struct {
	openOne func(ctx context.Context, key K) (V, error)
	close   func(V) error

	mu     sync.Mutex
	items  map[K]*item[V]
	clock  int64
	closed bool
}

// item is open, or being opened.
type item[V any] struct {
	ready chan struct{} // closed when value or err is set
	value V
	err   error
	users int
	used  int64 // the shelf's clock when it was last used
}

var errClosed = errors.New("the worker is stopping")

// get gives what a key names, opened if need be. The caller calls release once.
func (s *shelf[K, V]) get(ctx context.Context, key K) (v V, release func(), err error) {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return v, nil, errClosed
	}
	i := s.items[key]
	opens := i == nil
	if opens {
		i = &item[V]{ready: make(chan struct{})}
		if s.items == nil {
			s.items = map[K]*item[V]{}
		}
		s.items[key] = i
	}
	i.users++
	s.mu.Unlock()
	if opens {
		i.value, i.err = s.openOne(ctx, key)
		close(i.ready)
	}
	release = func() { s.release(key, i) }
	select {
	case <-i.ready:
		err = i.err
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	if err != nil {
		release()
		return v, nil, err
	}
	return i.value, release, nil
}

// release gives an item back. One that could not be opened is forgotten, to be tried again.
func (s *shelf[K, V]) release(key K, i *item[V]) {
	s.mu.Lock()
	i.users--
	s.clock++
	i.used = s.clock
	if i.err != nil && s.items[key] == i {
		delete(s.items, key)
	}
	old := s.take(mostIdle, func(K) bool { return true })
	s.mu.Unlock()
	_ = s.closeAll(old) // what they leave in temporary folders is removed later
}

// take takes those that nobody uses, and that are asked for, off the shelf, until at most so many of them are left. The caller has the lock.
func (s *shelf[K, V]) take(most int, asked func(K) bool) (old []V) {
	keys := slices.DeleteFunc(slices.Collect(maps.Keys(s.items)), func(key K) bool { return s.items[key].users > 0 || !asked(key) })
	slices.SortFunc(keys, func(a, b K) int { return int(s.items[a].used - s.items[b].used) })
	for _, key := range keys[:max(len(keys)-most, 0)] {
		old = append(old, s.items[key].value)
		delete(s.items, key)
	}
	return old
}

func (s *shelf[K, V]) closeAll(list []V) (err error) {
	for _, v := range list {
		err = errors.Join(err, s.close(v))
	}
	return err
}

// keys are those of all that is open.
func (s *shelf[K, V]) keys() []K {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(maps.Keys(s.items))
}

// drop closes one that nobody uses.
func (s *shelf[K, V]) drop(key K) error {
	s.mu.Lock()
	old := s.take(0, func(k K) bool { return k == key })
	s.mu.Unlock()
	return s.closeAll(old)
}

// end closes those that nobody uses; there are no others when the worker has stopped.
func (s *shelf[K, V]) end() error {
	s.mu.Lock()
	s.closed = true
	old := s.take(0, func(K) bool { return true })
	s.mu.Unlock()
	return s.closeAll(old)
}
