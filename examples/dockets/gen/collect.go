package main

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// failure is a kept run: its stream is in the file named Stream beside it.
type failure struct {
	Module  string `json:"module"`
	Version string `json:"version"`
	Cause   string `json:"cause"`
	Kind    string `json:"kind"`
	Note    string `json:"note"`
	Stream  string `json:"stream"`
}

// collect runs every module under every cause and keeps the streams of the runs that failed.
func collect(ctx context.Context, c config, log io.Writer) error {
	root, err := os.MkdirTemp("", "gen-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(root)
	if err := os.Chmod(root, 0o755); err != nil { //nolint:gosec // an unprivileged user reads below it
		return err
	}
	if err := os.MkdirAll(c.raw, 0o755); err != nil {
		return err
	}
	defer removeGroups()
	var running sync.WaitGroup
	slots := make(chan struct{}, max(1, c.jobs))
	for _, m := range modules() {
		if !strings.Contains(m.path, c.only) {
			continue
		}
		slots <- struct{}{}
		running.Go(func() {
			defer func() { <-slots }()
			if err := collectModule(ctx, c, m, root, log); err != nil && ctx.Err() == nil {
				fmt.Fprintf(log, "gen: %s@%s is left out: %v\n", m.path, m.version, err)
			}
		})
	}
	running.Wait()
	return ctx.Err()
}

// collector is the work on one module.
type collector struct {
	config
	*checkout
	rng    *rand.Rand
	order  int // the order of the tests in which all pass; 0 is that of the source
	source map[string]sites
	log    io.Writer
	kept   int // of the cause at hand
}

func collectModule(ctx context.Context, c config, m module, root string, log io.Writer) error {
	dir := filepath.Join(root, fmt.Sprintf("%08x", hash(m.path)))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	tree, err := newCheckout(ctx, m, dir)
	if err != nil {
		return err
	}
	w := &collector{config: c, checkout: tree, log: log}
	if err := w.findOrder(ctx); err != nil {
		return err
	}
	if err := w.findUnsteady(ctx); err != nil {
		return err
	}
	if err := w.findSources(); err != nil {
		return err
	}
	for _, cause := range []string{productBug, automationBug, systemIssue, noDefect} {
		w.kept = 0
		w.rng = rand.New(rand.NewPCG(c.seed, uint64(hash(m.path+cause)))) //nolint:gosec // chosen, not secret
		if err := w.collectCause(ctx, cause); err != nil {
			return err
		}
		fmt.Fprintf(log, "gen: %s %s: %d failing runs\n", m.path, cause, w.kept)
	}
	return nil
}

func hash(s string) uint32 {
	h := fnv.New32a()
	_, _ = h.Write([]byte(s))
	return h.Sum32()
}

// findOrder looks for an order of the tests in which the module passes as it is.
func (w *collector) findOrder(ctx context.Context) error {
	var last string
	for _, w.order = range []int{1, 2, 3, 4, 5, 6, 7, 8, 0} {
		out, err := w.test(ctx, plan{shuffle: w.order})
		if err != nil {
			return err
		}
		if !out.failed && out.stream != "" {
			return nil
		}
		last = out.stream
	}
	return fmt.Errorf("its tests fail on this machine without any fault: %.300s", last)
}

func (w *collector) findSources() error {
	folders := []string{"."}
	if len(w.module.packages) > 0 {
		var err error
		if folders, err = goFolders(w.checkout.source()); err != nil {
			return err
		}
	}
	w.source = map[string]sites{}
	for cause, find := range map[string]func(*source){productBug: defects, automationBug: defects, noDefect: flakes} {
		found, err := findSites(w.checkout.source(), folders, cause != productBug, find)
		if err != nil {
			return err
		}
		w.source[cause] = found
	}
	found, err := fixtures(w.checkout.source())
	maps.Copy(w.source[automationBug], found)
	return err
}

// goFolders are the folders of root that hold Go files, relative to it.
func goFolders(root string) ([]string, error) {
	seen := map[string]bool{}
	var folders []string
	err := filepath.WalkDir(root, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.Contains(path, "testdata") {
			return err
		}
		rel, err := filepath.Rel(root, filepath.Dir(path))
		if err == nil && !seen[rel] {
			seen[rel] = true
			folders = append(folders, rel)
		}
		return err
	})
	return folders, err
}

// collectCause tries faults of a cause until enough runs have failed.
func (w *collector) collectCause(ctx context.Context, cause string) error {
	candidates := w.candidates(cause)
	wanted, attempts := w.quota, w.attempt
	if cause == systemIssue { // few modules meet most of these faults
		wanted, attempts = 2*w.quota, len(environmentFaults())
	}
	for range attempts {
		if w.kept >= wanted || ctx.Err() != nil {
			return ctx.Err()
		}
		p, undo, ok, err := candidates()
		if err != nil {
			return err
		}
		if !ok {
			return nil
		}
		out, err := w.test(ctx, p)
		if undoErr := undo(); undoErr != nil {
			return undoErr
		}
		if err != nil {
			return err
		}
		if out.cannot != "" {
			fmt.Fprintf(w.log, "gen: this machine can't make a fault: %s\n", out.cannot)
			continue
		}
		if out.failed {
			if err := w.keep(p, out.stream); err != nil {
				return err
			}
		}
	}
	return nil
}

// candidates gives the faults of a cause one after the other, each ready to be run, and what undoes it.
func (w *collector) candidates(cause string) func() (plan, func() error, bool, error) {
	nothing := func() error { return nil }
	mutate := func() (plan, func() error, bool, error) {
		s, ok := w.source[cause].pick(w.rng)
		if !ok {
			return plan{}, nothing, false, nil
		}
		undo, err := s.apply(w.checkout.source())
		return plan{cause: cause, kind: s.operator, note: s.String(), shuffle: w.order}, undo, true, err
	}
	var launches []plan
	switch cause {
	case systemIssue:
		for _, fault := range environmentFaults() {
			launches = append(launches, plan{cause: cause, kind: fault, launch: fault, shuffle: w.order})
		}
		w.rng.Shuffle(len(launches), func(i, j int) { launches[i], launches[j] = launches[j], launches[i] })
	case noDefect:
		launches = append(launches, plan{cause: cause, kind: starved, launch: starved, shuffle: w.order})
		for range 2 {
			order := 100 + w.rng.IntN(900)
			launches = append(launches, plan{cause: cause, kind: "order", shuffle: order})
		}
	}
	return func() (plan, func() error, bool, error) {
		if len(launches) == 0 {
			return mutate()
		}
		p := launches[0]
		launches = launches[1:]
		return p, nothing, true, nil
	}
}

// keep writes a failing run's stream and what is known of it.
func (w *collector) keep(p plan, stream string) error {
	w.kept++
	name := fmt.Sprintf("%s-%s-%d", fileName(w.module.path), p.cause, w.kept)
	kept := failure{
		Module: w.module.path, Version: w.module.version, Cause: p.cause, Kind: p.kind, Note: p.note,
		Stream: name + ".gotest.json",
	}
	about, err := json.MarshalIndent(kept, "", "  ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(w.raw, kept.Stream), []byte(stream), 0o644); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(w.raw, name+".meta.json"), about, 0o644)
}
