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

// mostProbes bounds the runs of a search. Of a thousand tests 20 find one.
const mostProbes = 64

// Polluters finds the tests after which the failing test of a case fails in the tree under test, by halves, in the order in which they run: one, or
// several that it fails after only together. It serves where the runs of the case's experiments show that the test passes alone and fails with
// those around it. It finds none where that does not come again, and for other tests than those of Go, which can't be chosen so far. The error
// is that of the laboratory or the context.
func (l *Lab) Polluters(ctx context.Context, subject *abi.Case) ([]string, error) {
	l.open.RLock()
	defer l.open.RUnlock()
	e := abi.Experiment{Product: abi.Head, Tests: abi.Head, Environment: abi.OriginalEnvironment, Order: abi.OriginalOrder, Runs: mostProbes}
	f, err := l.runnable(subject, e)
	if err != nil {
		return nil, err
	}
	if _, ok := f.toolchain.(*goTests); !ok {
		return nil, nil
	}
	in, err := l.place(ctx, f, e)
	if err != nil || in.absent {
		return nil, err
	}
	run, err := l.program(ctx, in, f, e)
	if err != nil {
		return nil, err
	}
	s := orderSearch{fails: func(tests []string) (failed bool, before []string, err error) {
		err = l.step(ctx, f, e, func() error {
			r, err := l.run(ctx, in.workspace, run, f, environment{
				Order: true, Chosen: tests, Network: l.config.Network || l.config.Native, Home: l.config.Home || l.config.Native, Native: l.config.Native, Without: l.config.Without, Named: f.named, Limits: isolate.Limits{Time: runLimit(f, e)},
			})
			if err != nil {
				return err
			}
			t := l.tally(ctx, in, f, e, true)
			failed, before = t.observe(r).Outcome == abi.OutcomeSame, r.Before
			return nil
		})
		return failed, before, err
	}}
	return s.search()
}

// orderSearch finds polluters. fails runs the test after some tests, after all of them where there are none named, and says which ran before
// it.
type orderSearch struct {
	fails func(tests []string) (failed bool, before []string, err error)
	runs  int
}

func (s *orderSearch) search() ([]string, error) {
	failed, before, err := s.probe(nil)
	if err != nil || !failed || len(before) == 0 || len(choice("", before)) > mostPattern {
		return nil, err
	}
	suspects := before
	for parts := 2; len(suspects) > 1 && s.runs < mostProbes; {
		smaller, err := s.part(suspects, parts)
		switch {
		case err != nil:
			return nil, err
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
			if without && parts == 2 || s.runs >= mostProbes {
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

// confirm leaves the tests where the failing one fails twice after them, and passes twice alone.
func (s *orderSearch) confirm(tests []string) ([]string, error) {
	for range 2 {
		after, _, err := s.probe(tests)
		if err != nil || !after {
			return nil, err
		}
		alone, _, err := s.probe([]string{})
		if err != nil || alone {
			return nil, err
		}
	}
	return tests, nil
}

func (s *orderSearch) probe(tests []string) (bool, []string, error) {
	s.runs++
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
