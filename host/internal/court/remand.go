package court

import (
	"context"
	"errors"
	"slices"
	"strconv"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/codec"
	"github.com/shadowcourt/shadowcourt/abi/odds"
	"github.com/shadowcourt/shadowcourt/host/trial"
)

// remand sends the case back to Light with the verdict's feedback, and decides again whether its answer needs a trial.
func (t *Trial) remand() error {
	verdict := t.pass.Verdict
	if t.remandsLeft() == 0 || verdict == nil || verdict.RemandFeedback == nil {
		t.mistrial(trial.CauseRemandsExhausted)
		return nil
	}
	t.result.Remands++
	previous := *t.current()
	response, err := t.askLight(t.ttl, LightRequest{
		Case: t.subject, Feedback: verdict.RemandFeedback, Previous: &previous, Evidence: t.indictedFirst(),
	})
	switch {
	case err != nil && t.expired():
		t.hostMistrial(trial.CauseTTL, "HD10")
		return nil
	case err != nil:
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

// remandsLeft is how often the verdict may still remand. It may not where a trial as long as this one would run out of handoffs.
func (t *Trial) remandsLeft() int {
	taken, rest := t.result.Handoffs-t.handoffsBefore, t.court.limits.MaxHandoffs-t.result.Handoffs
	if t.result.Remands == 0 {
		taken++ // nobody had the case when the first pass began
	}
	if t.light == nil || t.lightSpent || taken > rest {
		return 0
	}
	return max(0, t.court.limits.MaxRemands-t.result.Remands)
}

// indictedFirst is the evidence of the case in the order of the indictment, followed by what that left out.
func (t *Trial) indictedFirst() []abi.Evidence {
	left := make(map[itemKey]abi.Evidence, len(t.evidence))
	for _, e := range t.evidence {
		left[keyOf(&e)] = e
	}
	list := make([]abi.Evidence, 0, len(t.evidence))
	if t.pass.Indictment != nil {
		for _, item := range t.pass.Indictment.Evidence {
			key := itemKey{item.SourceRef, item.Content}
			list = append(list, left[key])
			delete(left, key)
		}
	}
	for _, e := range t.evidence {
		if _, ok := left[keyOf(&e)]; ok {
			list = append(list, e)
		}
	}
	return list
}

// askLight gives Light's answer, checked against the case and, after a remand, against its feedback.
func (t *Trial) askLight(ctx context.Context, req LightRequest) (LightResponse, error) {
	response, err := t.light.Answer(ctx, req)
	if err != nil {
		return response, err
	}
	var c abi.Collector
	if !abi.IsLabel(t.subject.Labels, response.Answer.Classification) {
		c.Add(abi.CodeNotALabel, strconv.Quote(response.Answer.Classification)+" is no label of the case", abi.Field("classification"))
	}
	if !(response.Answer.Confidence >= 0 && response.Answer.Confidence <= 1) { // NaN too
		c.Add(abi.CodeOutOfRange, "is outside [0, 1]", abi.Field("confidence"))
	}
	check := func(items []abi.Evidence) { t.checkGathered(items, &c) }
	check(response.Evidence)
	if req.Feedback != nil {
		if response.Remand == nil {
			return response, errors.New("light answered a remand without accounting for it")
		}
		mark := c.Mark()
		abi.CheckRemandAnswer(response.Remand, req.Feedback, &c)
		nest(&c, mark, abi.Field("remand"))
		checkReplies(response.Remand, &c, check)
	}
	return response, c.Err()
}

// checkGathered checks items that Light gathered against the case, by the rules that the items of a case keep.
func (t *Trial) checkGathered(items []abi.Evidence, c *abi.Collector) {
	for i := range items {
		mark := c.Mark()
		message := codec.AppendEvidence(nil, &items[i])
		if _, err := codec.DecodeEvidence(message, len(message)); err != nil {
			c.Add(abi.CodeInvalidValue, err.Error())
		}
		if s := items[i].Supports; s != "" && !abi.IsLabel(t.subject.Labels, s) {
			c.Add(abi.CodeNotALabel, strconv.Quote(s)+" is no label of the case", abi.Field("supports"))
		}
		nest(c, mark, abi.Index(i), abi.Field("evidence"))
	}
}

// acceptAnswer merges Light's new evidence. An answer without any may not raise its confidence: it is held at the one before. Where the
// classification is the same too, another remand would bring the same again, and there is none.
func (t *Trial) acceptAnswer(response *LightResponse, previous *abi.LightAnswer) error {
	found := slices.Clone(response.Evidence)
	for i := range response.Remand.Answers {
		found = append(found, response.Remand.Answers[i].Evidence...)
	}
	// Nobody changes another's statement by making it again, surer or for another label.
	found = without(found, t.subject.Evidence)
	t.withdraw(response.Remand)
	t.noteGathered(found)
	before := len(t.evidence)
	if err := t.addEvidence(found); err != nil {
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

// noteGathered notes what Light gathered besides what the case came with.
func (t *Trial) noteGathered(items []abi.Evidence) {
	for i := range items {
		t.gatheredItems[keyOf(&items[i])] = true
	}
}

// withdraw leaves out of the evidence what Light withdraws of its own items. What the case came with stays, whatever Light says of it:
// nobody withdraws another's word.
func (t *Trial) withdraw(answer *abi.RemandAnswer) {
	if t.pass.Indictment == nil {
		return
	}
	for _, reply := range answer.Challenged {
		if reply.Status != abi.ItemWithdrawn || reply.EvidenceIndex >= len(t.pass.Indictment.Evidence) {
			continue
		}
		item := &t.pass.Indictment.Evidence[reply.EvidenceIndex]
		// A classifier that could withdraw items of the case would withdraw what speaks against it.
		if key := (itemKey{item.SourceRef, item.Content}); t.gatheredItems[key] {
			t.gatheredItems[key] = false
		}
	}
	t.refreshEvidence()
}

// attributedLight is a Light outside of the court whose items are named after it.
type attributedLight struct{ light Light }

// lightSource is whom the items of a Light are named after.
const lightSource = "light"

// Answer asks the Light, and names its items.
func (l attributedLight) Answer(ctx context.Context, req LightRequest) (LightResponse, error) {
	response, err := l.light.Answer(ctx, req)
	if err != nil {
		return response, err
	}
	var c abi.Collector
	abi.CheckSources(response.Evidence, &c)
	if response.Remand != nil {
		checkReplies(response.Remand, &c, func(items []abi.Evidence) { abi.CheckSources(items, &c) })
	}
	if err := c.Err(); err != nil {
		return response, err
	}
	there := req.Case.Evidence
	if req.Feedback != nil {
		there = req.Evidence
	}
	attribute := func(e *abi.Evidence) abi.Evidence {
		own := *e
		if abi.FindEvidence(there, e.SourceRef, e.Content) == nil {
			own.SourceRef = odds.Attributed(e.SourceRef, lightSource)
		}
		return own
	}
	response.Evidence = mapItems(response.Evidence, attribute)
	response.Remand = mapReplies(response.Remand, attribute)
	return response, nil
}

// mapItems copies items as change makes them.
func mapItems(items []abi.Evidence, change func(*abi.Evidence) abi.Evidence) []abi.Evidence {
	out := slices.Clone(items)
	for i := range out {
		out[i] = change(&out[i])
	}
	return out
}

// mapReplies copies the answer to a remand with its items as change makes them; nil stays nil.
func mapReplies(remand *abi.RemandAnswer, change func(*abi.Evidence) abi.Evidence) *abi.RemandAnswer {
	if remand == nil {
		return nil
	}
	own := *remand
	own.Answers = slices.Clone(own.Answers)
	for i := range own.Answers {
		own.Answers[i].Evidence = mapItems(own.Answers[i].Evidence, change)
	}
	return &own
}
