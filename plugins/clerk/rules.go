package main

import (
	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/plugins/internal/params"
	"github.com/shadowcourt/shadowcourt/plugins/internal/text"
)

// fastTrackConfidence is where an indictment is sure enough to skip discovery.
const fastTrackConfidence = 0.95

// The names of the parameters.
const (
	minConfidence  = "min_confidence"
	maxConfidence  = "max_confidence"
	minConvergence = "min_convergence"
)

// rule says whether an edge fires, and why, in one short sentence.
type rule func(*facts) (fires bool, why string)

// ruleOf returns the rule of an evaluator. The conditions are those of the
// seed's graph; the names are its edges'.
func ruleOf(evaluator string) (rule, bool) {
	switch evaluator {
	case "HD1":
		return fastTrack, true
	case "HD2":
		return pleaDeal, true
	case "HD3":
		return motionToDismiss, true
	case "HD4":
		return alternative, true
	case "HD5":
		return hearingComplete, true
	case "HD6":
		return decided(abi.Affirm), true
	case "HD7":
		return decided(abi.Amend), true
	case "HD8":
		return remand, true
	case "HD9":
		return decided(abi.Acquit), true
	case "HD10":
		return ttlExceeded, true
	case "HD11":
		return handoffsExceeded, true
	case "HD12":
		return decided(abi.Mistrial), true
	case "always":
		return func(*facts) (bool, string) { return true, "always fires" }, true
	case "never":
		return func(*facts) (bool, string) { return false, "never fires" }, true
	default:
		return lightRuleOf(evaluator)
	}
}

// known names the parameters of an evaluator.
func known(evaluator string) []string {
	switch evaluator {
	case "HD1", "H1", "H2", "H15", "H15b":
		return []string{minConfidence}
	case "H3":
		return []string{minConfidence, maxConfidence}
	case "H9", "H10a", "H10", "H11":
		return []string{minConvergence}
	}
	return nil
}

func fastTrack(f *facts) (bool, string) {
	v := f.artifact.Indictment
	if v == nil {
		return false, "there is no indictment"
	}
	least := params.Number(f.params, minConfidence, fastTrackConfidence)
	return compare("prosecution confidence "+text.Number(v.Confidence), v.Confidence >= least, text.Number(least))
}

func pleaDeal(f *facts) (bool, string) {
	v := f.artifact.DefenseBrief
	if v == nil {
		return false, "there is no defense brief"
	}
	return yesNo(v.PleaDeal, "the defense concedes", "the defense does not concede")
}

func motionToDismiss(f *facts) (bool, string) {
	v := f.artifact.DefenseBrief
	if v == nil {
		return false, "there is no defense brief"
	}
	return yesNo(v.MotionToDismiss, "the defense moves to dismiss", "the defense makes no motion to dismiss")
}

func alternative(f *facts) (bool, string) {
	v := f.artifact.DefenseBrief
	if v == nil {
		return false, "there is no defense brief"
	}
	if v.AlternativeHypothesis == nil {
		return false, "the defense holds no alternative"
	}
	return true, "the defense proposes " + v.AlternativeHypothesis.Label + " in place of the charge"
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
	return func(f *facts) (bool, string) {
		v := f.artifact.Verdict
		if v == nil {
			return false, "there is no verdict"
		}
		return v.Decision == d, "the verdict is " + string(v.Decision)
	}
}

func remand(f *facts) (bool, string) {
	if fires, why := decided(abi.Remand)(f); !fires {
		return false, why
	}
	count := text.Int(f.remands) + " of " + text.Count(f.maxRemands, "remand")
	return yesNo(f.remands < f.maxRemands, count+" used", "all remands are used: "+count)
}

func ttlExceeded(f *facts) (bool, string) {
	return yesNo(f.limits.TTLExceeded, "the trial's time is over", "the trial's time is not over")
}

func handoffsExceeded(f *facts) (bool, string) {
	most := text.Int(f.limits.MaxHandoffs)
	return yesNo(f.limits.Handoffs > f.limits.MaxHandoffs,
		"handoff "+text.Int(f.limits.Handoffs)+" would be beyond "+most,
		"handoff "+text.Int(f.limits.Handoffs)+" is within "+most)
}

func compare(what string, reached bool, least string) (bool, string) {
	return yesNo(reached, what+" reaches "+least, what+" is below "+least)
}

func yesNo(is bool, yes, no string) (bool, string) {
	if is {
		return true, yes
	}
	return false, no
}
