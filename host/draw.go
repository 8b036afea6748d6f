package host

import (
	"html/template"
	"strings"

	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/pipeline"
)

// Draw gives the graph with the trial's walk drawn on it, as an SVG element
// for a page; empty for a case that was not tried.
func (h *Host) Draw(t *docket.Trial) template.HTML {
	var moves []pipeline.Move
	for i := range t.Passes {
		for _, step := range t.Passes[i].Steps {
			moves = append(moves, pipeline.Move{From: step.Node, Edge: step.Edge, To: step.To})
		}
	}
	if n := len(t.Result.Path); n > 0 {
		moves = append(moves, stopped(moves, t.Result.Path[n-1])...)
	}
	if len(moves) == 0 {
		return ""
	}
	picture := pipeline.SVG(h.graph, pipeline.Picture{Walk: moves, Embedded: true})
	return template.HTML(picture) //nolint:gosec // the renderer escapes what is not its own
}

// stopped is the move to the mistrial that the host made itself, which no
// step of the walk holds.
func stopped(moves []pipeline.Move, arrival string) []pipeline.Move {
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
