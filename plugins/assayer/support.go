package main

import (
	"slices"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/plugins/internal/reading"
	"github.com/shadowcourt/shadowcourt/plugins/internal/text"
)

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
