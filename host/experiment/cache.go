package experiment

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/codec"
	"github.com/shadowcourt/shadowcourt/host/experiment/plan"
	"github.com/shadowcourt/shadowcourt/internal/disk"
)

// resultForm names how results are found. It changes whenever the same experiment would have another result.
const resultForm = "experiment/10"

// key names a result by all that it depends on.
func (l *Lab) key(in *place, f *failure, e abi.Experiment) string {
	h := sha256.New()
	for _, part := range []string{
		resultForm, in.workspace.digest, in.needed.digest(), string(in.test), f.toolchain.about().name, f.group, f.name, e.String(), f.toolchain.about().version, strings.Join(f.toolchain.about().variables, "\n"), fmt.Sprint(l.config.Network, l.config.Home, l.overlays), f.fingerprint, l.constantOf(f, e).digest(),
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
		if plan.Yield(ctx) { // to who makes it
			continue
		}
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
	if c.Home {
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
