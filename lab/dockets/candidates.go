package main

import (
	"context"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/shadowcourt/shadowcourt/host/lab/internal/launch"
	"github.com/shadowcourt/shadowcourt/host/lab/internal/mutate"
)

// innocence is how often the environment of a run has a fault that has nothing to do with the failure.
const innocence = 0.35

// faults gives the faults of a cause one after the other.
func (w *collector) faults(cause string, rng *rand.Rand) (next func(context.Context) (fault, bool, error), err error) {
	var first []fault
	switch cause {
	case systemIssue:
		given := listed(w.environments(rng))
		return func(context.Context) (fault, bool, error) {
			f, ok := given()
			for ok && w.silent[f.Condition.Fault] {
				f, ok = given()
			}
			return f, ok, nil
		}, nil
	case noDefect:
		for _, kind := range []string{launch.Starved, otherOrder, otherOrder} {
			in := condition{Order: w.base.Orders[rng.IntN(len(w.base.Orders))], Procs: usualProcs}
			if kind == launch.Starved {
				in.Fault = launch.Starved
			}
			first = append(first, fault{Cause: cause, Kind: kind, Condition: in})
		}
	}
	sites, err := w.sites(cause)
	if err != nil {
		return nil, err
	}
	given := listed(first)
	return func(ctx context.Context) (fault, bool, error) {
		if f, ok := given(); ok {
			return f, true, nil
		}
		s, ok := sites.Pick(rng, func(operator string) float64 { return w.tally.of(cause, operator).promise() })
		in, err := w.condition(ctx, rng)
		return fault{Cause: cause, Kind: s.Operator, Site: &s, Condition: in}, ok, err
	}, nil
}

func listed(all []fault) func() (fault, bool) {
	return func() (f fault, ok bool) {
		if len(all) == 0 {
			return f, false
		}
		f, all = all[0], all[1:]
		return f, true
	}
}

// environments are all faults of the environment, in one order of the tests after the other.
func (w *collector) environments(rng *rand.Rand) []fault {
	var all []fault
	for i := range w.base.Orders {
		kinds := launch.Faults()
		rng.Shuffle(len(kinds), func(i, j int) { kinds[i], kinds[j] = kinds[j], kinds[i] })
		for _, name := range kinds {
			kind, _, _ := strings.Cut(name, ":")
			in := condition{Fault: name, Order: w.base.Orders[i], Procs: usualProcs}
			all = append(all, fault{Cause: systemIssue, Kind: kind, Condition: in})
		}
	}
	return all
}

// condition draws where a mutant runs: in an order in which the untouched tests pass, and now and then where something is
// wrong that they don't mind.
func (w *collector) condition(ctx context.Context, rng *rand.Rand) (condition, error) {
	in := condition{Order: w.base.Orders[rng.IntN(len(w.base.Orders))], Procs: usualProcs}
	amiss := rng.Float64() < innocence
	kinds := launch.Faults()
	rng.Shuffle(len(kinds), func(i, j int) { kinds[i], kinds[j] = kinds[j], kinds[i] })
	for _, kind := range kinds[:3] {
		if !amiss {
			break
		}
		broken := condition{Fault: kind, Order: w.base.Orders[0], Procs: usualProcs}
		if passed, err := w.isInnocent(ctx, broken); err != nil || passed {
			return broken, err
		}
	}
	return in, nil
}

func (w *collector) sites(cause string) (mutate.Sites, error) {
	folder := w.tree.folder()
	switch cause {
	case productBug:
		found, err := mutate.Find(folder, w.tree.files.product, mutate.Defects)
		return found.Within(w.covered), err
	case noDefect:
		return mutate.Find(folder, w.tree.files.tests, mutate.Flakes)
	default:
		found, err := mutate.Find(folder, w.tree.files.tests, mutate.Defects)
		if err != nil {
			return nil, err
		}
		data, err := mutate.Fixtures(folder)
		maps.Copy(found, data)
		return found, err
	}
}

// tally counts by cause and kind what was tried and what came of it.
type tally map[string]*tried

type tried struct {
	faults, broken, silent, cases int
	outside                       int // runs that ended before or outside of any test
	cannot                        []string
}

// promise is how likely the next fault of the kind gives a case, as far as is known.
func (t *tried) promise() float64 { return float64(1+t.cases) / float64(1+t.faults) }

func (t tally) of(cause, kind string) *tried {
	key := cause + " " + kind
	if t[key] == nil {
		t[key] = &tried{}
	}
	return t[key]
}

func (t tally) count(a attempt, cases int) {
	n := t.of(a.Fault.Cause, a.Fault.Kind)
	n.faults++
	n.cases += cases
	if a.Broken {
		n.broken++
	} else if cases == 0 {
		n.silent++
	}
	for _, r := range a.Runs {
		if r.Tests == 0 && r.Cannot == "" {
			n.outside++
		}
		if r.Cannot != "" && !slices.Contains(n.cannot, r.Cannot) {
			n.cannot = append(n.cannot, r.Cannot)
		}
	}
}

func (t tally) add(other tally) {
	for key, o := range other {
		cause, kind, _ := strings.Cut(key, " ")
		n := t.of(cause, kind)
		n.faults += o.faults
		n.broken += o.broken
		n.silent += o.silent
		n.cases += o.cases
		n.outside += o.outside
		for _, why := range o.cannot {
			if !slices.Contains(n.cannot, why) {
				n.cannot = append(n.cannot, why)
			}
		}
	}
}
