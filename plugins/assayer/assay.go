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

func newAssay(r *abi.JudgeRequest) *assay {
	a := &assay{request: r, statements: reading.Statements(r.Opinion.Text), file: reading.Open(r.Evidence)}
	a.exposed = a.file.Exposed(a.statements)
	a.claims = a.file.Supports(&r.Opinion, a.statements)
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

// fairness scores which of the labels that items speak for are discussed: an opinion that is silent about the other side's evidence has
// not heard it.
func (a *assay) fairness() abi.CriterionOpinion {
	o := abi.CriterionOpinion{CitedEvidence: []string{}}
	var labels, silent []string
	for i := range a.file.Items {
		label := a.file.Items[i].Supports
		if label == "" || slices.Contains(labels, label) {
			continue
		}
		labels = append(labels, label)
		if !a.discusses(label) {
			silent = append(silent, label)
		}
	}
	all, heard := len(labels), len(labels)-len(silent)
	if all < 2 {
		o.NumericScore, o.RelevanceConfidence = 3, 0.2
		o.Argument = "The evidence does not speak for two sides, so that none can be left out."
		return o
	}
	o.NumericScore = 1 + int(math.Round(4*float64(heard)/float64(all)))
	o.RelevanceConfidence = 0.6
	o.Argument = "The opinion speaks of the evidence for " + text.Int(heard) + " of the " + text.Int(all) + " sides that have any"
	if len(silent) > 0 {
		o.Argument += ", and not for " + silent[0]
	}
	o.Argument += "."
	return o
}

// discusses says whether a statement names the label, or a claim rests on an item for it.
func (a *assay) discusses(label string) bool {
	return slices.ContainsFunc(a.claims, func(c reading.Support) bool { return c.Item != nil && c.Item.Supports == label }) ||
		slices.ContainsFunc(a.statements, func(s reading.Statement) bool { return reading.Names(s.Text, label) })
}

// sure grows with how much there was to look at: 0.5 for none, 0.9 for very much.
func sure(n int) float64 { return 0.5 + 0.4*float64(n)/float64(n+4) }

// calibration scores how far the stated confidence is beyond what the evidence bears out, or below it.
func (a *assay) calibration() abi.CriterionOpinion {
	o := abi.CriterionOpinion{CitedEvidence: []string{}, RelevanceConfidence: 0.5}
	stated, ok := reading.Stated(&a.request.Opinion, a.statements)
	if !ok {
		o.NumericScore, o.Argument = 2, "The opinion does not say how sure it is."
		return o
	}
	said := "The opinion states " + text.Share(stated)
	if borne, labelled := a.conclusion(); labelled {
		o.NumericScore = nearness(stated - borne)
		o.RelevanceConfidence = sure(len(a.file.Items))
		o.Argument = said + ", and the items that speak for its conclusion are " + text.Share(borne) + "."
		return o
	}
	o.NumericScore, o.Argument = a.headroom(stated)
	o.Argument = said + "; " + o.Argument
	return o
}

// nearness scores a confidence that is so far beyond what is borne out. Too little is half as bad as too much.
func nearness(beyond float64) int {
	if beyond < 0 {
		beyond /= -2
	}
	return reading.Grade(1-beyond, 0.45, 0.65, 0.8, 0.9)
}

// headroom scores a confidence where no item speaks for a conclusion. How much of an opinion is traced is no probability; it only bounds
// how sure one can be: with nothing that is traced of no more than an even guess, with what is made up of less. Less sure than that is no
// fault, but for an opinion of which nearly all stands.
func (a *assay) headroom(stated float64) (score int, argument string) {
	const even, suspect, much, slack = 0.5, 0.4, 0.75, 1e-9
	share := a.share()
	most := even + share/2
	if len(a.tally().madeUp) > 0 {
		most = min(most, suspect)
	}
	argument = "of its claims " + text.Share(share) + " are borne out, which bears out no more than " + text.Share(most) + "."
	if len(a.claims)+len(a.exposed) == 0 {
		argument = "it makes no claims that could be traced, which bears out no more than " + text.Share(most) + "."
	}
	if beyond := stated - most; beyond > 0.02+slack {
		return reading.Grade(-beyond, -0.35, -0.2, -0.1), argument
	}
	if share >= much && stated < even {
		return 4, argument + " It is guarded for that."
	}
	return 5, argument
}

// conclusion is the share of the conclusion in what the items state, each label counted in with half an item; false where no item speaks
// for a label.
func (a *assay) conclusion() (borne float64, labelled bool) {
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
		return 0, false
	}
	return (own + 0.5) / max(all, own+0.5), true
}
