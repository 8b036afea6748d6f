package trial

import (
	"strconv"
	"strings"
)

// Meaning says what a status means, in a few words; nothing of an unknown one.
func (s Status) Meaning() string {
	switch s {
	case Unreviewed:
		return "the court was off, Light's answer stands"
	case Accepted:
		return "Light was sure enough, no trial"
	case Rejected:
		return "Light was too unsure for a trial"
	case Affirmed:
		return "the court upholds Light's answer"
	case Amended:
		return "the court gives another label"
	case Acquitted:
		return "the evidence decides nothing"
	case Mistrial:
		return "the trial broke off"
	}
	return ""
}

// End names the outcome, as `amended quota 0.81` or `mistrial (module_trap)`.
func (r *Result) End() string {
	end := string(r.Final.Status)
	if r.Final.Classification != "" {
		end += " " + r.Final.Classification + " " + Number(r.Final.Confidence)
	}
	if r.Final.Cause != "" {
		end += " (" + string(r.Final.Cause) + ")"
	}
	return end
}

// Why is the reasoning of the last verdict, or what failed in its place.
func (r *Result) Why() string {
	switch {
	case r.Error != nil:
		return r.Error.Message
	case r.Verdict != nil:
		return r.Verdict.Reasoning
	}
	return ""
}

// How names the edge of the move, or says what happened without one.
func (s *Step) How() string {
	switch {
	case s.Edge != "":
		return s.Edge
	case s.Node == s.To:
		return "again"
	}
	return "no edge fired"
}

// Weight renders a weight, in [0, 1], with two digits, and never as a 1.00 or 0.00 that is not one.
func Weight(v float64) string {
	s := strconv.FormatFloat(v, 'f', 2, 64)
	switch {
	case s == "1.00" && v < 1:
		return ">.99"
	case s == "0.00" && v > 0:
		return "<.01"
	}
	return s
}

// leastThreshold is the least that confidences are usually compared with.
const leastThreshold = 0.5

// Number is [Weight] for a confidence: one below a multiple of 0.05 that may be a threshold is not rounded up to it. 0.4999 is 0.49, for
// it is not 0.50.
func Number(v float64) string {
	s := Weight(v)
	shown, err := strconv.ParseFloat(s, 64)
	if err == nil && shown > v && shown >= leastThreshold && (strings.HasSuffix(s, "0") || strings.HasSuffix(s, "5")) {
		return strconv.FormatFloat(shown-0.01, 'f', 2, 64)
	}
	return s
}
