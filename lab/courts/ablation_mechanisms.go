package main

import (
	"slices"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/lab/internal/study"
	"github.com/shadowcourt/shadowcourt/host/pipeline"
)

// mechanism is a court with something changed.
type mechanism struct {
	name    string
	change  func(*pipeline.Definition)
	without bool // the profile
}

func mechanisms() []mechanism {
	return []mechanism{
		{name: "as shipped"},
		{name: "no profile", without: true},
		{name: "no discovery", change: func(d *pipeline.Definition) { atEdge(d, "HD1", pipeline.Number("min_confidence", 0)) }},
		{name: "no fast track (HD1)", change: func(d *pipeline.Definition) { atEdge(d, "HD1", pipeline.Number("min_confidence", 1)) }},
		{name: "no plea deal (HD2)", change: func(d *pipeline.Definition) { drop(d, "HD2") }},
		{name: "all items contested by the defense", change: defenseContests},
		{name: "hearing of one round", change: rounds(1)},
		{name: "hearing of five rounds", change: rounds(5)},
		{name: "judge's threshold 0.5, lead 0.1", change: judge(0.5, 0.1)},
		{name: "judge decides always", change: judge(0, 0)},
		{name: "no profile, all items contested by the defense", without: true, change: defenseContests},
		{name: "no profile, hearing of one round", without: true, change: rounds(1)},
		{name: "no profile, no discovery", without: true, change: func(d *pipeline.Definition) { atEdge(d, "HD1", pipeline.Number("min_confidence", 0)) }},
	}
}

// defenseContests leaves the destructive cycle without anybody.
func defenseContests(d *pipeline.Definition) {
	for i := range d.Personas {
		d.Personas[i].Contests = ""
	}
}

// definition is the shipped pipeline with the change.
func (m *mechanism) definition() (*pipeline.Definition, error) {
	d, err := study.Court()
	if err != nil || m.change == nil {
		return d, err
	}
	m.change(d)
	return d, nil
}

func rounds(n int) func(*pipeline.Definition) {
	return func(d *pipeline.Definition) {
		for i := range d.Nodes {
			if d.Nodes[i].Family == abi.FamilyHearing {
				d.Nodes[i].Rounds = n
			}
		}
	}
}

func judge(confidence, lead float64) func(*pipeline.Definition) {
	return func(d *pipeline.Definition) {
		for i := range d.Nodes {
			if d.Nodes[i].Family == abi.FamilyVerdict {
				d.Nodes[i].With = []pipeline.Param{pipeline.Number("min_confidence", confidence), pipeline.Number("min_lead", lead)}
			}
		}
	}
}

func atEdge(d *pipeline.Definition, id string, with ...pipeline.Param) {
	for i := range d.Edges {
		if d.Edges[i].ID == id {
			d.Edges[i].With = with
		}
	}
}

func drop(d *pipeline.Definition, id string) {
	d.Edges = slices.DeleteFunc(d.Edges, func(e pipeline.Edge) bool { return e.ID == id })
}
