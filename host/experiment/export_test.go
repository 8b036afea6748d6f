package experiment

import (
	"time"

	"github.com/shadowcourt/shadowcourt/abi"
)

// Same says whether two logs of a test in package example.com/shop/cart are of the same failure.
func Same(a, b string) bool {
	look := func(log string) looks {
		return looksOf("example.com/shop/cart", []abi.Document{{Name: "log", Text: log}})
	}
	return look(a).same(look(b)) && look(b).same(look(a))
}

// Rerun says how many reruns of head, by their logs, fail as a case did.
func Rerun(log string, runs ...string) (same int) {
	const group = "example.com/shop/cart"
	document := func(log string) []abi.Document { return []abi.Document{{Name: "log", Text: log}} }
	rerun := abi.Experiment{Product: abi.Head, Tests: abi.Head, Environment: abi.OriginalEnvironment, Order: abi.Alone, Runs: len(runs)}
	t := tally{result: abi.ExperimentResult{Experiment: rerun}, looks: looksOf(group, document(log)), runs: len(runs)}
	for _, run := range runs {
		t.failed(&failure{group: group}, document(run))
	}
	t.compare()
	return t.result.Same
}

// Later says how many reruns of head fail as a case did, after others that had something in common.
func Later(log string, before []string, runs ...string) (same int) {
	const group = "example.com/shop/cart"
	document := func(log string) []abi.Document { return []abi.Document{{Name: "log", Text: log}} }
	var earlier []looks
	for _, b := range before {
		earlier = append(earlier, looksOf(group, document(b)))
	}
	constant := common(earlier)
	step := abi.Experiment{Product: abi.Head, Tests: abi.Head, Environment: abi.OriginalEnvironment, Order: abi.Alone, Runs: 15}
	t := tally{result: abi.ExperimentResult{Experiment: step}, looks: looksOf(group, document(log)), runs: len(runs), constant: &constant}
	for _, run := range runs {
		t.failed(&failure{group: group}, document(run))
	}
	t.compare()
	return t.result.Same
}

// Flags are those that the failure of a log needs.
func Flags(log string) []string { return flagsOf([]abi.Document{{Text: log}}) }

// WithoutOverlays has tests write to their trees.
func (l *Lab) WithoutOverlays() { l.overlays = false }

// ReadCached reads a file of the folder of results.
func ReadCached(folder, name string, e abi.Experiment, now time.Time) bool {
	c, err := newCache(Config{CacheDir: folder, Now: func() time.Time { return now }})
	_, ok := c.read(name, e)
	return err == nil && ok
}

// WriteCached writes one.
func WriteCached(folder, name string, r *abi.ExperimentResult) {
	if c, err := newCache(Config{CacheDir: folder, Now: time.Now}); err == nil {
		c.write(name, r)
	}
}

// Bounds of the folder of results.
const (
	MaxResultAge = maxResultAge
)

// NextRun is when the next run of a step begins.
var NextRun = nextRun

// FirstLines bounds a detail.
func FirstLines(text string) string { return firstLines(text) }
