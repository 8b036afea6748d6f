package experiment

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/codec"
	"github.com/shadowcourt/shadowcourt/host/experiment/isolate"
	"github.com/shadowcourt/shadowcourt/internal/disk"
)

// resultForm names how results are found. It changes whenever the same experiment would have another result.
const resultForm = "experiment/16"

// key names a result by all that it depends on.
func (l *Lab) key(in *place, f *failure, e abi.Experiment) string {
	h, variables := sha256.New(), slices.Sorted(slices.Values(slices.Concat(f.toolchain.about().variables, f.named))) // shells reorder them
	for _, part := range []string{
		resultForm, in.workspace.digest, in.workspace.name, in.needed.digest(), string(in.test), f.toolchain.about().name, f.group, f.name, e.String(), f.toolchain.about().version, strings.Join(variables, "\n"), fmt.Sprint(l.config.Network, l.config.Home, l.config.Native, l.overlays, runtime.NumCPU(), l.config.Left), f.fingerprint, l.varyingOf(f, e).digest(),
	} {
		fmt.Fprintf(h, "%d %s\x00", len(part), part)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// shared are the results of this Lab by their keys. Who asks for one that is being made waits for it.
type shared struct {
	mu      sync.Mutex
	results map[string]abi.ExperimentResult
	making  map[string]chan struct{}
}

// do gives a result, or makes it. One that is not final is not kept.
func (s *shared) do(ctx context.Context, key string, do func() (r abi.ExperimentResult, final bool, err error)) (abi.ExperimentResult, error) {
	for {
		s.mu.Lock()
		if r, ok := s.results[key]; ok {
			s.mu.Unlock()
			return r, nil
		}
		other := s.making[key]
		if other == nil {
			if s.making == nil {
				s.making, s.results = map[string]chan struct{}{}, map[string]abi.ExperimentResult{}
			}
			s.making[key] = make(chan struct{})
			s.mu.Unlock()
			break
		}
		s.mu.Unlock()
		select {
		case <-other:
		case <-ctx.Done():
			return abi.ExperimentResult{}, ctx.Err()
		}
	}
	r, final, err := do()
	s.mu.Lock()
	defer s.mu.Unlock()
	if final && err == nil {
		s.results[key] = r
	}
	close(s.making[key])
	delete(s.making, key)
	return r, err
}

// The bounds of the folder of results, and how long one counts: what surrounds the tests changes.
const (
	maxResults     = 4096
	maxResultBytes = 8 << 10
	maxResultAge   = 24 * time.Hour
)

// cache keeps results for later runs. What can't be read or written there is made again.
type cache struct {
	disk.Cache

	now func() time.Time
}

// newCache gives the cache of a Lab. Where tests see the user's home, results depend on what is there, and none is kept.
func newCache(c Config) (*cache, error) {
	if c.Home || c.Native {
		c.CacheDir = ""
	}
	kept, err := disk.OpenCache(c.CacheDir, disk.CacheLimits{Files: maxResults, Bytes: maxResultBytes, Age: maxResultAge})
	return &cache{kept, c.Now}, err
}

// read gives the result of a key, unless it is about another experiment.
func (c *cache) read(key string, e abi.Experiment) (abi.ExperimentResult, bool) {
	data, ok := c.Get(key, c.now())
	if !ok {
		return abi.ExperimentResult{}, false
	}
	r, err := codec.DecodeExperimentResult(data, maxResultBytes)
	if err != nil || r.Experiment != e || r.Outcome == abi.OutcomeNotRun || len(r.Detail) > maxDetailBytes || r.Passed+r.Same+r.Other > e.Runs {
		return abi.ExperimentResult{}, false
	}
	return r, true
}

func (c *cache) write(key string, r *abi.ExperimentResult) {
	if r.Outcome != abi.OutcomeNotRun {
		c.Put(key, codec.AppendExperimentResult(nil, r))
	}
}

// recording is a run of several tests: what all of them showed, and not only the one that it was made for.
type recording struct {
	result *isolate.Result
	stream []byte // of go test -json, or reports
	lacks  string // see testRun
	loaded loaded
}

// recordings are runs in one tree. Failures of one top-level test of Go, and those of one package or command where all its tests are run, share them: the n-th run of
// a failure in a cell is the n-th that was made there, whoever it was made for.
type recordings struct {
	mu   sync.Mutex
	made map[cell][]*slot
	used map[use]int
	size int // bytes of the streams and outputs
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
		if r.size += len(run.stream) + len(run.result.Output); r.size <= mostRecorded {
			s.run = run
		}
	}
}
