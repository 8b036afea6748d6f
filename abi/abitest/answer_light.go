package abitest

import (
	"slices"
	"strconv"

	"github.com/shadowcourt/shadowcourt/abi"
)

// labelled adds a problem where a label that is named is none of the case.
func labelled(c *abi.Collector, labels []string, label string, path ...abi.PathElement) {
	if label != "" && !abi.IsLabel(labels, label) {
		c.Add(abi.CodeNotALabel, strconv.Quote(label)+" is no label of the case", path...)
	}
}

func labelledItems(c *abi.Collector, labels []string, items []abi.Evidence, path ...abi.PathElement) {
	for i := range items {
		at := append(slices.Clone(path), abi.Field("evidence"), abi.Index(i), abi.Field("supports"))
		labelled(c, labels, items[i].Supports, at...)
	}
}

// checkLight checks an artifact of the Light path against its request: what it
// names are labels, and a report accounts for a remand where there was one.
func checkLight(a *abi.Artifact, req *abi.NodeRequest, c *abi.Collector) {
	labels, classification := req.Case.Labels, abi.Field("classification")
	switch {
	case a.Recall != nil:
		labelled(c, labels, a.Recall.Classification, abi.Field("recall"), classification)
	case a.Triage != nil:
		labelled(c, labels, a.Triage.ClassificationHypothesis, abi.Field("triage"), abi.Field("classification_hypothesis"))
	case a.Investigate != nil:
		labelled(c, labels, a.Investigate.Classification, abi.Field("investigate"), classification)
		labelledItems(c, labels, a.Investigate.Evidence, abi.Field("investigate"))
	case a.Correlate != nil:
		labelled(c, labels, a.Correlate.Classification, abi.Field("correlate"), classification)
	case a.Report != nil:
		labelled(c, labels, a.Report.Classification, abi.Field("report"), classification)
		checkRemand(a.Report.Remand, req, c)
	}
}

func checkRemand(answer *abi.RemandAnswer, req *abi.NodeRequest, c *abi.Collector) {
	var feedback *abi.RemandFeedback
	if req.File != nil {
		feedback = req.File.Feedback
	}
	remand := abi.Field("remand")
	switch {
	case feedback == nil && answer == nil:
	case feedback == nil:
		c.Add(abi.CodeWrongAnswers, "answers a remand that there was not", abi.Field("report"), remand)
	case answer == nil:
		c.Add(abi.CodeUnanswered, "does not account for the remand", abi.Field("report"), remand)
	default:
		mark := c.Mark()
		abi.CheckRemandAnswer(answer, feedback, c)
		for i := range answer.Answers {
			labelledItems(c, req.Case.Labels, answer.Answers[i].Evidence, abi.Field("answers"), abi.Index(i))
		}
		c.Nest(mark, remand)
		c.Nest(mark, abi.Field("report"))
	}
}

// citedOpinion is the source_ref by which a judge cites the text under audit (§4.16).
const citedOpinion = "opinion"

// checkOpinions checks the opinions of a judge against what was asked.
func (r *Request) checkOpinions(list []abi.CriterionOpinion, c *abi.Collector) {
	req := r.Judge
	if len(list) != len(req.Criteria) {
		c.Add(abi.CodeWrongAnswers, strconv.Itoa(len(list))+" opinions on "+strconv.Itoa(len(req.Criteria))+" criteria", abi.Field("opinions"))
		return
	}
	for i := range list {
		at := []abi.PathElement{abi.Field("opinions"), abi.Index(i)}
		if want := req.Criteria[i].CriterionID; list[i].CriterionID != want {
			c.Add(abi.CodeWrongAnswers, strconv.Quote(list[i].CriterionID)+", the criterion was "+strconv.Quote(want), append(at, abi.Field("criterion_id"))...)
		}
		if list[i].Judge != req.Judge {
			c.Add(abi.CodeWrongAnswers, strconv.Quote(list[i].Judge)+", the judge is "+strconv.Quote(req.Judge), append(at, abi.Field("judge"))...)
		}
		for j, ref := range list[i].CitedEvidence {
			there := ref == citedOpinion || slices.ContainsFunc(req.Evidence, func(e abi.Evidence) bool { return e.SourceRef == ref })
			if !there {
				c.Add(abi.CodeWrongAnswers, "there is no evidence "+strconv.Quote(ref), append(at, abi.Field("cited_evidence"), abi.Index(j))...)
			}
		}
	}
}
