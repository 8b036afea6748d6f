package render

import (
	"strings"

	"github.com/shadowcourt/shadowcourt/host/pipeline"
	"github.com/shadowcourt/shadowcourt/host/trial"
)

// Draw draws the court's graph with the path of a trial; empty for a case that was not tried.
func Draw(graph *pipeline.Graph, t *trial.Trial) trial.SVG {
	var moves []pipeline.Move
	for i := range t.Passes {
		for _, step := range t.Passes[i].Steps {
			moves = append(moves, pipeline.Move{From: step.Node, Edge: step.Edge, To: step.To})
		}
	}
	if n := len(t.Result.Path); n > 0 {
		moves = append(moves, hostMistrial(moves, t.Result.Path[n-1])...)
	}
	if len(moves) == 0 {
		return ""
	}
	return trial.SVG(pipeline.SVG(graph, pipeline.Picture{Path: moves, Embedded: true}))
}

// hostMistrial is the move to a mistrial that the host declared itself: no step holds it.
func hostMistrial(moves []pipeline.Move, arrival string) []pipeline.Move {
	edge, to, ok := strings.Cut(arrival, ":")
	if !ok || to != pipeline.EndMistrial || len(moves) > 0 && moves[len(moves)-1].To == to {
		return nil
	}
	from := ""
	if len(moves) > 0 {
		from = moves[len(moves)-1].To
	}
	return []pipeline.Move{{From: from, Edge: edge, To: to}}
}
