package main

import (
	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/plugins/internal/params"
	"github.com/shadowcourt/shadowcourt/plugins/internal/text"
)

// The bounds of the Light path, as its graph states them.
const (
	recallConfidence    = 0.80 // from here on an earlier case stands for this one
	uncertainConfidence = 0.40 // below it an earlier case is no match
	convergence         = 0.70 // from here on the investigation is done
	duplicateConfidence = 0.80
)

// lightRuleOf returns the rule of an evaluator of the Light path.
func lightRuleOf(evaluator string) (rule, bool) {
	switch evaluator {
	case "H1":
		return ofRecall(recallHit), true
	case "H2":
		return ofRecall(recallMiss), true
	case "H3":
		return ofRecall(recallUncertain), true
	case "H4":
		return symptom(abi.SymptomInfrastructure), true
	case "H5":
		return symptom(abi.SymptomFlake), true
	case "H6":
		return ofTriage(needsResolving), true
	case "H7":
		return ofTriage(oneCandidate), true
	case "H18":
		return ofTriage(skipsInvestigation), true
	case "H8":
		return resolved, true
	case "H9", "H10", "H10a", "H11":
		return ofInvestigation(evaluator), true
	case "H12":
		return reviewed(abi.Approve), true
	case "H13":
		return reassessed, true
	case "H14":
		return reviewed(abi.Overturn), true
	case "H15":
		return ofCorrelation(isDuplicate), true
	case "H15b":
		return ofCorrelation(isNoDuplicate), true
	case "H16":
		return reported, true
	}
	return nil, false
}

func ofRecall(decide func(*facts, *abi.RecallResult) (bool, string)) rule {
	return func(f *facts) (bool, string) {
		if f.artifact.Recall == nil {
			return false, "there is no answer of recall"
		}
		return decide(f, f.artifact.Recall)
	}
}

func recallHit(f *facts, v *abi.RecallResult) (bool, string) {
	if !v.Match {
		return false, "no earlier case matches"
	}
	least := params.Number(f.params, minConfidence, recallConfidence)
	return compare("a match at "+text.Number(v.Confidence), v.Confidence >= least, text.Number(least))
}

func recallUncertain(f *facts, v *abi.RecallResult) (bool, string) {
	if !v.Match {
		return false, "no earlier case matches"
	}
	least := params.Number(f.params, minConfidence, uncertainConfidence)
	most := params.Number(f.params, maxConfidence, recallConfidence)
	match := "a match at " + text.Number(v.Confidence)
	if v.Confidence >= most {
		return false, match + " is certain: it reaches " + text.Number(most)
	}
	return compare(match, v.Confidence >= least, text.Number(least))
}

func recallMiss(f *facts, v *abi.RecallResult) (bool, string) {
	if !v.Match {
		return true, "no earlier case matches"
	}
	least := params.Number(f.params, minConfidence, uncertainConfidence)
	reaches, why := compare("a match at "+text.Number(v.Confidence), v.Confidence >= least, text.Number(least))
	return !reaches, why
}

func ofTriage(decide func(*abi.TriageResult) (bool, string)) rule {
	return func(f *facts) (bool, string) {
		if f.artifact.Triage == nil {
			return false, "there is no answer of triage"
		}
		return decide(f.artifact.Triage)
	}
}

func symptom(category abi.SymptomCategory) rule {
	return ofTriage(func(v *abi.TriageResult) (bool, string) {
		return v.SymptomCategory == category, "the symptom is " + string(v.SymptomCategory)
	})
}

func skipsInvestigation(v *abi.TriageResult) (bool, string) {
	return yesNo(v.SkipInvestigation, "triage asks to skip the investigation", "triage asks for an investigation")
}

func oneCandidate(v *abi.TriageResult) (bool, string) {
	return len(v.Candidates) == 1, "triage names " + text.Count(len(v.Candidates), "candidate")
}

// needsResolving is what the other edges of triage leave.
func needsResolving(v *abi.TriageResult) (bool, string) {
	switch {
	case v.SymptomCategory == abi.SymptomInfrastructure, v.SymptomCategory == abi.SymptomFlake:
		return false, "the symptom is " + string(v.SymptomCategory)
	case v.SkipInvestigation:
		return false, "triage asks to skip the investigation"
	}
	one, why := oneCandidate(v)
	return !one, why
}

func resolved(f *facts) (bool, string) {
	if f.artifact.Resolve == nil {
		return false, "there is no answer of resolve"
	}
	return true, "resolve selects " + text.Count(len(f.artifact.Resolve.Selected), "component")
}

// ofInvestigation tells the four ends of an investigation apart.
func ofInvestigation(evaluator string) rule {
	return func(f *facts) (bool, string) {
		v := f.artifact.Investigate
		if v == nil {
			return false, "there is no answer of the investigation"
		}
		least := params.Number(f.params, minConvergence, convergence)
		converged, why := compare("convergence "+text.Number(v.ConvergenceScore), v.ConvergenceScore >= least, text.Number(least))
		if converged || evaluator == "H9" {
			return evaluator == "H9" && converged, why
		}
		switch evaluator {
		case "H10a":
			return len(v.Evidence) == 0, why + ", with " + text.Count(len(v.Evidence), "item")
		case "H10":
			return f.loopsLeft > 0, why + ", with " + text.Count(f.loopsLeft, "loop") + " left"
		default:
			return f.loopsLeft == 0, why + ", with " + text.Count(f.loopsLeft, "loop") + " left"
		}
	}
}

func ofCorrelation(decide func(*abi.CorrelateResult, float64) (bool, string)) rule {
	return func(f *facts) (bool, string) {
		if f.artifact.Correlate == nil {
			return false, "there is no answer of correlate"
		}
		return decide(f.artifact.Correlate, params.Number(f.params, minConfidence, duplicateConfidence))
	}
}

func isDuplicate(v *abi.CorrelateResult, least float64) (bool, string) {
	if !v.IsDuplicate {
		return false, "it repeats no earlier case"
	}
	return compare("a duplicate at "+text.Number(v.Confidence), v.Confidence >= least, text.Number(least))
}

func isNoDuplicate(v *abi.CorrelateResult, least float64) (bool, string) {
	is, why := isDuplicate(v, least)
	return !is, why
}

func reviewed(d abi.ReviewOutcome) rule {
	return func(f *facts) (bool, string) {
		if f.artifact.Review == nil {
			return false, "there is no review"
		}
		return f.artifact.Review.Decision == d, "the review decides " + string(f.artifact.Review.Decision)
	}
}

func reassessed(f *facts) (bool, string) {
	if fires, why := reviewed(abi.Reassess)(f); !fires {
		return false, why
	}
	return f.loopsLeft > 0, "the review wants it reassessed, with " + text.Count(f.loopsLeft, "loop") + " left"
}

func reported(f *facts) (bool, string) {
	return yesNo(f.artifact.Report != nil, "the report is there", "there is no report")
}
