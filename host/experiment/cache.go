package experiment

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/codec"
	"github.com/shadowcourt/shadowcourt/host/internal/turns"
	"github.com/shadowcourt/shadowcourt/internal/disk"
)

// resultForm names how results are found. It changes whenever the same experiment would have another result.
const resultForm = "experiment/7"

// key names a result by all that it depends on.
func (l *Lab) key(in *place, f *failure, e abi.Experiment) string {
	h := sha256.New()
	for _, part := range []string{
		resultForm, in.workspace.digest, in.needed.digest(), string(in.test), f.toolchain.String(), f.group, f.name, e.String(), f.toolchain.version(), strings.Join(f.toolchain.variables(), "\n"), fmt.Sprint(l.config.Network, l.config.Home, l.overlays), f.fingerprint, l.constantOf(f, e).digest(),
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
		if turns.Yield(ctx) { // to who makes it
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
	resultSuffix   = ".result"
	maxResultAge   = 24 * time.Hour
)

// CacheUse is what a folder of results holds.
type CacheUse struct {
	Results int
	Bytes   int64
}

// MeasureCache gives what a folder of results holds; nothing where there is none.
func MeasureCache(folder string) (CacheUse, error) {
	return overCache(folder, func(string) error { return nil })
}

// ClearCache removes all results, and says what they took.
func ClearCache(folder string) (CacheUse, error) { return overCache(folder, os.Remove) }

func overCache(folder string, do func(name string) error) (CacheUse, error) {
	var use CacheUse
	entries, err := os.ReadDir(folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return use, err
	}
	for _, entry := range entries {
		info, err := entry.Info()
		if err != nil || !info.Mode().IsRegular() || filepath.Ext(entry.Name()) != resultSuffix {
			continue
		}
		if err := do(filepath.Join(folder, entry.Name())); err != nil {
			return use, err
		}
		use.Results++
		use.Bytes += info.Size()
	}
	return use, nil
}

// cache is a folder of results. What can't be read or written there is made again.
type cache struct {
	folder string
	now    func() time.Time
	mu     sync.Mutex
}

// newCache gives the cache of a Lab. Where tests see the user's home, results depend on what is there, and none is kept.
func newCache(c Config) *cache {
	if c.Home {
		c.CacheDir = ""
	}
	return &cache{folder: c.CacheDir, now: c.Now}
}

// read gives the result of a key. Files that are cut, old or about another experiment are not there.
func (c *cache) read(key string, e abi.Experiment) (abi.ExperimentResult, bool) {
	if c.folder == "" {
		return abi.ExperimentResult{}, false
	}
	name := filepath.Join(c.folder, key+resultSuffix)
	info, err := os.Lstat(name)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxResultBytes || c.now().Sub(info.ModTime()) > maxResultAge {
		return abi.ExperimentResult{}, false
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return abi.ExperimentResult{}, false
	}
	r, err := codec.DecodeExperimentResult(data, maxResultBytes)
	if err != nil || r.Experiment != e || r.Outcome == abi.OutcomeNotRun || len(r.Detail) > maxDetailBytes || r.Passed+r.Same+r.Other > e.Runs {
		return abi.ExperimentResult{}, false
	}
	return r, true
}

func (c *cache) write(key string, r *abi.ExperimentResult) {
	if c.folder == "" || r.Outcome == abi.OutcomeNotRun {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if os.MkdirAll(c.folder, 0o700) != nil {
		return
	}
	c.prune()
	f, err := disk.Stage(filepath.Join(c.folder, key+resultSuffix), codec.AppendExperimentResult(nil, r), 0o600)
	if err != nil {
		return
	}
	if f.Commit() != nil {
		f.Discard()
	}
}

// prune removes the oldest quarter of the results when there are too many.
func (c *cache) prune() {
	names, err := filepath.Glob(filepath.Join(c.folder, "*"+resultSuffix))
	if err != nil || len(names) < maxResults {
		return
	}
	ages := map[string]time.Time{}
	for _, name := range names {
		if info, err := os.Lstat(name); err == nil {
			ages[name] = info.ModTime()
		}
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(ages[a].Compare(ages[b]), cmp.Compare(a, b)) })
	for _, name := range names[:len(names)/4] {
		if err := os.Remove(name); err != nil && !errors.Is(err, os.ErrNotExist) {
			return
		}
	}
}
