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
	claims     []reading.Statement
	file       *reading.File
	traced     []*reading.Item // by claim; nil for one that rests on nothing
}

func newReading(r *abi.JudgeRequest) *assay {
	a := &assay{request: r, statements: reading.Statements(r.Opinion.Text), file: reading.Open(r.Evidence)}
	for _, claim := range reading.Claims(a.statements) {
		if item := a.file.Trace(&claim); item != nil || !claim.Procedural() {
			a.claims, a.traced = append(a.claims, claim), append(a.traced, item)
		}
	}
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

// share of the claims that rest on the evidence, each by what its item counts.
func (a *assay) share() float64 {
	if len(a.claims) == 0 {
		return 0
	}
	sum := 0.0
	for _, item := range a.traced {
		if item != nil {
			sum += a.file.Weight(item)
		}
	}
	return sum / float64(len(a.claims))
}

// support scores the share of the claims that are traced to items that stand.
// The more claims, the surer.
func (a *assay) support() abi.CriterionOpinion {
	o := abi.CriterionOpinion{CitedEvidence: a.cited(), RelevanceConfidence: sure(len(a.claims))}
	if len(a.claims) == 0 {
		o.NumericScore, o.Argument = 1, "The opinion makes no claim that could be traced."
		return o
	}
	o.NumericScore = grade(a.share(), 0.25, 0.5, 0.7, 0.9)
	stands, leans, loose := 0, 0, ""
	for i, item := range a.traced {
		switch {
		case item == nil:
			if loose == "" {
				loose = a.claims[i].Text
			}
		case a.file.Weight(item) == 1:
			stands++
		default:
			leans++
		}
	}
	o.Argument = text.Int(stands) + " of " + text.Count(len(a.claims), "claim") + " rest on an item that stands"
	if leans > 0 {
		o.Argument += ", " + text.Int(leans) + " on one that stands in no document"
	}
	if loose != "" {
		o.Argument += "; of those that rest on nothing the first is \"" + reading.Snippet(loose) + "\""
	}
	o.Argument += "."
	return o
}

// maxCited bounds what an opinion cites.
const maxCited = 32

// cited are the items that claims rest on and that stand, each once.
func (a *assay) cited() []string {
	refs := []string{}
	for _, item := range a.traced {
		if item != nil && item.Standing != reading.Absent && !slices.Contains(refs, item.SourceRef) && len(refs) < maxCited {
			refs = append(refs, item.SourceRef)
		}
	}
	return refs
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
	for _, item := range a.traced {
		if item != nil && item.Supports == label {
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

// calibration scores how far the stated confidence is from what the evidence
// bears out.
func (a *assay) calibration() abi.CriterionOpinion {
	o := abi.CriterionOpinion{CitedEvidence: []string{}, RelevanceConfidence: 0.5}
	stated, ok := reading.Stated(&a.request.Opinion, a.statements)
	if !ok {
		o.NumericScore, o.Argument = 2, "The opinion does not say how sure it is."
		return o
	}
	borne, how := a.borne()
	o.NumericScore = grade(1-math.Abs(stated-borne), 0.45, 0.65, 0.8, 0.9)
	o.RelevanceConfidence = sure(len(a.file.Items))
	o.Argument = "The opinion states " + text.Share(stated) + ", " + how + " " + text.Share(borne) + "."
	return o
}

// borne is the confidence that the evidence bears out: the share of the
// conclusion in what the items state, each label counted in with half an item;
// where no item speaks for a conclusion, the share of the claims that rest on
// the evidence.
func (a *assay) borne() (float64, string) {
	conclusion := a.request.Opinion.Metadata[reading.KeyClassification]
	labels := []string{}
	own, all := 0.0, 0.0
	for i := range a.file.Items {
		item := &a.file.Items[i]
		if item.Supports == "" || item.Standing == reading.Absent {
			continue
		}
		if !slices.Contains(labels, item.Supports) {
			labels = append(labels, item.Supports)
			all += 0.5
		}
		all += item.RelevanceConfidence
		if item.Supports == conclusion {
			own += item.RelevanceConfidence
		}
	}
	if conclusion == "" || len(labels) == 0 {
		return a.share(), "and so much of it rests on the evidence:"
	}
	return (own + 0.5) / max(all, own+0.5), "and the items that speak for its conclusion are"
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

// sure grows with how much there was to look at: 0.5 for nothing, 0.9 for very much.
func sure(n int) float64 { return 0.5 + 0.4*float64(n)/float64(n+4) }
