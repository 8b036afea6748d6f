package render

import (
	"strings"

	"github.com/shadowcourt/shadowcourt/host/pipeline"
	"github.com/shadowcourt/shadowcourt/host/trial"
)

// BesideJSON is both trials of a case that a candidate court took part in.
type BesideJSON struct {
	ID string `json:"id"`
	// Flips: the two end with another status or another label.
	Flips bool `json:"flips"`
	// Truth is the right classification, null where it is not known.
	Truth     *string       `json:"truth"`
	Court     *trial.Result `json:"court"`
	Candidate *trial.Result `json:"candidate"`
}

// NewBesideJSON states both trials of a case; nil where no candidate took part. Timings are left out.
func NewBesideJSON(t *trial.Trial) *BesideJSON {
	if t.Beside == nil {
		return nil
	}
	court, candidate := t.Result, t.Beside.Result
	court.Timings, candidate.Timings = nil, nil
	line := &BesideJSON{ID: t.Result.ID, Flips: t.Compare().BesideFlips, Court: &court, Candidate: &candidate}
	if t.Truth != nil && t.Truth.Classification != "" {
		line.Truth = &t.Truth.Classification
	}
	return line
}

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
