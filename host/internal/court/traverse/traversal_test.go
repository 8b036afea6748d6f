package traverse_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/shadowcourt/shadowcourt/host/internal/court/traverse"
	"github.com/shadowcourt/shadowcourt/host/pipeline"
	"github.com/shadowcourt/shadowcourt/internal/testkit/check"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

// script is a visitor and evaluator that does as told and writes down what it was asked.
type script struct {
	again map[string]int      // visits after which a node is done
	yes   map[string][]string // edges that fire at a node, "EDGE" or "EDGE@visit"
	calls []string
	short bool // answers for one edge too few
	visit int
	stop  func(node string)
	err   error
}

func (s *script) Visit(_ context.Context, node *pipeline.Node, visit int) (bool, error) {
	s.visit = visit
	s.calls = append(s.calls, "visit "+node.Name)
	if s.stop != nil {
		s.stop(node.Name)
	}
	return visit < s.again[node.Name], s.err
}

func (s *script) Ask(_ context.Context, node *pipeline.Node, edges []*pipeline.Edge) ([]traverse.Answer, error) {
	ids := make([]string, len(edges))
	answers := make([]traverse.Answer, len(edges))
	for i, e := range edges {
		ids[i] = e.ID
		for _, yes := range s.yes[node.Name] {
			id, at, bound := strings.Cut(yes, "@")
			if id == e.ID && (!bound || at == string(rune('0'+s.visit))) {
				answers[i] = traverse.Answer{Fires: true, Why: "told so"}
			}
		}
	}
	s.calls = append(s.calls, "ask "+strings.Join(ids, " "))
	if s.short {
		answers = answers[1:]
	}
	return answers, nil
}

func graph(t testing.TB, text string) *pipeline.Graph {
	t.Helper()
	d := must.Get(pipeline.Parse("p.yaml", []byte(text)))(t)
	return must.Get(pipeline.NewGraph(d))(t)
}

const small = `
pipeline: small
nodes:
  - {name: a, family: triage}
  - {name: b, family: resolve}
  - {name: c, family: report}
edges:
  - {id: A1, from: a, to: c}
  - {id: A2, from: a, to: _gap_brief}
  - {id: X1, from: _any, to: _mistrial}
  - {id: B1, from: b, to: b, loop: true}
  - {id: C1, from: c, to: _done}
  - {id: C2, from: c, to: b, loop: true}
  - {id: X2, from: _any, to: c}
start: a
`

func TestAllEdgesAreAskedInOneCall(t *testing.T) {
	t.Parallel()
	s := &script{again: map[string]int{"b": 2}, yes: map[string][]string{"c": {"C1"}}}
	out := must.Get(traverse.Run(t.Context(), graph(t, small), s, traverse.Config{}))(t)
	want := []string{
		"visit a", "ask X1 X2 A1 A2", "visit b", "ask X1 X2 B1", "visit b", "ask X1 X2 B1", "visit c", "ask X1 X2 C1 C2",
	}
	check.Same(t, cmp.Diff(want, s.calls))
	b := out.Steps[1]
	if !b.Again || b.Fallthrough || b.Visit != 1 || b.To != "b" || !out.Steps[2].Fallthrough || out.Steps[2].Visit != 2 {
		t.Errorf("steps %+v", out.Steps)
	}
	last := out.Steps[3].Answers
	if len(last) != 4 || !last[2].Fires || last[2].Why != "told so" || last[2].Edge.ID != "C1" || last[3].Fires {
		t.Errorf("answers %+v", last)
	}
}

func TestAlwaysIsNotAsked(t *testing.T) {
	t.Parallel()
	s := &script{}
	out, err := traverse.Run(t.Context(), graph(t, `
pipeline: p
nodes:
  - {name: a, family: triage}
  - {name: b, family: report}
edges:
  - {id: A1, from: a, to: _remand, loop: true}
  - {id: A2, from: a, to: b, evaluator: always}
  - {id: B1, from: b, to: _done, evaluator: always}
start: a
`), s, traverse.Config{})
	must.Do(t, err)
	check.Same(t, cmp.Diff([]string{"visit a", "ask A1", "visit b"}, s.calls))
	check.Same(t, cmp.Diff([]string{"a", "A2:b", "B1:_done"}, out.Path()))
}

func TestContextIsHonouredBetweenSteps(t *testing.T) {
	t.Parallel()
	cause := errors.New("the TTL is over")
	for at, want := range map[string]error{"b": cause, "c": nil} {
		ctx, cancel := context.WithCancelCause(t.Context())
		s := &script{yes: map[string][]string{"c": {"C1"}}}
		s.stop = func(node string) {
			if node == at {
				cancel(cause)
			}
		}
		out, err := traverse.Run(ctx, graph(t, small), s, traverse.Config{})
		check.Is(t, err, want, "at", at)
		if at == "b" && (len(out.Steps) != 2 || slices.Contains(s.calls, "visit c")) {
			t.Errorf("the traversal continued: %v", s.calls)
		}
		if at == "c" && out.End != "_done" {
			t.Error("a step that had begun was not finished")
		}
		cancel(nil)
	}
}

func TestFanOutRunsBranchesSideBySide(t *testing.T) {
	t.Parallel()
	// Each branch waits for all others: one after the other they would wait forever.
	var all sync.WaitGroup
	const n = 5
	all.Add(n)
	branches := make([]func() int, n)
	for i := range branches {
		branches[i] = func() int {
			all.Done()
			all.Wait()
			return i * i
		}
	}
	seen := map[int]int{}
	traverse.FanOut(branches, 0, func(i, result int) { seen[i] = result })
	for i := range n {
		if result, ok := seen[i]; !ok || result != i*i {
			t.Errorf("branch %d: %d", i, result)
		}
	}
}

func TestFanOutKeepsItsLimit(t *testing.T) {
	t.Parallel()
	var running, most atomic.Int32
	branches := make([]func() bool, 20)
	for i := range branches {
		branches[i] = func() bool {
			now := running.Add(1)
			for old := most.Load(); now > old; old = most.Load() {
				most.CompareAndSwap(old, now)
			}
			running.Add(-1)
			return true
		}
	}
	n := 0
	traverse.FanOut(branches, 3, func(int, bool) { n++ })
	if n != len(branches) || most.Load() > 3 {
		t.Errorf("%d arrived, %d at once", n, most.Load())
	}
	traverse.FanOut([]func() bool{}, 0, func(int, bool) { t.Error("something arrived from nowhere") })
}
