package experiment

import (
	"context"
	"sync"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/experiment/isolate"
)

// recording is a run of tests of Go: what all of them showed, and not only the one that it was made for.
type recording struct {
	result *isolate.Result
	stream []byte // of go test -json
	lacks  string // see testRun
}

// recordings are runs in one tree. Failures of one top-level test, and those of one package where all its tests are run, share them: the n-th run of
// a failure in a cell is the n-th that was made there, whoever it was made for.
type recordings struct {
	mu   sync.Mutex
	made map[cell][]*slot
	used map[use]int
	size int // bytes of the streams
}

// cell is what a run depends on beside its tree.
type cell struct {
	tests       string
	environment abi.RunEnvironment
	order       abi.RunOrder
}

type use struct {
	cell
	failure string
}

// slot is a run that is made by whoever took the slot first.
type slot struct {
	done chan struct{} // closed when it was made
	run  *recording    // nil where nobody else can use it
}

// mostRecorded bounds the bytes that are kept of a tree.
const mostRecorded = 32 << 20

// next is the number of the next run of a failure in a cell.
func (r *recordings) next(c cell, failure string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.used == nil {
		r.used, r.made = map[use]int{}, map[cell][]*slot{}
	}
	n := r.used[use{c, failure}]
	r.used[use{c, failure}]++
	return n
}

// has says whether a run was begun.
func (r *recordings) has(c cell, n int) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return n < len(r.made[c])
}

// take gives a run that was made, after the end of it; or nil with a function that is to be called with the run that the caller makes.
func (r *recordings) take(ctx context.Context, c cell, n int) (*recording, func(*recording)) {
	r.mu.Lock()
	if n < len(r.made[c]) {
		s := r.made[c][n]
		r.mu.Unlock()
		select {
		case <-s.done:
			return s.run, func(*recording) {}
		case <-ctx.Done():
			return nil, func(*recording) {}
		}
	}
	defer r.mu.Unlock()
	s := &slot{done: make(chan struct{})}
	r.made[c] = append(r.made[c], s)
	return nil, func(run *recording) {
		defer close(s.done)
		if run == nil || run.result.Ending != isolate.Exited && run.result.Ending != isolate.Signaled {
			return // its limits were those of one test
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.size += len(run.stream); r.size <= mostRecorded {
			s.run = run
		}
	}
}
