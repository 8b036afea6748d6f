package runner

import (
	"context"

	"github.com/shadowcourt/shadowcourt/host/internal/court"
	"github.com/shadowcourt/shadowcourt/host/internal/light"
	"github.com/shadowcourt/shadowcourt/host/internal/runtime"
	"github.com/shadowcourt/shadowcourt/host/trial"
)

// lightPath answers for Light in one trial, by traversing the Light path.
type lightPath struct {
	trial   *light.Trial
	session *runtime.Session
	calls   []int // of the session, before each pass
}

// Answer traverses the Light path.
func (l *lightPath) Answer(ctx context.Context, req court.LightRequest) (court.LightResponse, error) {
	l.calls = append(l.calls, len(l.session.Calls()))
	response, err := l.trial.Answer(ctx, light.Request{
		Case: req.Case, Feedback: req.Feedback, Previous: req.Previous, Evidence: req.Evidence,
	})
	if err != nil {
		return court.LightResponse{}, err
	}
	return court.LightResponse{Answer: response.Answer, Evidence: response.Evidence, Remand: response.Remand}, nil
}

// passes gives the passes over the Light path with their calls.
func (l *lightPath) passes() []trial.LightPass {
	if l == nil {
		return nil
	}
	calls, list := l.session.Calls(), l.trial.Passes()
	for i := range list {
		end := len(calls)
		if i+1 < len(list) {
			end = l.calls[i+1]
		}
		list[i].Calls = calls[l.calls[i]:end]
	}
	return list
}
