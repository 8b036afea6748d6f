package host

import (
	"context"
	"slices"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/odds"
	"github.com/shadowcourt/shadowcourt/host/internal/court"
)

// Light answers for the classifier under review. A case that brings its own
// classification needs none; with one, the court may remand. It must be safe for concurrent use.
type Light interface {
	Answer(ctx context.Context, req LightRequest) (LightResponse, error)
}

// LightRequest asks Light for a classification. Feedback, Previous and
// Evidence are nil the first time.
type LightRequest struct {
	Case     *abi.Case
	Feedback *abi.RemandFeedback
	Previous *abi.LightAnswer
	// Evidence is all that is before the court. It begins with the items of
	// the indictment, in its order, so that the feedback's indexes point into it.
	Evidence []abi.Evidence
}

// LightResponse is Light's classification, and the evidence that it gathered
// for it beside that of the case. Its items are named after Light: the court reads the source_ref "scan:7" as "light-scan:scan:7". After a remand Remand accounts for every
// question and every challenged item; its answers may hold new evidence too.
type LightResponse struct {
	Answer   abi.LightAnswer
	Evidence []abi.Evidence
	Remand   *abi.RemandAnswer
}

// courtLight is a Light as the court asks it.
type courtLight struct{ light Light }

// Answer asks the Light.
func (l courtLight) Answer(ctx context.Context, req court.LightRequest) (court.LightResponse, error) {
	response, err := l.light.Answer(ctx, LightRequest(req))
	if err != nil {
		return court.LightResponse(response), err
	}
	var c abi.Collector
	abi.CheckSources(response.Evidence, &c)
	for i := 0; response.Remand != nil && i < len(response.Remand.Answers); i++ {
		mark := c.Mark()
		abi.CheckSources(response.Remand.Answers[i].Evidence, &c)
		c.Nest(mark, abi.Index(i))
		c.Nest(mark, abi.Field("answers"))
		c.Nest(mark, abi.Field("remand"))
	}
	if err := c.Err(); err != nil {
		return court.LightResponse(response), err
	}
	there := req.Case.Evidence
	if req.Feedback != nil {
		there = req.Evidence
	}
	response.Evidence = attributed(response.Evidence, there)
	if response.Remand != nil {
		remand := *response.Remand
		remand.Answers = slices.Clone(remand.Answers)
		for i := range remand.Answers {
			remand.Answers[i].Evidence = attributed(remand.Answers[i].Evidence, there)
		}
		response.Remand = &remand
	}
	return court.LightResponse(response), nil
}

// lightSource is whom the items of a Light are named after.
const lightSource = "light"

// attributed names the items that a Light brings after it, but for those that are there already.
func attributed(items, there []abi.Evidence) []abi.Evidence {
	out := slices.Clone(items)
	for i := range out {
		e := &out[i]
		if abi.FindEvidence(there, e.SourceRef, e.Content) == nil {
			e.SourceRef = odds.Attributed(e.SourceRef, lightSource)
		}
	}
	return out
}
