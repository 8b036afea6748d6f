package main

import (
	"slices"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/plugins/internal/reading"
	"github.com/shadowcourt/shadowcourt/plugins/internal/text"
)

// calibration scores how far the stated confidence is beyond what the evidence
// bears out, or below it.
func (a *assay) calibration() abi.CriterionOpinion {
	o := abi.CriterionOpinion{CitedEvidence: []string{}, RelevanceConfidence: 0.5}
	stated := reading.Stated(&a.request.Opinion, a.statements)
	if !stated.Stated {
		o.NumericScore, o.Argument = 2, "The opinion does not say how sure it is."
		if stated.Unreadable != "" {
			o.Argument = "The opinion states a confidence that is none: \"" + reading.Snippet(stated.Unreadable) + "\"."
		}
		return o
	}
	said := "The opinion states " + text.Share(stated.Value)
	if stated.Words {
		said += ", in words"
	}
	if borne, labelled := a.conclusion(); labelled {
		o.NumericScore = nearness(stated.Value - borne)
		o.RelevanceConfidence = sure(len(a.file.Items))
		o.Argument = said + ", and the items that speak for its conclusion are " + text.Share(borne) + "."
	} else {
		o.NumericScore, o.Argument = a.headroom(stated.Value)
		o.Argument = said + "; " + o.Argument
	}
	a.metadata(&stated, &o)
	return o
}

// metadata scores against what they and the text contradict each other in.
func (a *assay) metadata(stated *reading.Confidence, o *abi.CriterionOpinion) {
	const contradicted, unsaid, unreadable = 2, 3, 4
	if stated.Otherwise != nil {
		o.NumericScore = min(o.NumericScore, contradicted)
		o.Argument += " Its text states " + text.Share(*stated.Otherwise) + ", its metadata " + text.Share(stated.Value) + ": they contradict each other."
	}
	if stated.Unreadable != "" {
		o.NumericScore = min(o.NumericScore, unreadable)
		o.Argument += " Another value is none: \"" + reading.Snippet(stated.Unreadable) + "\"."
	}
	if label := a.request.Opinion.Metadata[reading.KeyClassification]; label != "" && !reading.SaysLabel(a.request.Opinion.Text, label) {
		o.NumericScore = min(o.NumericScore, unsaid)
		o.Argument += " Its metadata conclude \"" + reading.Snippet(label) + "\", of which its text does not speak."
	}
}

// nearness scores a confidence that is so far beyond what is borne out. Too little is
// half as bad as too much.
func nearness(beyond float64) int {
	if beyond < 0 {
		beyond /= -2
	}
	return grade(1-beyond, 0.45, 0.65, 0.8, 0.9)
}

// headroom scores a confidence where no item speaks for a conclusion. How much of an
// opinion is traced is no probability; it only bounds how sure one can be: with nothing
// that is traced of no more than an even guess, with what is made up of less. Less sure
// than that is no fault, but for an opinion of which nearly all stands.
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
	switch beyond := stated - most; {
	case beyond > 0.35:
		return 1, argument
	case beyond > 0.2:
		return 2, argument
	case beyond > 0.1:
		return 3, argument
	case beyond > 0.02+slack:
		return 4, argument
	case share >= much && stated < even:
		return 4, argument + " It is guarded for that."
	default:
		return 5, argument
	}
}

// conclusion is the share of the conclusion in what the items state, each label
// counted in with half an item; false where no item speaks for a label.
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
