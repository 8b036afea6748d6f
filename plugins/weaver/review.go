package main

import (
	"cmp"
	"slices"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/plugins/internal/inquiry"
	"github.com/shadowcourt/shadowcourt/plugins/internal/params"
	"github.com/shadowcourt/shadowcourt/plugins/internal/text"
)

// minUninvestigated is the probability from which a conclusion may stand that
// nobody investigated.
const minUninvestigated = 0.75

// review checks what was concluded against everything that is known now. It
// wants a reassessment, while the traversal may still go back, of a conclusion that
// was reached without an investigation and is doubtful, and of one that the evidence
// contradicts; when it may not, the more probable label overturns it.
func review(r *abi.NodeRequest) *abi.ReviewDecision {
	estimate := synthesis(r, inquiry.Read(r, nil))
	standing := concluded(r)
	top, p := estimate.Top(standing)
	loops := r.File != nil && r.File.LoopsLeft > 0
	investigated := r.File != nil && r.File.Investigate != nil
	least := params.Number(r.Params, "min_uninvestigated", minUninvestigated)
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

// synthesis estimates the labels from all that is known, which is what the
// investigation has read so far.
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

// grounds quotes the lines that speak most for a label, where an investigation
// did not and they were not told before: those that the clues point to, and the
// case's own items.
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
