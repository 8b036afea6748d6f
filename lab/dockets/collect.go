package main

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/shadowcourt/shadowcourt/host/lab/internal/mutate"
)

// harvest is what the modules gave.
type harvest struct {
	cases []labelled
	tally tally
	left  []string // modules that are of no use, with the reason
}

// collect runs every module under every cause.
func collect(ctx context.Context, c config, stderr io.Writer) (*harvest, error) {
	if err := os.MkdirAll(c.work, 0o755); err != nil {
		return nil, err
	}
	if err := os.Chmod(c.work, 0o755); err != nil { //nolint:gosec // an unprivileged user reads below it
		return nil, err
	}
	host, err := newMachine(ctx, c.work)
	if err != nil {
		return nil, err
	}
	all := modules()
	began, done := time.Now(), 0
	h := &harvest{tally: tally{}}
	var mu sync.Mutex
	var running sync.WaitGroup
	slots := make(chan struct{}, max(1, c.jobs))
	for _, m := range all {
		slots <- struct{}{}
		running.Go(func() {
			defer func() { <-slots }()
			if ctx.Err() != nil {
				return
			}
			w := &collector{config: c, module: m, host: host, tally: tally{}, silent: map[string]bool{}}
			w.runs = filepath.Join(c.work, "runs")
			err := w.collect(ctx)
			mu.Lock()
			defer mu.Unlock()
			if err != nil && ctx.Err() == nil {
				h.left = append(h.left, fmt.Sprintf("%s@%s: %v", m.path, m.version, err))
			}
			h.cases = append(h.cases, w.cases...)
			h.tally.add(w.tally)
			done++
			fmt.Fprintf(stderr, "dockets: %s %d of %d modules, %d cases; %s gave %d\n", time.Since(began).Round(time.Second), done, len(all), len(h.cases), m.path, len(w.cases))
		})
	}
	running.Wait()
	slices.SortStableFunc(h.cases, func(a, b labelled) int { return strings.Compare(a.module.path, b.module.path) })
	slices.Sort(h.left)
	return h, ctx.Err()
}

// collector is the work on one module.
type collector struct {
	config
	module  module
	host    *machine
	runs    string // folder of what was run already
	tally   tally
	tree    *checkout
	base    baseline
	covered map[string][]mutate.LineRange
	silent  map[string]bool // faults of the environment that failed no test
	cases   []labelled
}

func (w *collector) collect(ctx context.Context) (err error) {
	w.tree, err = newCheckout(ctx, w.host, w.module, filepath.Join(w.work, fmt.Sprintf("%08x", hash(w.module.path))))
	if err != nil {
		return err
	}
	defer os.RemoveAll(w.tree.root)
	key := condition{Order: wantedOrders, Procs: usualProcs}
	if w.base, err = recall(w.runs, w.module.name(), key, func() (baseline, error) { return w.tree.findBaseline(ctx) }); err != nil {
		return err
	}
	if w.base.Problems != "" {
		return errors.New(w.base.Problems)
	}
	w.covered, err = recall(w.runs, w.module.name(), "coverage", func() (map[string][]mutate.LineRange, error) { return w.tree.coverage(ctx) })
	if err != nil {
		return err
	}
	for _, cause := range causes() {
		if err := w.collectCause(ctx, cause); err != nil {
			return err
		}
	}
	return nil
}

func hash(s string) uint32 {
	h := fnv.New32a()
	_, _ = h.Write([]byte(s))
	return h.Sum32()
}

// How many cases are wanted of each module and cause, and how many faults are tried for them at most.
const (
	quota        = 8
	mostAttempts = 48
)

// collectCause tries faults of a cause until there are cases enough.
func (w *collector) collectCause(ctx context.Context, cause string) error {
	rng := rand.New(rand.NewPCG(w.seed, uint64(hash(w.module.path+cause)))) //nolint:gosec // chosen, not secret
	next, err := w.faults(cause, rng)
	if err != nil {
		return err
	}
	kept, wanted := 0, quota
	if cause == systemIssue {
		wanted *= 2 // some modules meet hardly any of these faults, the others stand in for them
	}
	seen := map[string]bool{}
	for tried := 0; kept < wanted && tried < mostAttempts; tried++ {
		f, ok, err := next(ctx)
		if err != nil {
			return err
		}
		if !ok {
			break
		}
		a, err := w.once(ctx, f)
		if err != nil {
			return err
		}
		if a.Fault.Site == nil && len(a.Cases) == 0 {
			w.silent[f.Condition.Fault] = true
		}
		got := w.keep(&a, rng, seen)
		w.tally.count(a, got)
		kept += got
	}
	return nil
}

// once tries a fault, if that was not done before.
func (w *collector) once(ctx context.Context, f fault) (attempt, error) {
	return recall(w.runs, w.module.name(), f, func() (attempt, error) {
		if err := w.ready(ctx); err != nil {
			return attempt{}, err
		}
		return w.tree.try(ctx, f, func(test string) bool { return !w.base.unsteady(test) })
	})
}

// ready builds the untouched tests, if that was not done yet.
func (w *collector) ready(ctx context.Context) error {
	if _, err := os.Stat(w.tree.bin(pristine)); err == nil {
		return nil
	}
	_, err := w.tree.build(ctx, pristine)
	return err
}

// The most cases that one fault gives: a mutant gives one, a broken environment, of which there are fewer, some.
const (
	casesOfMutant      = 1
	casesOfEnvironment = 4
)

// keptOfAttempt is how many failing tests of an attempt are kept to choose from.
const keptOfAttempt = 16

func casesOf(a *attempt) int {
	if a.Fault.Site == nil {
		return casesOfEnvironment
	}
	return casesOfMutant
}

// keep keeps the failing tests of an attempt, those first that no earlier one has, and says how many cases it may give.
func (w *collector) keep(a *attempt, rng *rand.Rand, seen map[string]bool) int {
	rng.Shuffle(len(a.Cases), func(i, j int) { a.Cases[i], a.Cases[j] = a.Cases[j], a.Cases[i] })
	slices.SortStableFunc(a.Cases, func(x, y found) int { return turn(seen[x.Test]) - turn(seen[y.Test]) })
	got := 0
	for _, f := range a.Cases[:min(len(a.Cases), keptOfAttempt)] {
		log, _ := a.Runs[f.Run].log(f.Test)
		key := likeness(w.module.pkg(), log)
		if seen[key] {
			continue
		}
		w.cases = append(w.cases, labelled{module: w.module, attempt: a, found: f, base: &w.base})
		if got < casesOf(a) {
			seen[key], seen[f.Test] = true, true
			got++
		}
	}
	return got
}

func turn(later bool) int {
	if later {
		return 1
	}
	return 0
}

// isInnocent says whether the untouched tests pass each time where this is wrong with the environment.
func (w *collector) isInnocent(ctx context.Context, in condition) (bool, error) {
	type key struct {
		Innocent condition `json:"innocent"`
	}
	return recall(w.runs, w.module.name(), key{in}, func() (bool, error) { return w.staysGreen(ctx, in) })
}

func (w *collector) staysGreen(ctx context.Context, in condition) (bool, error) {
	if err := w.ready(ctx); err != nil {
		return false, err
	}
	for range runsOfOrder {
		r, err := w.tree.run(ctx, pristine, in)
		if err != nil || !passes(r) {
			return false, err
		}
	}
	return true, nil
}
