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

// LightRequest asks Light for a classification. Feedback and Previous are nil
// the first time.
type LightRequest struct {
	Case     *abi.Case
	Feedback *abi.RemandFeedback
	Previous *abi.LightAnswer
}

// LightResponse is Light's classification. After a remand Remand accounts for
// every question and every challenged item, and its answers hold the new evidence.
type LightResponse struct {
	Answer abi.LightAnswer
	Remand *abi.RemandAnswer
}
