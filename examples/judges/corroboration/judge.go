package main

import (
	"slices"
	"strconv"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/odds"
)

// enough is how many sources have to say the same.
const enough = 2

// judge counts the sources for each label. The one with the most stands, if they are enough and more than any other's; the charge goes
// before others with as many. The confidence is the share of all that a label's sources are, one more for each label counted in, so that
// two of two are no certainty.
func judge(r *abi.NodeRequest) *abi.Verdict {
	charge := r.Indictment.ChargedDefectType
	count, who, total := tally(r), sources(r), 0
	best, level := charge, false
	for _, label := range r.Case.Labels {
		total += count[label]
		switch {
		case label != best && count[label] > count[best]:
			best, level = label, false
		case label != best && count[label] == count[best]:
			level = true
		}
	}
	confidence := float64(count[best]+1) / float64(total+len(r.Case.Labels))
	said := best + " has " + strconv.Itoa(count[best]) + " of " + strconv.Itoa(total) + " sources"
	if len(who[best]) > 0 {
		said += " (" + strings.Join(who[best], ", ") + ")"
	}
	switch {
	case count[best] < enough || level && best != charge:
		return &abi.Verdict{Decision: abi.Acquit, Confidence: confidence, Reasoning: said + "; " + strconv.Itoa(enough) + " that agree, and more than for any other label, are needed."}
	case best == charge:
		return &abi.Verdict{Decision: abi.Affirm, FinalClassification: charge, Confidence: confidence, Reasoning: said + "."}
	default:
		return &abi.Verdict{Decision: abi.Amend, FinalClassification: best, Confidence: confidence, Reasoning: said + ", and the charge " + charge + " has " + strconv.Itoa(count[charge]) + "."}
	}
}

func tally(r *abi.NodeRequest) map[string]int {
	count := map[string]int{}
	for label, names := range sources(r) {
		count[label] = len(names)
	}
	return count
}

// sources are those that speak for each label, in the order in which they stand. The documents that the forensic expert read are sources as
// well. An item that was challenged fatally says nothing.
func sources(r *abi.NodeRequest) map[string][]string {
	struck := map[int]bool{}
	strike := func(challenges []abi.Challenge) {
		for _, c := range challenges {
			if c.Severity == abi.Fatal {
				struck[c.EvidenceIndex] = true
			}
		}
	}
	strike(r.Contested)
	if r.DefenseBrief != nil {
		strike(r.DefenseBrief.Challenges)
	}
	if r.Hearing != nil {
		for _, round := range r.Hearing.Rounds {
			strike(round.NewChallenges)
		}
	}
	names := map[string][]string{}
	add := func(label, source string) {
		if label != "" && !slices.Contains(names[label], source) {
			names[label] = append(names[label], source)
		}
	}
	for i, item := range r.Indictment.Evidence {
		if !struck[i] {
			add(item.Supports, odds.SourceKey(item.SourceRef))
		}
	}
	if r.Discovery != nil {
		for _, f := range r.Discovery.Findings {
			add(f.Supports, odds.SourceKey(f.Document))
		}
	}
	return names
}
