package main

import (
	"slices"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/odds"
	"github.com/shadowcourt/shadowcourt/abi/sourcefile"
	"github.com/shadowcourt/shadowcourt/plugins/internal/inquiry"
	"github.com/shadowcourt/shadowcourt/plugins/internal/params"
	"github.com/shadowcourt/shadowcourt/plugins/internal/text"
)

// The probabilities from which triage sorts a symptom, and from which it needs
// no investigation. An infrastructure symptom or a flake skips the
// investigation, and so counts as one only from there on.
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
	skip := params.Number(r.Params, "min_skip", minSkip)
	v := &abi.TriageResult{
		SymptomCategory: abi.SymptomUnknown, Severity: abi.GapMedium,
		Candidates:         candidates(clues),
		ClockSkewSuspected: clockSkew(r.Case.Documents),
		CascadeSuspected:   cascade(r.Case.Documents),
	}
	if !estimate.Thin() {
		v.ClassificationHypothesis = label
		v.SkipInvestigation = p >= skip
		least := params.Number(r.Params, "min_category", minCategory)
		if category := roles.Category(label); p >= skip || p >= least && (category == abi.SymptomProduct || category == abi.SymptomAutomation) {
			v.SymptomCategory = category
		}
	}
	v.Severity = severity(v, clues)
	return v
}

// severity: a flake costs a rerun, what breaks many tests or the whole run
// costs everybody's time.
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

// candidates are the files of the module that the log names: those of the
// product, or without any those of the tests.
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

// cascade says whether many tests of one log fail alike: at least three are
// named as failed, and one line, but for figures, stands after at least three
// of these names.
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
