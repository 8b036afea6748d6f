package main

import (
	"slices"
	"strconv"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/plugins/internal/params"
	"github.com/shadowcourt/shadowcourt/plugins/internal/text"
)

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

// correlate says whether the failure repeats an earlier case: one that reads
// alike and got a verdict that names a label. What the investigation concludes
// otherwise makes it no duplicate, since two causes can look alike; the case is
// linked all the same.
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
	case p.Similarity < params.Number(r.Params, "min_similarity", minSimilarity):
		v.Reasoning += " That is not alike enough for a duplicate."
	case found != "" && found != p.Classification:
		v.Reasoning += " The investigation found " + found + "."
	default:
		v.IsDuplicate = true
	}
	return v
}
