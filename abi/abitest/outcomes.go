package abitest

import (
	"strconv"

	"github.com/shadowcourt/shadowcourt/abi"
)

// Passing is how probable it is, under each label of a case, that a run of an experiment passes. Other runs fail as the case did.
type Passing struct {
	Of    abi.Experiment
	Given []float64
}

// Outcomes is an outcome model by which each label comes true in one way. How many runs an experiment makes does not matter.
func Outcomes(labels []string, cells ...Passing) *abi.OutcomeModel {
	const sharp = 1e5 // so many runs would tell the rate
	m := &abi.OutcomeModel{Shapes: []abi.RateShape{}, Patterns: []abi.OutcomePattern{}}
	for j, label := range labels {
		weights := make([]abi.LabelWeight, len(labels)) // of all labels, so that no list is as long as one of a single label
		for k := range labels {
			weights[k].Label = labels[k]
		}
		weights[j].Weight = 1
		p := abi.OutcomePattern{Name: label, Labels: weights, Rates: []abi.OutcomeRate{}, Absent: 0.5}
		for i := range cells {
			e, name := &cells[i].Of, strconv.Itoa(i)+" under "+label
			m.Shapes = append(m.Shapes, abi.RateShape{Name: name, Passed: sharp * cells[i].Given[j], Same: sharp * (1 - cells[i].Given[j])})
			p.Rates = append(p.Rates, abi.OutcomeRate{Product: e.Product, Tests: e.Tests, Environment: e.Environment, Order: e.Order, Shape: name})
		}
		m.Patterns = append(m.Patterns, p)
	}
	return m
}
