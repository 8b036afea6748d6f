// Command assayer is a judge of an audit: it traces claims to the evidence, and checks the confidence against it.
package main

import (
	"math"
	"slices"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/guest/judge"
	"github.com/shadowcourt/shadowcourt/plugins/internal/reading"
	"github.com/shadowcourt/shadowcourt/plugins/internal/text"
)

func init() { judge.Handle(score) }

func main() {}

func score(r *abi.JudgeRequest) ([]abi.CriterionOpinion, *abi.Failure) {
	return reading.Judge("the assayer", r, func(r *abi.JudgeRequest) func(string) (abi.CriterionOpinion, bool) { return newAssay(r).judge })
}

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

// tally is what became of the claims.
type tally struct {
	stands, partly    int
	quotations        int      // that are more than names
	madeUp            []string // of these, that stand nowhere
	differs           []string // claims with a figure that the evidence has otherwise
	forged            []string // items relied on that stand in no document
	unfound, dangling []string
	loose             []string // claims that rest on nothing
}

func (a *assay) tally() tally {
	var t tally
	for i := range a.claims {
		c := &a.claims[i]
		for j := range c.Claim.Quotations {
			if !c.Claim.Quotations[j].Name {
				t.quotations++
			}
		}
		t.madeUp = append(t.madeUp, c.MadeUp...)
		switch {
		case c.Differs != "":
			t.differs = append(t.differs, c.Differs+" in \""+reading.Snippet(c.Claim.Text)+"\"")
		case c.Forged:
			t.forged = append(t.forged, c.Item.SourceRef)
		case c.Weight == 1:
			t.stands++
		case c.Weight > 0:
			t.partly++
		case len(c.MadeUp) == 0:
			t.loose = append(t.loose, c.Claim.Text)
		}
		if c.Unfound != "" {
			t.unfound = append(t.unfound, c.Unfound)
		}
		if c.Dangling != "" {
			t.dangling = append(t.dangling, c.Dangling)
		}
	}
	return t
}

// share of the claims that the evidence bears out, from 0 to 1. That an item is forged is a claim, too, and the documents bear it out.
func (a *assay) share() float64 {
	sum := float64(len(a.exposed))
	for i := range a.claims {
		sum += a.claims[i].Weight
	}
	return sum / float64(max(1, len(a.claims)+len(a.exposed)))
}

// support scores the share of the claims that are traced to items that stand. What is made up or contradicted is worse than what rests on
// nothing: it bounds the score, whatever else is true. The more claims, the surer.
func (a *assay) support() abi.CriterionOpinion {
	all := len(a.claims) + len(a.exposed)
	o := abi.CriterionOpinion{CitedEvidence: a.cited(), RelevanceConfidence: sure(all)}
	switch {
	case all == 0 && a.file.AcquitsForWant(&a.request.Opinion):
		o.NumericScore, o.RelevanceConfidence = 3, 0.3
		o.Argument = "There is no evidence, and the opinion acquits and claims nothing that would need any."
	case all == 0:
		o.NumericScore, o.Argument = 1, "The opinion makes no claim that could be traced."
	default:
		t := a.tally()
		o.NumericScore = min(reading.Grade(a.share(), 0.25, 0.5, 0.7, 0.9), t.bound(all))
		o.Argument = a.tell(&t)
	}
	return o
}

// bound is the highest score for what was found: 2 for a made-up quotation, 1 if half of them are; 3 for a contradicted figure, a forged
// item or a line that is not there, 2 if they are a third of the claims.
func (t *tally) bound(claims int) int {
	wrong := len(t.differs) + len(t.forged) + len(t.dangling)
	switch {
	case 2*len(t.madeUp) >= t.quotations && t.quotations > 0:
		return 1
	case len(t.madeUp) > 0 || 3*wrong >= claims:
		return 2
	case wrong > 0:
		return 3
	default:
		return 5
	}
}

// maxNamed of a kind are named.
const maxNamed = 3

func (a *assay) tell(t *tally) string {
	parts := []string{text.Of(t.stands, len(a.claims), "claim", "rests", "rest") + " on an item that stands"}
	add := func(list []string, one, more string, quoted bool) {
		if len(list) == 0 {
			return
		}
		var shown []string
		for _, s := range list[:min(len(list), maxNamed)] {
			if quoted {
				s = "\"" + reading.Snippet(s) + "\""
			}
			shown = append(shown, s)
		}
		if len(list) > maxNamed {
			shown = append(shown, text.Int(len(list)-maxNamed)+" more")
		}
		parts = append(parts, text.Int(len(list))+" "+text.Agree(len(list), one, more)+": "+strings.Join(shown, ", "))
	}
	if t.partly > 0 {
		parts = append(parts, text.Int(t.partly)+text.Agree(t.partly, " is", " are")+" borne out in part")
	}
	add(t.madeUp, "quotation stands nowhere in the evidence", "quotations stand nowhere in the evidence", true)
	add(t.differs, "claim has a figure that its item has otherwise", "claims have figures that their items have otherwise", false)
	add(unique(t.forged), "item that it relies on stands in no document", "items that it relies on stand in no document", false)
	add(unique(t.dangling), "line that it names is not in the evidence", "lines that it names are not in the evidence", false)
	add(unique(t.unfound), "figure is in none of the lines looked at", "figures are in none of the lines looked at", false)
	add(t.loose, "rests on nothing", "rest on nothing", true)
	refs := []string{}
	for _, item := range a.exposed {
		refs = append(refs, item.SourceRef)
	}
	add(unique(refs), "item of the case that stands in no document is exposed as such", "items of the case that stand in no document are exposed as such", false)
	return strings.Join(parts, "; ") + "."
}

// unique keeps the first of equal texts.
func unique(list []string) []string {
	var kept []string
	for _, s := range list {
		if !slices.Contains(kept, s) {
			kept = append(kept, s)
		}
	}
	return kept
}

// maxCited bounds what an opinion cites.
const maxCited = 32

// cited are the items that claims rest on and that stand, each once.
func (a *assay) cited() []string {
	refs := []string{}
	for i := range a.claims {
		if item := a.claims[i].Item; item != nil && item.Standing != reading.Absent && !slices.Contains(refs, item.SourceRef) && len(refs) < maxCited {
			refs = append(refs, item.SourceRef)
		}
	}
	return refs
}
