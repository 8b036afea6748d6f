package court

import (
	"errors"
	"slices"
	"strconv"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/codec"
	"github.com/shadowcourt/shadowcourt/host/trial"
)

// remand sends the case back to Light with the verdict's feedback, and
// decides again whether its answer needs a trial.
func (t *runner) remand() error {
	verdict := t.pass.Verdict
	if t.remandsLeft() == 0 || verdict == nil || verdict.RemandFeedback == nil {
		t.mistrial(trial.CauseRemandsExhausted)
		return nil
	}
	t.result.Remands++
	previous := *t.current()
	response, err := t.light.Answer(t.nodeCtx, LightRequest{
		Case: t.subject, Feedback: verdict.RemandFeedback, Previous: &previous, Evidence: t.indictedFirst(),
	})
	if err == nil {
		err = t.checkAnswer(&response, verdict.RemandFeedback)
	}
	if err != nil {
		if t.expired() {
			t.hostMistrial(trial.CauseTTL)
			return nil
		}
		t.lightFailed(err)
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

// indictedFirst is the evidence of the case in the order of the indictment,
// followed by what that left out.
func (t *runner) indictedFirst() []abi.Evidence {
	left := make(map[identity]abi.Evidence, len(t.evidence))
	for _, e := range t.evidence {
		left[identity{e.SourceRef, e.Content}] = e
	}
	list := make([]abi.Evidence, 0, len(t.evidence))
	if t.pass.Indictment != nil {
		for _, item := range t.pass.Indictment.Evidence {
			id := identity{item.SourceRef, item.Content}
			list = append(list, left[id])
			delete(left, id)
		}
	}
	for _, e := range t.evidence {
		if _, ok := left[identity{e.SourceRef, e.Content}]; ok {
			list = append(list, e)
		}
	}
	return list
}

// checkAnswer checks Light's answer against the case; feedback is nil the
// first time.
func (t *runner) checkAnswer(response *LightResponse, feedback *abi.RemandFeedback) error {
	var c abi.Collector
	if !abi.IsLabel(t.subject.Labels, response.Answer.Classification) {
		c.Add(abi.CodeNotALabel, strconv.Quote(response.Answer.Classification)+" is no label of the case", abi.Field("classification"))
	}
	if !(response.Answer.Confidence >= 0 && response.Answer.Confidence <= 1) { // NaN too
		c.Add(abi.CodeOutOfRange, "is outside [0, 1]", abi.Field("confidence"))
	}
	t.checkEvidence(response.Evidence, &c)
	if feedback == nil {
		return c.Err()
	}
	if response.Remand == nil {
		return errors.New("light answered a remand without accounting for it")
	}
	mark := c.Mark()
	abi.CheckRemandAnswer(response.Remand, feedback, &c)
	for i := range response.Remand.Answers {
		inner := c.Mark()
		t.checkEvidence(response.Remand.Answers[i].Evidence, &c)
		c.Nest(inner, abi.Index(i))
		c.Nest(inner, abi.Field("answers"))
	}
	c.Nest(mark, abi.Field("remand"))
	return c.Err()
}

// checkEvidence checks items that Light gathered against the case, by the rules
// that the items of a case keep.
func (t *runner) checkEvidence(items []abi.Evidence, c *abi.Collector) {
	for i := range items {
		mark := c.Mark()
		message := codec.AppendEvidence(nil, &items[i])
		if _, err := codec.DecodeEvidence(message, len(message)); err != nil {
			c.Add(abi.CodeInvalidValue, err.Error())
		}
		if s := items[i].Supports; s != "" && !abi.IsLabel(t.subject.Labels, s) {
			c.Add(abi.CodeNotALabel, strconv.Quote(s)+" is no label of the case", abi.Field("supports"))
		}
		c.Nest(mark, abi.Index(i))
		c.Nest(mark, abi.Field("evidence"))
	}
}

// acceptAnswer merges Light's new evidence. An answer without any may not
// raise its confidence: it is held at the one before. Where the classification
// is the same too, another remand would bring the same again, and there is none.
func (t *runner) acceptAnswer(response *LightResponse, previous *abi.LightAnswer) error {
	found := slices.Clone(response.Evidence)
	for i := range response.Remand.Answers {
		found = append(found, response.Remand.Answers[i].Evidence...)
	}
	found = t.withoutItemsOfCase(found)
	t.takeBack(response.Remand)
	t.bring(found)
	before := len(t.evidence)
	if err := t.addEvidence("case", found); err != nil {
		return err
	}
	answer := response.Answer
	if len(t.evidence) == before {
		answer.Confidence = min(answer.Confidence, previous.Confidence)
		t.lightSpent = answer.Classification == previous.Classification
	}
	t.answers = append(t.answers, answer)
	t.result.LightAfter = append(t.result.LightAfter, trial.Answer{Classification: answer.Classification, Confidence: answer.Confidence})
	return nil
}
