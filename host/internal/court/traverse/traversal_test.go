package traverse_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/shadowcourt/shadowcourt/host/internal/court/traverse"
	"github.com/shadowcourt/shadowcourt/host/pipeline"
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
	d, err := pipeline.Parse("p.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	g, err := pipeline.NewGraph(d)
	if err != nil {
		t.Fatal(err)
	}
	return g
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

func TestTheMoveFollowsTheRules(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		again map[string]int
		yes   map[string][]string
		want  []string
	}{
		"no edge fires: the next in file order":          {nil, map[string][]string{"c": {"C1"}}, []string{"a", "b", "c", "C1:_done"}},
		"the first yes wins":                             {nil, map[string][]string{"a": {"A1", "A2"}, "c": {"C1", "C2"}}, []string{"a", "A1:c", "C1:_done"}},
		"a later yes":                                    {nil, map[string][]string{"a": {"A2"}}, []string{"a", "A2:_gap_brief"}},
		"an edge of any node comes before falling on":    {nil, map[string][]string{"a": {"X1"}}, []string{"a", "X1:_mistrial"}},
		"an edge of any node comes before a node":        {nil, map[string][]string{"a": {"A1", "X1"}}, []string{"a", "X1:_mistrial"}},
		"an edge of any node doesn't undo an end":        {nil, map[string][]string{"a": {"A2", "X1"}}, []string{"a", "A2:_gap_brief"}},
		"only the first own yes counts as given":         {nil, map[string][]string{"a": {"A1", "A2", "X1"}}, []string{"a", "X1:_mistrial"}},
		"edges of any node are taken in file order":      {nil, map[string][]string{"a": {"X2", "X1"}}, []string{"a", "X1:_mistrial"}},
		"an edge of any node may lead to a node":         {nil, map[string][]string{"a": {"X2"}, "c": {"C1"}}, []string{"a", "X2:c", "C1:_done"}},
		"a node is visited again":                        {map[string]int{"b": 3}, map[string][]string{"c": {"C1"}}, []string{"a", "b", "c", "C1:_done"}},
		"an edge that fires ends the repetition":         {map[string]int{"b": 9}, map[string][]string{"b": {"X1@2"}}, []string{"a", "b", "X1:_mistrial"}},
		"a loop":                                         {nil, map[string][]string{"c": {"C2@1", "C1@2"}}, []string{"a", "b", "c", "C2:b", "c", "C1:_done"}},
		"an edge to its own node is an arrival":          {nil, map[string][]string{"b": {"B1@1"}, "c": {"C1"}}, []string{"a", "b", "B1:b", "c", "C1:_done"}},
		"the last node repeats before it fails to go on": {map[string]int{"c": 2}, map[string][]string{"c": {"C1@2"}}, []string{"a", "b", "c", "C1:_done"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &script{again: c.again, yes: c.yes}
			g := graph(t, small)
			out, err := traverse.Run(t.Context(), g, s, traverse.Config{})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, out.Path()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if want := out.Steps[len(out.Steps)-1].To; out.End != want {
				t.Errorf("end %q, want %q", out.End, want)
			}
			if _, err := g.ParsePath(out.Path()); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestAllEdgesAreAskedInOneCall(t *testing.T) {
	t.Parallel()
	s := &script{again: map[string]int{"b": 2}, yes: map[string][]string{"c": {"C1"}}}
	out, err := traverse.Run(t.Context(), graph(t, small), s, traverse.Config{})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"visit a", "ask X1 X2 A1 A2", "visit b", "ask X1 X2 B1", "visit b", "ask X1 X2 B1", "visit c", "ask X1 X2 C1 C2",
	}
	if diff := cmp.Diff(want, s.calls); diff != "" {
		t.Error(diff)
	}
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
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"visit a", "ask A1", "visit b"}, s.calls); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"a", "A2:b", "B1:_done"}, out.Path()); diff != "" {
		t.Error(diff)
	}
}

// On the level of the traversal: what the court makes of it is the court's.
func TestAccept_CT8_NoEdgeFires(t *testing.T) {
	t.Parallel()
	d, err := pipeline.Load("../../../pipeline/testdata/seed-defect-court.yaml")
	if err != nil {
		t.Fatal(err)
	}
	g, err := pipeline.NewGraph(d)
	if err != nil {
		t.Fatal(err)
	}
	s := &script{again: map[string]int{"hearing": 3}}
	out, err := traverse.Run(t.Context(), g, s, traverse.Config{})
	var noEdge *traverse.NoEdgeError
	if !errors.Is(err, traverse.ErrNoEdge) || !errors.As(err, &noEdge) || noEdge.Node != "verdict" {
		t.Fatalf("got %v", err)
	}
	if diff := cmp.Diff([]string{"indict", "discover", "defend", "hearing", "verdict"}, out.Path()); diff != "" {
		t.Error(diff)
	}
	if out.End != "" || len(out.Steps) != 7 || out.Steps[6].Node != "verdict" || len(out.Steps[6].Answers) != 7 {
		t.Errorf("outcome %+v", out)
	}
}

func TestTheSeedsPathIsWrittenAsInTheContract(t *testing.T) {
	t.Parallel()
	d, err := pipeline.Load("../../../pipeline/testdata/seed-defect-court.yaml")
	if err != nil {
		t.Fatal(err)
	}
	g, err := pipeline.NewGraph(d)
	if err != nil {
		t.Fatal(err)
	}
	s := &script{again: map[string]int{"hearing": 3}, yes: map[string][]string{
		"defend": {"HD4"}, "hearing": {"HD5@2"}, "verdict": {"HD7"},
	}}
	out, err := traverse.Run(t.Context(), g, s, traverse.Config{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"indict", "discover", "defend", "HD4:hearing", "HD5:verdict", "HD7:_done"}, out.Path()); diff != "" {
		t.Error(diff)
	}
}

func TestStepLimit(t *testing.T) {
	t.Parallel()
	for limit, want := range map[int]int{0: traverse.DefaultMaxSteps, 1: 1, 17: 17} {
		s := &script{yes: map[string][]string{"b": {"B1"}}}
		out, err := traverse.Run(t.Context(), graph(t, small), s, traverse.Config{MaxSteps: limit})
		var over *traverse.StepLimitError
		if !errors.Is(err, traverse.ErrStepLimit) || !errors.As(err, &over) || over.Limit != want || over.Node != "b" {
			t.Errorf("limit %d: %v", limit, err)
		}
		if len(out.Steps) != want {
			t.Errorf("limit %d: %d steps", limit, len(out.Steps))
		}
	}
	s := &script{yes: map[string][]string{"c": {"C1"}}}
	if out, err := traverse.Run(t.Context(), graph(t, small), s, traverse.Config{MaxSteps: 3}); err != nil || out.End != "_done" {
		t.Errorf("an end in the last step allowed: %v", err)
	}
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
		if !errors.Is(err, want) {
			t.Errorf("at %s: %v", at, err)
		}
		if at == "b" && (len(out.Steps) != 2 || slices.Contains(s.calls, "visit c")) {
			t.Errorf("the traversal continued: %v", s.calls)
		}
		if at == "c" && out.End != "_done" {
			t.Error("a step that had begun was not finished")
		}
		cancel(nil)
	}
}

func TestErrorsOfTheCallerComeBack(t *testing.T) {
	t.Parallel()
	trap := errors.New("trap")
	s := &script{err: trap}
	if out, err := traverse.Run(t.Context(), graph(t, small), s, traverse.Config{}); !errors.Is(err, trap) || out == nil {
		t.Errorf("got %v", err)
	}
	s = &script{short: true}
	if _, err := traverse.Run(t.Context(), graph(t, small), s, traverse.Config{}); err == nil || !strings.Contains(err.Error(), "3 answers for 4 edges") {
		t.Errorf("got %v", err)
	}
}
