// Command herald begins the Light path: it asks the casebook whether the failure is known, and sorts the symptom.
package main

import (
	"slices"
	"strconv"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/guest"
	"github.com/shadowcourt/shadowcourt/abi/guest/capability"
	"github.com/shadowcourt/shadowcourt/abi/guest/node"
	"github.com/shadowcourt/shadowcourt/plugins/internal/inquiry"
	"github.com/shadowcourt/shadowcourt/plugins/internal/text"
)

// maxPrior is how many earlier cases are asked for.
const maxPrior = 10

// nearShare is what a case that only looks alike is worth of one with the same
// fingerprint and the same similarity.
const nearShare = 0.8

// mostDecided is what a verdict that nobody confirmed is worth at most: too little
// to go by it alone, so that the failure is investigated again and a diff that
// says otherwise is heard.
const mostDecided = 0.79

// recall says whether an earlier case has this one's cause. Of several with
// the same fingerprint all have a say: a failure that got different verdicts is
// known less surely.
func recall(r *abi.NodeRequest, prior []abi.PriorCase) *abi.RecallResult {
	votes := make(map[string]float64)
	total := 0.0
	best, worth := -1, 0.0
	for i := range prior {
		p := &prior[i]
		if !slices.Contains(r.Case.Labels, p.Classification) {
			continue
		}
		w := worthOf(p)
		votes[p.Classification] += w
		total += w
		if w > worth {
			best, worth = i, w
		}
	}
	if best < 0 {
		return &abi.RecallResult{Reasoning: unknown(len(prior))}
	}
	p := &prior[best]
	share := votes[p.Classification] / total
	confidence := worth * share
	if !p.Confirmed {
		confidence = min(confidence, mostDecided)
	}
	return &abi.RecallResult{
		Match: true, PriorCase: p.CaseID, Classification: p.Classification, Confidence: confidence,
		Reasoning:    why(p, share),
		IsRegression: isRegression(p, inquiry.RolesOf(r)),
		Confirmed:    p.Confirmed,
	}
}

// worthOf is the probability that the earlier case's classification is this
// one's, as far as that case alone tells.
func worthOf(p *abi.PriorCase) float64 {
	if p.Similarity >= 1 {
		return p.Confidence
	}
	return nearShare * p.Similarity * p.Confidence
}

// isRegression says whether a failure is back that was gone: runs of its suite
// went without it, or somebody noted its repair in the status. Flakes and
// infrastructure come and go by nature.
func isRegression(p *abi.PriorCase, roles inquiry.Roles) bool {
	back := p.Absent > 0 || p.Status == "fixed" || p.Status == "resolved"
	return back && p.Similarity >= 1 && p.Classification != roles.Flake && p.Classification != roles.Infrastructure
}

func unknown(n int) string {
	if n == 0 {
		return "The casebook knows no case like this."
	}
	return "The casebook knows " + text.Count(n, "case") + " like this, none with a verdict that names a label of this case."
}

func why(p *abi.PriorCase, share float64) string {
	looks := "It has the fingerprint of " + strconv.Quote(p.CaseID)
	if p.Similarity < 1 {
		looks = "It looks like " + strconv.Quote(p.CaseID) + " (similarity " + text.Share(p.Similarity) + ")"
	}
	out := looks + ", which was " + p.Status + " as " + p.Classification + "; seen " + text.Count(p.Seen, "time") + "."
	if p.Absent > 0 {
		out += " It was gone for " + text.Count(p.Absent, "run") + " of its suite."
	}
	if share < 1 {
		out += " Cases like it got other classifications, too."
	}
	return out
}

func init() { node.Handle(herald{capability.Recall}.play) }

func main() {}

// herald plays recall and triage. recall asks the casebook.
type herald struct {
	recall func(abi.RecallQuery) ([]abi.PriorCase, *abi.Failure)
}

func (h herald) play(r *abi.NodeRequest) (*abi.Artifact, *abi.Failure) {
	if len(r.Case.Labels) == 0 {
		return nil, guest.Fail("incomplete_request", "the case has no labels")
	}
	switch r.Family {
	case abi.FamilyRecall:
		prior, failure := h.recall(abi.RecallQuery{Limit: maxPrior})
		if failure != nil {
			return nil, failure
		}
		return &abi.Artifact{Recall: recall(r, prior)}, nil
	case abi.FamilyTriage:
		return &abi.Artifact{Triage: triage(r)}, nil
	default:
		return nil, guest.Fail(guest.WrongFamily, "the herald doesn't play "+string(r.Family))
	}
}
