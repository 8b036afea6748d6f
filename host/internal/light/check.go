package light

import (
	"strconv"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/internal/runtime/invoker"
)

// check checks the artifact of a node against the case: what it concludes are
// labels, what it brings bears no name of the host's, unless it repeats what is
// there, and a report accounts for a remand where there was one. It says with
// false that the artifact is another family's.
func check(family abi.Family, a *abi.Artifact, req *Request, there []abi.Evidence, c *abi.Collector) bool {
	if kindOf(a) != family {
		return false
	}
	mark := c.Mark()
	k := checker{labels: req.Case.Labels, there: there, c: c}
	switch {
	case a.Recall != nil:
		k.label(a.Recall.Classification)
	case a.Triage != nil:
		k.labelAt("classification_hypothesis", a.Triage.ClassificationHypothesis)
	case a.Investigate != nil:
		k.label(a.Investigate.Classification)
		k.evidence(a.Investigate.Evidence)
	case a.Correlate != nil:
		k.label(a.Correlate.Classification)
	case a.Report != nil:
		k.label(a.Report.Classification)
		k.remand(a.Report.Remand, req.Feedback)
	}
	invoker.NestArtifact(c, mark, string(family)) // the field is named as the family
	return true
}

// kindOf is the family whose artifact it is, among those of a Light path.
func kindOf(a *abi.Artifact) abi.Family {
	switch {
	case a.Recall != nil:
		return abi.FamilyRecall
	case a.Triage != nil:
		return abi.FamilyTriage
	case a.Resolve != nil:
		return abi.FamilyResolve
	case a.Investigate != nil:
		return abi.FamilyInvestigate
	case a.Correlate != nil:
		return abi.FamilyCorrelate
	case a.Review != nil:
		return abi.FamilyReview
	case a.Report != nil:
		return abi.FamilyReport
	default:
		return ""
	}
}

type checker struct {
	labels []string
	there  []abi.Evidence
	c      *abi.Collector
}

func (k *checker) label(label string) { k.labelAt("classification", label) }

func (k *checker) labelAt(field, label string) {
	if label != "" && !abi.IsLabel(k.labels, label) {
		k.c.Add(abi.CodeNotALabel, strconv.Quote(label)+" is no label of the case", abi.Field(field))
	}
}

func (k *checker) evidence(items []abi.Evidence) {
	for i := range items {
		mark := k.c.Mark()
		k.labelAt("supports", items[i].Supports)
		if ref := items[i].SourceRef; abi.IsReserved(ref) && abi.FindEvidence(k.there, ref, items[i].Content) == nil {
			k.c.Add(abi.CodeIdentity, strconv.Quote(ref)+" is an item that only the host writes", abi.Field("source_ref"))
		}
		k.c.Nest(mark, abi.Index(i))
		k.c.Nest(mark, abi.Field("evidence"))
	}
}

// remand checks the answer to a remand against its feedback.
func (k *checker) remand(answer *abi.RemandAnswer, feedback *abi.RemandFeedback) {
	switch {
	case feedback == nil && answer == nil:
		return
	case feedback == nil:
		k.c.Add(abi.CodeWrongAnswers, "answers a remand that there was not", abi.Field("remand"))
		return
	case answer == nil:
		k.c.Add(abi.CodeUnanswered, "does not account for the remand", abi.Field("remand"))
		return
	}
	mark := k.c.Mark()
	abi.CheckRemandAnswer(answer, feedback, k.c)
	for i := range answer.Answers {
		inner := k.c.Mark()
		k.evidence(answer.Answers[i].Evidence)
		k.c.Nest(inner, abi.Index(i))
		k.c.Nest(inner, abi.Field("answers"))
	}
	k.c.Nest(mark, abi.Field("remand"))
}
