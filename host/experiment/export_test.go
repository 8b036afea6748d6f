package experiment

import (
	"time"

	"github.com/shadowcourt/shadowcourt/abi"
)

const group = "example.com/shop/cart"

func document(log string) []abi.Document { return []abi.Document{{Name: "log", Text: log}} }

// tallyOf begins to count runs of head, or of the base, for a failure with a log.
func tallyOf(log string, product abi.TreeRevision, known *varying) *tally {
	look := func(d []abi.Document) looks { return looksOf(group, d, nil, "/tree") }
	e := abi.Experiment{Product: product, Tests: product, Environment: abi.OriginalEnvironment, Order: abi.Alone, Runs: 15}
	return &tally{result: abi.ExperimentResult{Experiment: e}, looks: look(document(log)), look: look, varying: known, logs: func(string) bool { return false }}
}

// Rerun says how many reruns of head, by their logs, fail as a case did. before are those of a first step.
func Rerun(log string, before []string, runs ...string) (same int) {
	t := tallyOf(log, abi.Head, &varying{})
	for _, step := range [][]string{before, runs} {
		t = tallyOf(log, abi.Head, t.varying)
		for _, run := range step {
			t.failed(document(run), false, false)
		}
		t.compare()
	}
	return t.result.Same
}

// Differs says in what a failure of the base, by its log, differs from that of a case; empty for the same. reruns are those of head.
func Differs(log, base string, reruns ...string) string {
	head := tallyOf(log, abi.Head, &varying{})
	for _, run := range reruns {
		head.failed(document(run), false, false)
	}
	head.compare()
	t := tallyOf(log, abi.Base, head.varying)
	l := t.look(document(base))
	return t.differs(&l)
}

// Loosely says whether a failure at another commit is that of a case.
func Loosely(log, run string) bool {
	t := tallyOf(log, abi.Head, &varying{})
	l := t.look(document(run))
	t.looks, l, t.loose = t.looks.loose(), l.loose(), true
	return t.differs(&l) == ""
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
