package main

import (
	"slices"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/plugins/internal/inquiry"
	"github.com/shadowcourt/shadowcourt/plugins/internal/proceeding"
	"github.com/shadowcourt/shadowcourt/plugins/internal/text"
)

// worthTrying is the least that is stated of an answer that leads: where the band of the court begins. Among k labels a probability below
// that is far from hopeless.
const worthTrying = 0.50

// report closes the path with the most probable label, given everything; what was concluded before stays where another is only as probable.
// Its confidence is that label's probability, and is no higher after a remand that brought nothing new; but an answer for which something
// speaks, and which leads the others clearly, is worth a trial, and so it states worth_trying at least.
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
		v.Confidence = max(p, proceeding.NumberParam(r.Params, "worth_trying", worthTrying))
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

// maxAnswerItems bounds the evidence of one answer.
const maxAnswerItems = 6

// answerRemand answers every question of the court with what the investigation
// brought since, and says of every challenged item whether it still stands.
func answerRemand(r *abi.NodeRequest) *abi.RemandAnswer {
	v := &abi.RemandAnswer{Answers: []abi.RemandReply{}, Challenged: []abi.ChallengedReply{}}
	withdrawn := make(map[int]bool)
	for i := range r.File.Feedback.Challenged {
		index := r.File.Feedback.Challenged[i].EvidenceIndex
		if _, seen := withdrawn[index]; seen {
			continue
		}
		status := abi.ItemStands
		if withdrawn[index] = !stands(r, index); withdrawn[index] {
			status = abi.ItemWithdrawn
		}
		v.Challenged = append(v.Challenged, abi.ChallengedReply{EvidenceIndex: index, Status: status})
	}
	topics := inquiry.Topics(r)
	for i := range topics {
		v.Answers = append(v.Answers, reply(r, r.File.Feedback.Questions[i].ID, &topics[i], withdrawn))
	}
	return v
}

// reply answers a question: with new evidence that concerns it, or by withdrawing what it asks about, or not at all.
func reply(r *abi.NodeRequest, id string, topic *inquiry.Topic, withdrawn map[int]bool) abi.RemandReply {
	v := abi.RemandReply{QuestionID: id, Status: abi.NotFound, Evidence: []abi.Evidence{}}
	if f := r.File.Investigate; f != nil {
		for i := range f.Evidence {
			if len(v.Evidence) < maxAnswerItems && topic.Concerns(&f.Evidence[i]) {
				v.Evidence = append(v.Evidence, f.Evidence[i])
			}
		}
	}
	switch {
	case len(v.Evidence) > 0:
		v.Status = abi.Found
	case len(topic.Items) > 0 && !slices.ContainsFunc(topic.Items, func(i int) bool { return !withdrawn[i] }):
		v.Status = abi.Withdrawn
	}
	return v
}

// stands says whether a challenged item can be held: it is there, it is what it says where it claims to quote a document, and it says
// something that no unchallenged item says.
func stands(r *abi.NodeRequest, index int) bool {
	if index < 0 || index >= len(r.Case.Evidence) {
		return false
	}
	e := &r.Case.Evidence[index]
	if text.Blank(e.Content) || misquotes(r.Case.Documents, e) {
		return false
	}
	substance := strings.Join(text.Substance(e.Content), "\n")
	for i := range r.Case.Evidence {
		other := &r.Case.Evidence[i]
		if i != index && !inquiry.Challenged(r, i) && other.Supports == e.Supports && strings.Join(text.Substance(other.Content), "\n") == substance {
			return false
		}
	}
	return true
}

// misquotes says whether an item names a document in which none of its lines stands.
func misquotes(documents []abi.Document, e *abi.Evidence) bool {
	for i := range documents {
		d := &documents[i]
		if !inquiry.Names(e.SourceRef, d.Name) {
			continue
		}
		for line := range strings.SplitSeq(e.Content, "\n") {
			if line = strings.TrimSpace(line); line != "" && strings.Contains(d.Text, line) {
				return false
			}
		}
		return true
	}
	return false
}
