package host

import (
	"context"

	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/internal/light"
)

// lightPath answers for Light in one trial, by walking the Light path.
type lightPath struct {
	trial   *light.Trial
	session *session
	calls   []int // of the session, before each walk
}

// Answer walks the Light path.
func (l *lightPath) Answer(ctx context.Context, req LightRequest) (LightResponse, error) {
	l.calls = append(l.calls, len(l.session.calls))
	response, err := l.trial.Answer(ctx, light.Request{
		Case: req.Case, Feedback: req.Feedback, Previous: req.Previous, Evidence: req.Evidence,
	})
	if err != nil {
		return LightResponse{}, err
	}
	return LightResponse{Answer: response.Answer, Evidence: response.Evidence, Remand: response.Remand}, nil
}

// passes states the walks as reports want them.
func (l *lightPath) passes() []docket.LightPass {
	if l == nil {
		return nil
	}
	walks := l.trial.Walks()
	list := make([]docket.LightPass, len(walks))
	for i := range walks {
		w := &walks[i]
		end := len(l.session.calls)
		if i+1 < len(walks) {
			end = l.calls[i+1]
		}
		list[i] = docket.LightPass{
			Path: w.Path, Steps: docketSteps(w.Steps), Artifacts: w.Artifacts, Gathered: w.Gathered, Answer: w.Answer,
			Calls: l.session.calls[l.calls[i]:end],
		}
	}
	return list
}
