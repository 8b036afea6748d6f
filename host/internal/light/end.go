package light

import (
	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/internal/traverse"
	"github.com/shadowcourt/shadowcourt/host/pipeline"
	"github.com/shadowcourt/shadowcourt/host/trial"
)

// end draws the consequence of a traversal that came to an end: the report is the
// answer, or the conclusion of the node that the traversal ended at.
func (w *passage) end(outcome *traverse.Outcome) (Response, error) {
	last := outcome.Steps[len(outcome.Steps)-1]
	if outcome.End != pipeline.EndDone {
		return Response{}, broken(trial.CauseGraph, last.Node, "a Light path ends at "+pipeline.EndDone+", not at "+outcome.End)
	}
	response := Response{Evidence: w.gathered}
	if w.report != nil {
		response.Answer = abi.LightAnswer{
			Classification: w.report.Classification, Confidence: w.report.Confidence, Reasoning: w.report.Summary,
		}
		response.Remand = w.report.Remand
		return response, nil
	}
	answer, ok := w.conclusion(last.Node)
	if !ok {
		return Response{}, broken(trial.CauseGraph, last.Node, "the traversal is done and nothing names a label of the case")
	}
	response.Answer = answer
	if w.req.Feedback != nil {
		response.Remand = unanswered(w.req.Feedback)
	}
	return response, nil
}

// conclusion is what the node says that a traversal ended at without a report.
func (w *passage) conclusion(name string) (abi.LightAnswer, bool) {
	node, _ := w.path.graph.Node(name)
	answer := abi.LightAnswer{}
	switch abi.Family(node.Family) { //nolint:exhaustive // the others conclude nothing
	case abi.FamilyCorrelate:
		c := w.file.Correlate
		answer = abi.LightAnswer{Classification: c.Classification, Confidence: c.Confidence, Reasoning: c.Reasoning}
		if i := w.file.Investigate; answer.Classification == "" && i != nil {
			answer.Classification = i.Classification // the linked case names no label of this one
		}
	case abi.FamilyRecall:
		r := w.file.Recall
		answer = abi.LightAnswer{Classification: r.Classification, Confidence: r.Confidence, Reasoning: r.Reasoning}
	case abi.FamilyInvestigate:
		i := w.file.Investigate
		answer = abi.LightAnswer{Classification: i.Classification, Confidence: i.ConvergenceScore, Reasoning: i.Summary}
	}
	return answer, answer.Classification != ""
}

// unanswered replies to a remand that nobody looked into.
func unanswered(feedback *abi.RemandFeedback) *abi.RemandAnswer {
	a := &abi.RemandAnswer{Answers: []abi.RemandReply{}, Challenged: []abi.ChallengedReply{}}
	for _, q := range feedback.Questions {
		a.Answers = append(a.Answers, abi.RemandReply{QuestionID: q.ID, Status: abi.NotFound})
	}
	seen := make(map[int]bool)
	for _, item := range feedback.Challenged {
		if !seen[item.EvidenceIndex] {
			seen[item.EvidenceIndex] = true
			a.Challenged = append(a.Challenged, abi.ChallengedReply{EvidenceIndex: item.EvidenceIndex, Status: abi.ItemStands})
		}
	}
	return a
}
