// Command herald begins the Light path: it asks the casebook whether the failure is known, and sorts the symptom.
package main

import (
	"slices"
	"strconv"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/guest"
	"github.com/shadowcourt/shadowcourt/abi/guest/capability"
	"github.com/shadowcourt/shadowcourt/abi/guest/node"
	"github.com/shadowcourt/shadowcourt/abi/odds"
	"github.com/shadowcourt/shadowcourt/abi/sourcefile"
	"github.com/shadowcourt/shadowcourt/plugins/internal/inquiry"
	"github.com/shadowcourt/shadowcourt/plugins/internal/proceeding"
	"github.com/shadowcourt/shadowcourt/plugins/internal/text"
)

// maxPrior is how many earlier cases are asked for.
const maxPrior = 10

// nearShare is what a case that only looks alike is worth of one with the same fingerprint and the same similarity.
const nearShare = 0.8

// mostDecided is what a verdict that nobody confirmed is worth at most: too little to go by it alone, so that the failure is investigated
// again and a diff that says otherwise is heard.
const mostDecided = 0.79

// recall says whether an earlier case has this one's cause. Of several with the same fingerprint all have a say: a failure that got
// different verdicts is known less surely.
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

// worthOf is the probability that the earlier case's classification is this one's, as far as that case alone tells.
func worthOf(p *abi.PriorCase) float64 {
	if p.Similarity >= 1 {
		return p.Confidence
	}
	return nearShare * p.Similarity * p.Confidence
}

// isRegression says whether a failure is back that was gone: runs of its suite went without it, or somebody noted its repair in the status.
// Flakes and infrastructure come and go by nature.
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

// The probabilities from which triage sorts a symptom, and from which it needs no investigation. An infrastructure symptom or a flake skips
// the investigation, and so counts as one only from there on.
const (
	minCategory = 0.45
	minSkip     = 0.85
)

const maxCandidates = 16

// triage sorts the symptom by what a first look shows.
func triage(r *abi.NodeRequest) *abi.TriageResult {
	clues := inquiry.Read(r, nil)
	estimate := clues.Weigh(r, inquiry.First, nil)
	roles := inquiry.RolesOf(r)
	label, p := estimate.Top("")
	skip := proceeding.NumberParam(r.Params, "min_skip", minSkip)
	v := &abi.TriageResult{
		SymptomCategory: abi.SymptomUnknown, Severity: abi.GapMedium,
		Candidates:         candidates(clues),
		ClockSkewSuspected: clockSkew(r.Case.Documents),
		CascadeSuspected:   cascade(r.Case.Documents),
	}
	if !estimate.Thin() {
		v.ClassificationHypothesis = label
		v.SkipInvestigation = p >= skip
		least := proceeding.NumberParam(r.Params, "min_category", minCategory)
		if category := roles.Category(label); p >= skip || p >= least && (category == abi.SymptomProduct || category == abi.SymptomAutomation) {
			v.SymptomCategory = category
		}
	}
	v.Severity = severity(v, clues)
	return v
}

// severity: a flake costs a rerun, what breaks many tests or the whole run costs everybody's time.
func severity(v *abi.TriageResult, clues *inquiry.Clues) abi.GapSeverity {
	if v.SymptomCategory == abi.SymptomFlake {
		return abi.GapLow
	}
	for _, clue := range clues.Upto(inquiry.First) {
		if clue.Kind == inquiry.Crash || clue.Kind == inquiry.Broken {
			return abi.GapHigh
		}
	}
	if v.CascadeSuspected || v.SymptomCategory == abi.SymptomInfrastructure {
		return abi.GapHigh
	}
	return abi.GapMedium
}

// candidates are the files of the module that the log names: those of the product, or without any those of the tests.
func candidates(clues *inquiry.Clues) []string {
	product, tests := []string{}, []string{}
	for _, clue := range clues.Upto(inquiry.Deepest) {
		path := clue.Place.Path
		if path == "" || sourcefile.Foreign(path) {
			continue
		}
		list := &tests
		if sourcefile.KindOf(path) == abi.SourceProduct {
			list = &product
		}
		known := slices.ContainsFunc(*list, func(other string) bool { return sourcefile.Same(other, path) })
		if !known && len(*list) < maxCandidates {
			*list = append(*list, path)
		}
	}
	if len(product) > 0 {
		return product
	}
	return tests
}

// skewPhrases are what programs say when clocks disagree.
func skewPhrases() []string {
	return []string{
		"clock skew", "not yet valid", "is in the future", "clock went backwards", "clock moved backwards",
		"time is not synchronized", "token used before issued", "signature not yet current",
	}
}

func clockSkew(documents []abi.Document) bool {
	found := false
	finder := odds.FindPhrases(skewPhrases())
	for i := range documents {
		finder.Scan(documents[i].Text, func(_, _, _ int) { found = true })
	}
	return found
}

// leastCascade is how many tests fail alike in a cascade.
const leastCascade = 3

// cascade says whether many tests of one log fail alike: at least three are named as failed, and one line, but for figures, stands after at
// least three of these names.
func cascade(documents []abi.Document) bool {
	for i := range documents {
		failed := 0
		under := make(map[string]int) // the last failed test under which a line stood
		times := make(map[string]int)
		for line := range strings.SplitSeq(documents[i].Text, "\n") {
			if strings.HasPrefix(strings.TrimLeft(line, " \t"), "--- FAIL") || strings.HasPrefix(line, "FAILED ") || strings.HasPrefix(line, "not ok ") {
				failed++
				continue
			}
			if failed == 0 || text.Blank(line) {
				continue
			}
			key := strings.Join(text.Substance(line), "\n")
			if len(key) >= 24 && under[key] != failed {
				under[key] = failed
				times[key]++
				if times[key] >= leastCascade {
					return true
				}
			}
		}
	}
	return false
}
