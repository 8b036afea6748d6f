// Command weaver concludes the Light path: it correlates the failure with earlier cases, reviews the conclusion, and reports it.
package main

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/guest"
	"github.com/shadowcourt/shadowcourt/abi/guest/capability"
	"github.com/shadowcourt/shadowcourt/abi/guest/node"
	"github.com/shadowcourt/shadowcourt/plugins/internal/inquiry"
	"github.com/shadowcourt/shadowcourt/plugins/internal/proceeding"
	"github.com/shadowcourt/shadowcourt/plugins/internal/text"
)

func init() { node.Handle(weaver{capability.Correlate}.play) }

func main() {}

// weaver plays correlate, review and report. correlate searches the casebook.
type weaver struct {
	correlate func(abi.CorrelateQuery) ([]abi.PriorCase, *abi.Failure)
}

func (w weaver) play(r *abi.NodeRequest) (*abi.Artifact, *abi.Failure) {
	if len(r.Case.Labels) == 0 {
		return nil, guest.Fail("incomplete_request", "the case has no labels")
	}
	switch r.Family {
	case abi.FamilyCorrelate:
		prior, failure := w.correlate(abi.CorrelateQuery{Text: query(r), Limit: maxPrior})
		if failure != nil {
			return nil, failure
		}
		return &abi.Artifact{Correlate: correlate(r, prior)}, nil
	case abi.FamilyReview:
		return &abi.Artifact{Review: review(r)}, nil
	case abi.FamilyReport:
		return &abi.Artifact{Report: report(r)}, nil
	default:
		return nil, guest.Fail(guest.WrongFamily, "the weaver doesn't play "+string(r.Family))
	}
}

// maxPrior is how many earlier cases are searched for.
const maxPrior = 10

// minSimilarity is from where a case that reads alike counts as the same failure.
const minSimilarity = 0.9

// maxQueryBytes bounds the text that is searched for.
const maxQueryBytes = 8 << 10

// query is what the investigation found, in the documents' own words.
func query(r *abi.NodeRequest) string {
	var b strings.Builder
	b.WriteString(r.Case.Subject)
	if r.File != nil && r.File.Investigate != nil {
		b.WriteString("\n" + r.File.Investigate.Summary)
		for i := range r.File.Investigate.Evidence {
			if b.Len() < maxQueryBytes {
				b.WriteString("\n" + r.File.Investigate.Evidence[i].Content)
			}
		}
	}
	s := b.String()
	return strings.ToValidUTF8(s[:min(len(s), maxQueryBytes)], "")
}

// correlate says whether the failure repeats an earlier case: one that reads alike and got a verdict that names a label. What the
// investigation concludes otherwise makes it no duplicate, since two causes can look alike; the case is linked all the same.
func correlate(r *abi.NodeRequest, prior []abi.PriorCase) *abi.CorrelateResult {
	best, worth := -1, 0.0
	votes := make(map[string]float64)
	total := 0.0
	for i := range prior {
		p := &prior[i]
		w := p.Similarity * p.Confidence
		if !slices.Contains(r.Case.Labels, p.Classification) || w <= 0 {
			continue
		}
		votes[p.Classification] += w
		total += w
		if w > worth {
			best, worth = i, w
		}
	}
	if best < 0 {
		return &abi.CorrelateResult{Reasoning: "No earlier case with a verdict on these labels reads like this one."}
	}
	p := &prior[best]
	v := &abi.CorrelateResult{
		LinkedCase: p.CaseID, Classification: p.Classification, Confidence: worth * votes[p.Classification] / total,
		Confirmed: p.Confirmed,
		Reasoning: "It reads like " + strconv.Quote(p.CaseID) + " (similarity " + text.Share(p.Similarity) + "), which was " + p.Status +
			" as " + p.Classification + "; seen " + text.Count(p.Seen, "time") + ".",
	}
	found := ""
	if r.File != nil && r.File.Investigate != nil {
		found = r.File.Investigate.Classification
	}
	switch {
	case p.Similarity < proceeding.NumberParam(r.Params, "min_similarity", minSimilarity):
		v.Reasoning += " That is not alike enough for a duplicate."
	case found != "" && found != p.Classification:
		v.Reasoning += " The investigation found " + found + "."
	default:
		v.IsDuplicate = true
	}
	return v
}

// minUninvestigated is the probability from which a conclusion may stand that nobody investigated.
const minUninvestigated = 0.75

// review checks what was concluded against everything that is known now. It wants a reassessment, while the traversal may still go back, of
// a conclusion that was reached without an investigation and is doubtful, and of one that the evidence contradicts; when it may not, the
// more probable label overturns it.
func review(r *abi.NodeRequest) *abi.ReviewDecision {
	estimate := synthesis(r, inquiry.Read(r, nil))
	standing := concluded(r)
	top, p := estimate.Top(standing)
	loops := r.File != nil && r.File.LoopsLeft > 0
	investigated := r.File != nil && r.File.Investigate != nil
	least := proceeding.NumberParam(r.Params, "min_uninvestigated", minUninvestigated)
	switch {
	case loops && !investigated && (top != standing || p < least):
		return reassess(estimate.Of(standing))
	case top == standing || standing == "":
		return &abi.ReviewDecision{Decision: abi.Approve, Confidence: p}
	case loops:
		return reassess(estimate.Of(standing))
	default:
		return &abi.ReviewDecision{Decision: abi.Overturn, Confidence: p}
	}
}

func reassess(p float64) *abi.ReviewDecision {
	return &abi.ReviewDecision{Decision: abi.Reassess, LoopTarget: "resolve", Confidence: p}
}

// synthesis estimates the labels from all that is known, which is what the investigation has read so far.
func synthesis(r *abi.NodeRequest, clues *inquiry.Clues) *inquiry.Estimate {
	return clues.Weigh(r, inquiry.DepthOf(r.File), inquiry.SourceFacts(r))
}

// concluded is what the path has come to, the latest first.
func concluded(r *abi.NodeRequest) string {
	f := r.File
	if f == nil {
		return ""
	}
	if f.Investigate != nil && f.Investigate.Classification != "" {
		return f.Investigate.Classification
	}
	if f.Triage != nil && f.Triage.ClassificationHypothesis != "" {
		return f.Triage.ClassificationHypothesis
	}
	if f.Recall != nil {
		return f.Recall.Classification
	}
	return ""
}

// maxGrounds is how many lines a report quotes.
const maxGrounds = 3

// grounds quotes the lines that speak most for a label, where an investigation did not and they were not told before: those that the clues
// point to, and the case's own items.
func grounds(r *abi.NodeRequest, clues *inquiry.Clues, label, told string) string {
	f := r.File
	if f == nil || f.Investigate != nil && slices.ContainsFunc(f.Investigate.Evidence, func(e abi.Evidence) bool { return e.Supports == label }) {
		return ""
	}
	var b strings.Builder
	for _, e := range foremost(append(clues.Items(inquiry.DepthOf(f)), r.Case.Evidence...), label) {
		line := strings.TrimSuffix(text.FirstLine(e.Content), ".")
		if strings.Contains(told, line) {
			continue
		}
		if b.Len() == 0 {
			b.WriteString(" For it:")
		}
		b.WriteString(" " + text.InLine(e.SourceRef) + ": " + line + ".")
	}
	return b.String()
}

// foremost are the items for a label that are surest of it; of those that differ in figures alone one is enough.
func foremost(items []abi.Evidence, label string) []abi.Evidence {
	var list []abi.Evidence
	said := map[string]bool{}
	for _, e := range items {
		substance := strings.Join(text.Substance(e.Content), "\n")
		if e.Supports == label && !said[substance] {
			said[substance], list = true, append(list, e)
		}
	}
	slices.SortStableFunc(list, func(a, b abi.Evidence) int { return cmp.Compare(b.RelevanceConfidence, a.RelevanceConfidence) })
	return list[:min(len(list), maxGrounds)]
}
