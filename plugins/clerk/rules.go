package main

import (
	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/plugins/internal/proceeding"
	"github.com/shadowcourt/shadowcourt/plugins/internal/text"
)

// The names of the parameters.
const (
	minConfidence  = "min_confidence"
	maxConfidence  = "max_confidence"
	minConvergence = "min_convergence"
)

// The bounds where the graph states none.
const (
	fastTrackConfidence = 0.95 // an indictment is sure enough to skip discovery
	recallConfidence    = 0.80 // from here on an earlier case stands for this one
	uncertainConfidence = 0.40 // below it an earlier case is no match
	convergence         = 0.70 // from here on the investigation is done
	duplicateConfidence = 0.80
)

// rule says whether an edge fires, and why, in one short sentence.
type rule struct {
	decide func(*facts) (fires bool, why string)
	params []string // that it knows
}

// rules are those of the evaluators. The conditions are those of the seed's graphs; the names are their edges'.
var rules = []struct {
	evaluator string
	rule      rule
}{
	// The court.
	{"HD1", rule{func(f *facts) (bool, string) {
		if f.artifact.Indictment == nil {
			return false, "there is no indictment"
		}
		return f.reaches("prosecution confidence", f.artifact.Indictment.Confidence, minConfidence, fastTrackConfidence)
	}, []string{minConfidence}}},
	{"HD2", brief(func(v *abi.DefenseBrief) (bool, string) {
		return yesNo(v.PleaDeal, "the defense concedes", "the defense does not concede")
	})},
	{"HD3", brief(func(v *abi.DefenseBrief) (bool, string) {
		return yesNo(v.MotionToDismiss, "the defense moves to dismiss", "the defense makes no motion to dismiss")
	})},
	{"HD4", brief(func(v *abi.DefenseBrief) (bool, string) {
		if v.AlternativeHypothesis == nil {
			return false, "the defense holds no alternative"
		}
		return true, "the defense proposes " + v.AlternativeHypothesis.Label + " in place of the charge"
	})},
	{"HD5", rule{decide: hearingComplete}},
	{"HD6", decided(abi.Affirm)},
	{"HD7", decided(abi.Amend)},
	{"HD8", ofVerdict(remand)},
	{"HD9", decided(abi.Acquit)},
	{"HD12", decided(abi.Mistrial)},
	{"HD10", rule{decide: func(f *facts) (bool, string) {
		return yesNo(f.limits.TTLExceeded, "the trial's time is over", "the trial's time is not over")
	}}},
	{"HD11", rule{decide: func(f *facts) (bool, string) {
		handoff, most := "handoff "+text.Int(f.limits.Handoffs), text.Int(f.limits.MaxHandoffs)
		return yesNo(f.limits.Handoffs > f.limits.MaxHandoffs, handoff+" would be beyond "+most, handoff+" is within "+most)
	}}},

	// The Light path.
	{"H1", recalled(func(f *facts, v *abi.RecallResult) (bool, string) {
		return f.reaches("a match at", v.Confidence, minConfidence, recallConfidence)
	}, minConfidence)},
	{"H2", ofRecall(func(f *facts, v *abi.RecallResult) (bool, string) {
		if !v.Match {
			return true, "no earlier case matches"
		}
		reaches, why := f.reaches("a match at", v.Confidence, minConfidence, uncertainConfidence)
		return !reaches, why
	}, minConfidence)},
	{"H3", recalled(func(f *facts, v *abi.RecallResult) (bool, string) {
		if most := proceeding.NumberParam(f.params, maxConfidence, recallConfidence); v.Confidence >= most {
			return false, "a match at " + text.Number(v.Confidence) + " is certain: it reaches " + text.Number(most)
		}
		return f.reaches("a match at", v.Confidence, minConfidence, uncertainConfidence)
	}, minConfidence, maxConfidence)},
	{"H4", triaged(symptom(abi.SymptomInfrastructure))},
	{"H5", triaged(symptom(abi.SymptomFlake))},
	{"H6", triaged(needsResolving)},
	{"H7", triaged(oneCandidate)},
	{"H18", triaged(skipsInvestigation)},
	{"H9", investigated("H9")},
	{"H10", investigated("H10")},
	{"H10a", investigated("H10a")},
	{"H11", investigated("H11")},
	{"H8", rule{decide: func(f *facts) (bool, string) {
		if f.artifact.Resolve == nil {
			return false, "there is no answer of resolve"
		}
		return true, "resolve selects " + text.Count(len(f.artifact.Resolve.Selected), "component")
	}}},
	{"H12", reviewed(abi.Approve)},
	{"H13", ofReview(func(f *facts, v *abi.ReviewDecision) (bool, string) {
		if v.Decision != abi.Reassess {
			return reviews(v, abi.Reassess)
		}
		return f.loopsLeft > 0, "the review wants it reassessed, with " + text.Count(f.loopsLeft, "loop") + " left"
	})},
	{"H14", reviewed(abi.Overturn)},
	{"H15", correlated(isDuplicate)},
	{"H15b", correlated(func(f *facts, v *abi.CorrelateResult) (bool, string) {
		is, why := isDuplicate(f, v)
		return !is, why
	})},
	{"H16", rule{decide: func(f *facts) (bool, string) {
		return yesNo(f.artifact.Report != nil, "the report is there", "there is no report")
	}}},

	{"always", rule{decide: func(*facts) (bool, string) { return true, "always fires" }}},
	{"never", rule{decide: func(*facts) (bool, string) { return false, "never fires" }}},
}

// ruleOf are the rules by their evaluators.
var ruleOf = func() map[string]rule {
	m := make(map[string]rule, len(rules))
	for i := range rules {
		m[rules[i].evaluator] = rules[i].rule
	}
	return m
}()

func brief(decide func(*abi.DefenseBrief) (bool, string)) rule {
	return rule{decide: func(f *facts) (bool, string) {
		if f.artifact.DefenseBrief == nil {
			return false, "there is no defense brief"
		}
		return decide(f.artifact.DefenseBrief)
	}}
}

func ofVerdict(decide func(*facts, *abi.Verdict) (bool, string)) rule {
	return rule{decide: func(f *facts) (bool, string) {
		if f.artifact.Verdict == nil {
			return false, "there is no verdict"
		}
		return decide(f, f.artifact.Verdict)
	}}
}

func ofRecall(decide func(*facts, *abi.RecallResult) (bool, string), params ...string) rule {
	return rule{func(f *facts) (bool, string) {
		if f.artifact.Recall == nil {
			return false, "there is no answer of recall"
		}
		return decide(f, f.artifact.Recall)
	}, params}
}

func ofReview(decide func(*facts, *abi.ReviewDecision) (bool, string)) rule {
	return rule{decide: func(f *facts) (bool, string) {
		if f.artifact.Review == nil {
			return false, "there is no review"
		}
		return decide(f, f.artifact.Review)
	}}
}

func hearingComplete(f *facts) (bool, string) {
	v := f.artifact.Hearing
	if v == nil {
		return false, "there is no hearing record"
	}
	rounds := "round " + text.Int(len(v.Rounds)) + " of " + text.Int(v.MaxRounds)
	if v.Converged {
		return true, rounds + " brought nothing new"
	}
	return yesNo(len(v.Rounds) >= v.MaxRounds, rounds+" was the last", rounds+" brought something new")
}

func decided(d abi.Decision) rule {
	return ofVerdict(func(_ *facts, v *abi.Verdict) (bool, string) {
		return v.Decision == d, "the verdict is " + string(v.Decision)
	})
}

func remand(f *facts, v *abi.Verdict) (bool, string) {
	if v.Decision != abi.Remand {
		return false, "the verdict is " + string(v.Decision)
	}
	count := text.Int(f.remands) + " of " + text.Count(f.maxRemands, "remand")
	return yesNo(f.remands < f.maxRemands, count+" used", "all remands are used: "+count)
}

// recalled is a rule about an earlier case that matches.
func recalled(decide func(*facts, *abi.RecallResult) (bool, string), params ...string) rule {
	return ofRecall(func(f *facts, v *abi.RecallResult) (bool, string) {
		if !v.Match {
			return false, "no earlier case matches"
		}
		return decide(f, v)
	}, params...)
}

func triaged(decide func(*abi.TriageResult) (bool, string)) rule {
	return rule{decide: func(f *facts) (bool, string) {
		if f.artifact.Triage == nil {
			return false, "there is no answer of triage"
		}
		return decide(f.artifact.Triage)
	}}
}

func symptom(category abi.SymptomCategory) func(*abi.TriageResult) (bool, string) {
	return func(v *abi.TriageResult) (bool, string) {
		return v.SymptomCategory == category, "the symptom is " + string(v.SymptomCategory)
	}
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

// investigated tells the four ends of an investigation apart.
func investigated(evaluator string) rule {
	return rule{func(f *facts) (bool, string) {
		v := f.artifact.Investigate
		if v == nil {
			return false, "there is no answer of the investigation"
		}
		converged, why := f.reaches("convergence", v.ConvergenceScore, minConvergence, convergence)
		loops := why + ", with " + text.Count(f.loopsLeft, "loop") + " left"
		switch {
		case converged || evaluator == "H9":
			return evaluator == "H9" && converged, why
		case evaluator == "H10a":
			return len(v.Evidence) == 0, why + ", with " + text.Count(len(v.Evidence), "item")
		case evaluator == "H10":
			return f.loopsLeft > 0, loops
		default:
			return f.loopsLeft == 0, loops
		}
	}, []string{minConvergence}}
}

func correlated(decide func(*facts, *abi.CorrelateResult) (bool, string)) rule {
	return rule{func(f *facts) (bool, string) {
		if f.artifact.Correlate == nil {
			return false, "there is no answer of correlate"
		}
		return decide(f, f.artifact.Correlate)
	}, []string{minConfidence}}
}

func isDuplicate(f *facts, v *abi.CorrelateResult) (bool, string) {
	if !v.IsDuplicate {
		return false, "it repeats no earlier case"
	}
	return f.reaches("a duplicate at", v.Confidence, minConfidence, duplicateConfidence)
}

func reviewed(d abi.ReviewOutcome) rule {
	return ofReview(func(_ *facts, v *abi.ReviewDecision) (bool, string) { return reviews(v, d) })
}

func reviews(v *abi.ReviewDecision, d abi.ReviewOutcome) (bool, string) {
	return v.Decision == d, "the review decides " + string(v.Decision)
}

// reaches compares a figure with the bound of a parameter.
func (f *facts) reaches(what string, value float64, param string, fallback float64) (bool, string) {
	least := proceeding.NumberParam(f.params, param, fallback)
	what += " " + text.Number(value)
	return yesNo(value >= least, what+" reaches "+text.Number(least), what+" is below "+text.Number(least))
}

func yesNo(is bool, yes, no string) (bool, string) {
	if is {
		return true, yes
	}
	return false, no
}
