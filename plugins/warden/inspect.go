package main

import (
	"math"
	"slices"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/plugins/internal/reading"
	"github.com/shadowcourt/shadowcourt/plugins/internal/steering"
	"github.com/shadowcourt/shadowcourt/plugins/internal/text"
)

const (
	// maxShown is how many breaches the argument tells of, maxCited how many items are cited.
	maxShown, maxCited = 5, 32
	// maxBytes of all texts are read: some seconds of fuel.
	maxBytes = 4 << 20
	// tampered is about the probability that an item was tampered with which
	// claims a document that does not have it. It is no breach alone: a source that
	// quotes from memory does it too.
	tampered = 0.3
)

// inspect reads the opinion and all evidence for breaches.
func inspect(opinion *abi.JudicialOpinion, evidence []abi.Evidence) abi.CriterionOpinion {
	o := abi.CriterionOpinion{CitedEvidence: []string{}}
	var told []string
	worst, left := 0.0, maxBytes
	look := func(where, content string) bool {
		content = content[:min(len(content), left)]
		left -= len(content)
		found := steering.Detect(content)
		worst = max(worst, found.Probability)
		if found.Probability < steering.Breach {
			return false
		}
		if len(told) < maxShown {
			told = append(told, reading.Snippet(where)+": "+strings.Join(found.Kinds, ", ")+quoted(found.Passage))
		}
		return true
	}
	breach := look("the opinion", opinion.Text)
	absent := 0
	for i := range evidence {
		e := &evidence[i]
		if name, _, _ := strings.Cut(e.SourceRef, ":"); name == "opinion" || name == "dissent" {
			continue // it was read before, or is another judge's
		}
		if strings.HasPrefix(e.SourceRef, "forensics:") {
			if strings.HasPrefix(e.Content, "absent") {
				absent++
			}
			continue
		}
		if look(e.SourceRef, e.Content) {
			breach = true
			if !slices.Contains(o.CitedEvidence, e.SourceRef) && len(o.CitedEvidence) < maxCited {
				o.CitedEvidence = append(o.CitedEvidence, e.SourceRef)
			}
		}
	}
	if absent > 0 {
		worst = max(worst, tampered)
		told = append(told, text.Count(absent, "item")+" claim a document that does not have them")
	}
	// Sure of what it finds, less so of what it does not.
	o.RelevanceConfidence = max(worst, 0.6)
	o.SecurityViolationFound = breach
	o.NumericScore = 5 - int(math.Ceil(4*worst))
	if breach {
		o.NumericScore = 1
	}
	o.Argument = "Nothing addresses the reader."
	if len(told) > 0 {
		o.Argument = strings.Join(told, "; ") + "."
	}
	return o
}

func quoted(passage string) string {
	if passage == "" {
		return ""
	}
	return " (\"" + reading.Snippet(passage) + "\")"
}
