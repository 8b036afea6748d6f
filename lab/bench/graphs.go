package main

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"github.com/shadowcourt/shadowcourt/host/internal/court/traverse"
	"github.com/shadowcourt/shadowcourt/host/pipeline"
)

// The traversals that are measured: one short one after the other, and long ones,
// where beginning and ending a traversal weighs nothing.
var traversals = []struct {
	name  string
	steps int
}{{"traversals of 5 steps", 5}, {"traversals of 1000 steps", 1000}}

const ours = "Shadowcourt"

// graphs measures the steps through a graph whose nodes do nothing.
func (b *bench) graphs(ctx context.Context) error {
	def, err := pipeline.Load(filepath.Join("graphs", "ring.yaml"))
	if err != nil {
		return err
	}
	graph, err := pipeline.NewGraph(def)
	if err != nil {
		return err
	}
	rivals := make([][]Rival, len(traversals))
	for i, w := range traversals {
		rivals[i] = []Rival{{Name: graphName(ours, w.name), Do: func(n int) error { return traverseRing(ctx, graph, w.steps, n) }}}
	}
	others := []string{}
	for _, kind := range []struct {
		name  string
		start func(context.Context) (*LangGraph, error)
	}{{"LangGraph (Python)", LangGraphPython}, {"LangGraph (JavaScript)", LangGraphJavaScript}} {
		name := kind.name
		peer, err := kind.start(ctx)
		if err != nil {
			b.miss(name, err)
			continue
		}
		defer peer.Close()
		b.say("%s %s", name, peer.Version)
		others = append(others, name)
		for i, w := range traversals {
			rivals[i] = append(rivals[i], Rival{Name: graphName(name, w.name), Do: func(n int) error { return peer.Traverse(w.steps, n) }})
		}
	}
	for i, w := range traversals {
		medians, err := Interleave(b.rounds, 4*b.turn, rivals[i])
		if err != nil {
			return err
		}
		for _, r := range rivals[i] {
			b.add(r.Name, float64(w.steps)*float64(time.Second)/float64(medians[r.Name]), "steps/s")
		}
		for _, other := range others {
			b.against(graphName(ours, w.name), graphName(other, w.name))
		}
	}
	return nil
}

func graphName(who, traversal string) string { return who + ", " + traversal }

// traverseRing goes n times through a traversal of so many steps.
func traverseRing(ctx context.Context, graph *pipeline.Graph, steps, n int) error {
	for range n {
		r := ring{steps: steps}
		out, err := traverse.Run(ctx, graph, &r, traverse.Config{MaxSteps: steps})
		if err != nil {
			return err
		}
		if len(out.Steps) != steps || out.End != pipeline.EndDone {
			return fmt.Errorf("%w: %d steps to %s", errWrong, len(out.Steps), out.End)
		}
	}
	return nil
}

// ring goes round until it has made its steps.
type ring struct{ steps, made int }

func (r *ring) Visit(context.Context, *pipeline.Node, int) (again bool, err error) {
	r.made++
	return false, nil
}

func (r *ring) Ask(_ context.Context, _ *pipeline.Node, edges []*pipeline.Edge) ([]traverse.Answer, error) {
	answers := make([]traverse.Answer, len(edges))
	if last := len(edges) - 1; r.made == r.steps {
		answers[last].Fires = true
	} else {
		answers[0].Fires = true
	}
	return answers, nil
}
