package main

import (
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/plugins/internal/inquiry"
	"github.com/shadowcourt/shadowcourt/plugins/internal/params"
	"github.com/shadowcourt/shadowcourt/plugins/internal/text"
)

// worthTrying is the least that is stated of an answer that leads: where the
// band of the court begins. Among k labels a probability below that is far from
// hopeless.
const worthTrying = 0.50

// report closes the path with the most probable label, given everything; what
// was concluded before stays where another is only as probable. Its confidence
// is that label's probability, and is no higher after a remand that brought
// nothing new; but an answer for which something speaks, and which leads the
// others clearly, is worth a trial, and so it states worth_trying at least.
func report(r *abi.NodeRequest) *abi.LightReport {
	clues := inquiry.Read(r, nil)
	estimate := synthesis(r, clues)
	preferred := concluded(r)
	if preferred == "" {
		preferred = r.Case.Labels[0]
	}
	label, p := estimate.Top(preferred)
	v := &abi.LightReport{Classification: label, Confidence: p}
	if estimate.Leads() {
		v.Confidence = max(p, params.Number(r.Params, "worth_trying", worthTrying))
	}
	if r.File != nil && r.File.Investigate != nil {
		v.Component = r.File.Investigate.Component
	}
	if r.File != nil && r.File.Feedback != nil {
		v.Remand = answerRemand(r)
		if r.Case.Light != nil && (r.File.Investigate == nil || len(r.File.Investigate.Evidence) == 0) {
			v.Confidence = min(v.Confidence, r.Case.Light.Confidence)
		}
	}
	told := summary(r, estimate, v)
	v.Summary = told + grounds(r, clues, label, told)
	return v
}

// nothingSpeaks is what the seeker says as well.
const nothingSpeaks = "Next to nothing speaks for any label."

// summary tells what came out, and why more is stated where it is.
func summary(r *abi.NodeRequest, estimate *inquiry.Estimate, v *abi.LightReport) string {
	var b strings.Builder
	label, p := v.Classification, estimate.Of(v.Classification)
	b.WriteString(label + " at " + text.Share(p))
	if v.Confidence > p && text.Share(v.Confidence) != text.Share(p) {
		b.WriteString(" (stated as " + text.Share(v.Confidence) + ", since it leads and is worth a trial)")
	}
	if second, p := runnerUp(estimate, label); second != "" {
		b.WriteString(", " + second + " at " + text.Share(p))
	}
	b.WriteString(".")
	if estimate.Thin() {
		b.WriteString(" " + nothingSpeaks)
	}
	f := r.File
	if f == nil {
		return b.String()
	}
	if f.Recall != nil && f.Recall.Match {
		b.WriteString(" " + f.Recall.Reasoning)
	}
	if f.Correlate != nil && f.Correlate.LinkedCase != "" {
		b.WriteString(" " + f.Correlate.Reasoning)
	}
	if f.Triage != nil {
		b.WriteString(symptoms(f.Triage))
	}
	if f.Investigate != nil {
		if found := without(f.Investigate.Summary, nothingSpeaks, label+" at "+text.Share(p)+"."); found != "" {
			b.WriteString(" Found: " + found)
		}
	}
	return b.String()
}

// without leaves out what was said already.
func without(s string, said ...string) string {
	for _, part := range said {
		s = strings.TrimPrefix(strings.Replace(s, " "+part, "", 1), part)
	}
	return strings.TrimSpace(s)
}

func runnerUp(estimate *inquiry.Estimate, top string) (label string, probability float64) {
	for j, other := range estimate.Labels {
		if other != top && (label == "" || estimate.Posterior[j] > probability) {
			label, probability = other, estimate.Posterior[j]
		}
	}
	return label, probability
}

func symptoms(v *abi.TriageResult) string {
	out := ""
	if v.CascadeSuspected {
		out += " Several tests fail alike, which points to one cause."
	}
	if v.ClockSkewSuspected {
		out += " Clocks may disagree."
	}
	return out
}
