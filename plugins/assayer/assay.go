package main

import (
	"math"
	"slices"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/plugins/internal/reading"
	"github.com/shadowcourt/shadowcourt/plugins/internal/text"
)

// assay is an opinion with the evidence that its claims were traced to.
type assay struct {
	request    *abi.JudgeRequest
	statements []reading.Statement
	file       *reading.File
	exposed    []*reading.Item
	claims     []reading.Support
}

func newReading(r *abi.JudgeRequest) *assay {
	a := &assay{request: r, statements: reading.Statements(r.Opinion.Text), file: reading.Open(r.Evidence)}
	a.exposed = a.file.Exposed(a.statements)
	a.claims = a.file.Supports(a.statements, a.file.Labels(&r.Opinion))
	return a
}

func (a *assay) judge(criterion string) (abi.CriterionOpinion, bool) {
	switch criterion {
	case "evidence_support":
		return a.support(), true
	case "even_handedness":
		return a.fairness(), true
	case "calibration":
		return a.calibration(), true
	default:
		return abi.CriterionOpinion{}, false
	}
}

// fairness scores which of the labels that items speak for are discussed: an
// opinion that is silent about the other side's evidence has not heard it.
func (a *assay) fairness() abi.CriterionOpinion {
	o := abi.CriterionOpinion{CitedEvidence: []string{}}
	var labels, silent []string
	heard := 0
	for i := range a.file.Items {
		label := a.file.Items[i].Supports
		if label == "" || slices.Contains(labels, label) {
			continue
		}
		labels = append(labels, label)
		if a.discusses(label) {
			heard++
		} else {
			silent = append(silent, label)
		}
	}
	if len(labels) < 2 {
		o.NumericScore, o.RelevanceConfidence = 3, 0.2
		o.Argument = "The evidence does not speak for two sides, so that none can be left out."
		return o
	}
	o.NumericScore = 1 + int(math.Round(4*float64(heard)/float64(len(labels))))
	o.RelevanceConfidence = 0.6
	o.Argument = "The opinion speaks of the evidence for " + text.Int(heard) + " of the " + text.Int(len(labels)) + " sides that have any"
	if len(silent) > 0 {
		o.Argument += ", and not for " + silent[0]
	}
	o.Argument += "."
	return o
}

// discusses says whether a statement names the label or speaks of an item for it.
func (a *assay) discusses(label string) bool {
	for i := range a.claims {
		if item := a.claims[i].Item; item != nil && item.Supports == label {
			return true
		}
	}
	for i := range a.statements {
		s := &a.statements[i]
		if reading.Names(s.Text, label) {
			return true
		}
		for j := range a.file.Items {
			if item := &a.file.Items[j]; item.Supports == label && item.Concerns(s) {
				return true
			}
		}
	}
	return false
}

// grade gives 1 to 5: one more for each bound that x reaches.
func grade(x float64, bounds ...float64) int {
	score := 1
	for _, b := range bounds {
		if x >= b {
			score++
		}
	}
	return score
}

// sure grows with how much there was to look at: 0.5 for none, 0.9 for very much.
func sure(n int) float64 { return 0.5 + 0.4*float64(n)/float64(n+4) }
