package court

import (
	"context"

	"github.com/shadowcourt/shadowcourt/abi"
)

// Light answers for the classifier that the court reviews. It is asked again
// after a remand, with the feedback of the court.
type Light interface {
	Answer(ctx context.Context, req LightRequest) (LightResponse, error)
}

// LightRequest asks Light for a classification. Feedback, Previous and
// Evidence are nil the first time.
type LightRequest struct {
	Case     *abi.Case
	Feedback *abi.RemandFeedback
	Previous *abi.LightAnswer
	// Evidence is all that lies before the court. It begins with the items of
	// the indictment, in its order, so that the feedback's indexes point into it.
	Evidence []abi.Evidence
}

// LightResponse is Light's classification, and the evidence that it gathered
// for it beside that of the case. After a remand Remand accounts for every
// question and every challenged item; its answers may hold new evidence too.
type LightResponse struct {
	Answer   abi.LightAnswer
	Evidence []abi.Evidence
	Remand   *abi.RemandAnswer
}
