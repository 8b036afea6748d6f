package traverse_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/internal/court/traverse"
	"github.com/shadowcourt/shadowcourt/host/pipeline"
)

// dice answers at random.
type dice struct{ t *rapid.T }

func (d dice) Visit(context.Context, *pipeline.Node, int) (bool, error) {
	return rapid.IntRange(0, 9).Draw(d.t, "again") == 0, nil
}

func (d dice) Ask(_ context.Context, _ *pipeline.Node, edges []*pipeline.Edge) ([]traverse.Answer, error) {
	answers := make([]traverse.Answer, len(edges))
	for i := range answers {
		answers[i].Fires = rapid.IntRange(0, 3).Draw(d.t, "fires") == 0
	}
	return answers, nil
}

// Any traversal of any graph ends within the limit, and every step is one that the definition allows.
func TestEveryTraversalEndsAndKeepsToTheGraph(t *testing.T) {
	t.Parallel()
	ended := 0
	rapid.Check(t, func(t *rapid.T) {
		g := randomGraph(t)
		limit := rapid.IntRange(1, 40).Draw(t, "limit")
		out, err := traverse.Run(t.Context(), g, dice{t}, traverse.Config{MaxSteps: limit})
		if len(out.Steps) > limit {
			t.Fatalf("%d steps", len(out.Steps))
		}
		switch {
		case err == nil:
			ended++
			if !pipeline.IsEnd(out.End) {
				t.Fatalf("end %q", out.End)
			}
		case errors.Is(err, traverse.ErrStepLimit) && len(out.Steps) == limit:
		case errors.Is(err, traverse.ErrNoEdge):
		default:
			t.Fatal(err)
		}
		at, visits := out.Start, make(map[string]int)
		for i := range out.Steps {
			s := &out.Steps[i]
			visits[s.Node]++
			if s.Node != at || s.Visit != visits[s.Node] {
				t.Fatalf("step %d is visit %d at %q, the traversal is at %q for the %d. time", i, s.Visit, s.Node, at, visits[s.Node])
			}
			checkMove(t, g, s)
			at = s.To
		}
		moves, err := g.ParsePath(out.Path())
		if err != nil {
			t.Fatal(err)
		}
		if again := pipeline.PathOf(out.Start, moves); fmt.Sprint(again) != fmt.Sprint(out.Path()) {
			t.Fatalf("%v is read as %v", out.Path(), again)
		}
	})
	if ended == 0 {
		t.Error("no traversal reached an end: the graphs show nothing")
	}
}

// checkMove says the rules a second time, from the answers.
func checkMove(t *rapid.T, g *pipeline.Graph, s *traverse.Step) {
	var own, fromAny string
	for _, a := range s.Answers {
		if a.Edge.From != s.Node && a.Edge.From != pipeline.Any {
			t.Fatalf("the edge %s was asked at %q", a.Edge.ID, s.Node)
		}
		if a.Fires && a.Edge.From == pipeline.Any && fromAny == "" {
			fromAny = a.Edge.ID
		}
		if a.Fires && a.Edge.From == s.Node && own == "" {
			own = a.Edge.ID
		}
	}
	if len(s.Answers) != len(g.AnyEdges())+len(g.EdgesFrom(s.Node)) {
		t.Fatalf("%d answers at %q", len(s.Answers), s.Node)
	}
	want := own
	if e, ok := g.Edge(own); fromAny != "" && (!ok || !pipeline.IsEnd(e.To)) {
		want = fromAny
	}
	next, hasNext := g.Next(s.Node)
	switch {
	case s.EdgeID != want:
		t.Fatalf("took %q, want %q", s.EdgeID, want)
	case want != "":
		if e, _ := g.Edge(want); e.To != s.To {
			t.Fatalf("%s leads to %q, not %q", want, e.To, s.To)
		}
	case s.Again && s.To != s.Node, s.Fallthrough && (!hasNext || next.Name != s.To), s.Again && s.Fallthrough:
		t.Fatalf("step %+v", s)
	}
}

func randomGraph(t *rapid.T) *pipeline.Graph {
	d := &pipeline.Definition{Pipeline: "random", Court: pipeline.DefaultCourt(), Start: "n0"}
	n := rapid.IntRange(1, 6).Draw(t, "nodes")
	targets := pipeline.Ends()
	sources := []string{pipeline.Any}
	for i := range n {
		name := fmt.Sprintf("n%d", i)
		d.Nodes = append(d.Nodes, pipeline.Node{Name: name, Family: abi.FamilyTriage})
		targets, sources = append(targets, name), append(sources, name)
	}
	for i := range rapid.IntRange(1, 12).Draw(t, "edges") {
		d.Edges = append(d.Edges, pipeline.Edge{
			ID: fmt.Sprintf("E:%d", i), From: rapid.SampledFrom(sources).Draw(t, "from"), To: rapid.SampledFrom(targets).Draw(t, "to"),
		})
	}
	d.Complete()
	g, err := pipeline.NewGraph(d)
	if err != nil {
		t.Skip(err) // a graph without an end
	}
	return g
}
