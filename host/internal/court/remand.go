package court

import (
	"context"
	"errors"

	"github.com/shadowcourt/shadowcourt/abi"
)

// remand sends the case back to Light with the verdict's feedback, and
// decides anew whether its answer needs a trial.
func (t *trial) remand(ctx context.Context) error {
	verdict := t.pass.Verdict
	if t.remandsLeft() == 0 || verdict == nil || verdict.RemandFeedback == nil {
		t.mistrial(CauseRemands)
		return nil
	}
	t.out.Remands++
	previous := *t.current()
	response, err := t.light.Answer(t.nodeCtx, LightRequest{Case: t.subject, Feedback: verdict.RemandFeedback, Previous: &previous}) //nolint:contextcheck // Light runs under the TTL
	if err == nil {
		err = t.checkRemandAnswer(&response, verdict.RemandFeedback)
	}
	if err != nil {
		if ctx.Err() != nil || t.expired() {
			t.hostMistrial(CauseTTL)
			return nil //nolint:nilerr // the failure is an outcome
		}
		t.out.Failure = &Failure{Cause: CauseLight, Node: "light", Persona: "light", Message: err.Error()}
		t.mistrial(CauseLight)
		return nil
	}
	t.pass.RemandAnswer = response.Remand
	if err := t.acceptAnswer(&response, &previous); err != nil {
		return err
	}
	if status := activate(&t.court.limits, t.current().Confidence); status != "" {
		t.settle(status, t.current().Classification, t.current().Confidence)
	}
	return nil
}

func (t *trial) checkRemandAnswer(response *LightResponse, feedback *abi.RemandFeedback) error {
	if response.Remand == nil {
		return errors.New("light answered a remand without accounting for it")
	}
	var c abi.Collector
	abi.CheckRemandAnswer(response.Remand, feedback, &c)
	if !abi.IsLabel(t.subject.Labels, response.Answer.Classification) {
		c.Add(abi.CodeNotALabel, "is no label of the case", abi.Field("classification"))
	}
	return c.Err()
}

// acceptAnswer merges Light's new evidence. An answer without any may not
// raise its confidence: it is held at the one before.
func (t *trial) acceptAnswer(response *LightResponse, previous *abi.LightAnswer) error {
	var found []abi.Evidence
	for i := range response.Remand.Answers {
		found = append(found, response.Remand.Answers[i].Evidence...)
	}
	before := len(t.evidence)
	if err := t.addEvidence("case", found); err != nil {
		return err
	}
	answer := response.Answer
	if len(t.evidence) == before {
		answer.Confidence = min(answer.Confidence, previous.Confidence)
	}
	t.out.LightAfter = append(t.out.LightAfter, answer)
	return nil
}
