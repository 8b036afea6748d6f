package experiment

import (
	"bytes"
	"context"
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/experiment/isolate"
)

// Polluters are the tests after which a test fails that passes alone.
type Polluters struct {
	// Tests are those without which it passes, in the order in which they run: one, or several that it fails after only together. They are
	// empty where nothing was found, such as for a runner that cannot run chosen tests.
	Tests []string
	// Before is how many tests run before it, and Runs how many runs the search made.
	Before, Runs int
	// Confirmed: it failed twice after these tests and passed twice alone.
	Confirmed bool
}

// mostProbes bounds the runs of a search. Of a thousand tests 20 find one.
const mostProbes = 64

// Polluters finds the tests after which the failing test of a case fails in the tree under test, by halves. It serves where the runs of
// the case's experiments show that the test passes alone and fails with those around it. Only tests of Go can be chosen so far. The error is that
// of the laboratory or the context.
func (l *Lab) Polluters(ctx context.Context, subject *abi.Case) (Polluters, error) {
	l.open.RLock()
	defer l.open.RUnlock()
	e := abi.Experiment{Product: abi.Head, Tests: abi.Head, Environment: abi.OriginalEnvironment, Order: abi.OriginalOrder, Runs: mostProbes}
	f, err := l.runnable(subject, e)
	if err != nil {
		return Polluters{}, err
	}
	if _, ok := f.toolchain.(*goTests); !ok {
		return Polluters{}, nil
	}
	in, err := l.place(ctx, f, e)
	if err != nil || in.absent {
		return Polluters{}, err
	}
	run, err := l.program(ctx, in, f, e)
	if err != nil {
		return Polluters{}, err
	}
	s := orderSearch{fails: func(tests []string) (failed bool, before []string, err error) {
		err = l.step(ctx, f, e, func() error {
			r, err := l.run(ctx, in.workspace, run, f, environment{
				Order: true, Chosen: tests, Network: l.config.Network, Home: l.config.Home, Limits: isolate.Limits{Time: runLimit(f, e)},
			})
			if err != nil {
				return err
			}
			t := tally{result: abi.ExperimentResult{Experiment: e}, looks: f.looks, online: l.config.Network}
			failed, before = t.observe(f, r).Outcome == abi.OutcomeSame, r.Before
			return nil
		})
		return failed, before, err
	}}
	err = s.search()
	return s.found, err
}

// orderSearch finds polluters. fails runs the test after some tests, after all of them where there are none named, and says which ran before
// it.
type orderSearch struct {
	fails func(tests []string) (failed bool, before []string, err error)
	found Polluters
}

func (s *orderSearch) search() error {
	failed, before, err := s.probe(nil)
	if s.found.Before = len(before); err != nil || !failed || len(before) == 0 || len(choice("", before)) > mostPattern {
		return err
	}
	suspects := before
	for parts := 2; len(suspects) > 1 && s.found.Runs < mostProbes; {
		smaller, err := s.part(suspects, parts)
		switch {
		case err != nil:
			return err
		case smaller != nil:
			parts, suspects = max(2, parts-1), smaller
		case parts >= len(suspects):
			return s.confirm(suspects) // it fails only after all of these
		default:
			parts = min(2*parts, len(suspects))
		}
	}
	return s.confirm(suspects)
}

// part is a part of the suspects after which the test fails, or all but a part of them; nil where there is none.
func (s *orderSearch) part(suspects []string, parts int) ([]string, error) {
	for _, without := range []bool{false, true} {
		for i := range parts {
			if without && parts == 2 || s.found.Runs >= mostProbes {
				break // the halves are each other's rest
			}
			low, high := i*len(suspects)/parts, (i+1)*len(suspects)/parts
			some := suspects[low:high:high]
			if without {
				some = slices.Concat(suspects[:low], suspects[high:])
			}
			if failed, _, err := s.probe(some); err != nil || failed {
				return some, err
			}
		}
	}
	return nil, nil
}

func (s *orderSearch) confirm(tests []string) error {
	for range 2 {
		after, _, err := s.probe(tests)
		if err != nil {
			return err
		}
		alone, _, err := s.probe([]string{})
		if err != nil || !after || alone {
			return err
		}
	}
	s.found.Tests, s.found.Confirmed = tests, true
	return nil
}

func (s *orderSearch) probe(tests []string) (bool, []string, error) {
	s.found.Runs++
	return s.fails(tests)
}

// mostPattern bounds the expression that chooses tests: Linux takes no argument of 128 KiB.
const mostPattern = 100 << 10

// choice matches the test that a test is part of, and others.
func choice(name string, others []string) string {
	top, _, _ := strings.Cut(name, "/")
	if len(others) == 0 {
		return "^" + regexp.QuoteMeta(top) + "$"
	}
	names := make([]string, 0, len(others)+1)
	for _, other := range append(slices.Clip(others), top) {
		names = append(names, regexp.QuoteMeta(other))
	}
	return "^(" + strings.Join(names, "|") + ")$"
}

// testsBefore are the tests that a stream of go test -json has begun before one.
func testsBefore(name string, stream []byte) []string {
	top, _, _ := strings.Cut(name, "/")
	var before []string
	for line := range bytes.Lines(stream) {
		var event struct {
			Action string `json:"Action"`
			Test   string `json:"Test"`
		}
		switch {
		case json.Unmarshal(line, &event) != nil || event.Action != "run" || event.Test == "" || strings.Contains(event.Test, "/"):
		case event.Test == top:
			return before
		default:
			before = append(before, event.Test)
		}
	}
	return nil
}
