package anytrial

import (
	"slices"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
)

// checkLight checks an artifact of the Light path against its request: what it
// names are labels, what it quotes stands in the documents, and a remand is
// answered in full.
func checkLight(a *abi.Artifact, r *abi.NodeRequest, c *abi.Collector) {
	label := func(where, label string) {
		if label != "" && !slices.Contains(r.Case.Labels, label) {
			c.Add(abi.CodeNotALabel, label, abi.Field(where))
		}
	}
	switch {
	case a.Recall != nil:
		label("recall", a.Recall.Classification)
	case a.Triage != nil:
		label("triage", a.Triage.ClassificationHypothesis)
	case a.Investigate != nil:
		label("investigate", a.Investigate.Classification)
		for i := range a.Investigate.Evidence {
			checkItem(&a.Investigate.Evidence[i], r, c)
		}
	case a.Correlate != nil:
		label("correlate", a.Correlate.Classification)
	case a.Report != nil:
		label("report", a.Report.Classification)
		checkRemand(a.Report, r, c)
	}
}

func checkItem(e *abi.Evidence, r *abi.NodeRequest, c *abi.Collector) {
	if e.Supports != "" && !slices.Contains(r.Case.Labels, e.Supports) {
		c.Add(abi.CodeNotALabel, e.Supports, abi.Field("evidence"))
	}
	if e.Element == "" {
		c.Add(abi.CodeMissingField, "has no element", abi.Field("evidence"))
	}
	if strings.HasPrefix(e.SourceRef, "seeker-source:") {
		return
	}
	_, where, _ := strings.Cut(e.SourceRef, ":") // what kind of reading it is stands first
	name, line, _ := strings.Cut(where, ":L")
	if _, stands := contains(r.Case.Documents, name, e.Content); !stands || line == "" || e.Content == "" {
		c.Add(abi.CodeNotInDocuments, e.SourceRef+" quotes "+e.Content, abi.Field("evidence"))
	}
}

func checkRemand(v *abi.LightReport, r *abi.NodeRequest, c *abi.Collector) {
	if r.File.Feedback == nil {
		if v.Remand != nil {
			c.Add(abi.CodeWrongAnswers, "answers a remand that there was not")
		}
		return
	}
	if v.Remand == nil {
		c.Add(abi.CodeUnanswered, "does not account for the remand")
		return
	}
	abi.CheckRemandAnswer(v.Remand, r.File.Feedback, c)
	nothingNew := r.File.Investigate == nil || len(r.File.Investigate.Evidence) == 0
	if nothingNew && v.Confidence > r.Case.Light.Confidence {
		c.Add(abi.CodeOutOfRange, "is surer without new evidence", abi.Field("confidence"))
	}
}
