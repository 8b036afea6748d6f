package runtime

import (
	"context"
	"fmt"
	"slices"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/codec"
	"github.com/shadowcourt/shadowcourt/host/internal/runtime/invoker"
	"github.com/shadowcourt/shadowcourt/host/record"
	"github.com/shadowcourt/shadowcourt/host/trial"
)

// Node makes a node call. Where the module answers with an experiment or a completion, that is done first and the call is made
// again, with the result: so no instance of a module waits while tests run or models answer. Each experiment is run once in a trial.
func (s *Session) Node(ctx context.Context, module string, req *abi.NodeRequest) (*abi.NodeResponse, error) {
	req.Completions = nil
	var before abi.NodeResponse // what the module answered
	for {
		b := s.broker(module, req.Node, req.Persona.Name)
		if err := s.prepare(ctx, b, req, &before); err != nil {
			return nil, callError(err)
		}
		response, err := s.node(ctx, b, req)
		if err != nil || !wants(req, response) {
			return response, err
		}
		if before = *response; before.Experiment != nil && s.later {
			s.asked, before = true, abi.NodeResponse{}
		}
	}
}

// prepare does what a module asked for, and completes its next request.
func (s *Session) prepare(ctx context.Context, b *broker, req *abi.NodeRequest, before *abi.NodeResponse) error {
	if before.Experiment != nil {
		if err := s.experiment(ctx, b, before.Experiment); err != nil {
			return err
		}
	}
	if before.Completion != nil {
		result, err := s.complete(ctx, b, before.Completion)
		if err != nil {
			return err
		}
		req.Completions = append(req.Completions, *result)
	}
	var err error
	if req.Offers, err = s.offers(ctx, b); err != nil {
		return err
	}
	req.Case.Experiments = s.experiments
	req.Prompt = ""
	if b.plays() {
		req.Prompt = b.persona.Prompt
	}
	req.Models, err = s.models(ctx, b, req.Completions)
	return err
}

// wants says whether an answer asks for something that was offered. Of what was not offered the caller says so.
func wants(req *abi.NodeRequest, response *abi.NodeResponse) bool {
	switch {
	case response.Experiment != nil:
		return offered(req.Offers, response.Experiment)
	case response.Completion != nil:
		var c abi.Collector
		abi.CheckCompletion(response.Completion, req.Models, &c)
		return c.Err() == nil
	default:
		return false
	}
}

func offered(offers []abi.ExperimentOffer, e *abi.Experiment) bool {
	return slices.ContainsFunc(offers, func(o abi.ExperimentOffer) bool { return o.Experiment == *e })
}

// node makes one call.
func (s *Session) node(ctx context.Context, b *broker, req *abi.NodeRequest) (*abi.NodeResponse, error) {
	buffer := requests.Get().(*[]byte) //nolint:forcetypeassert // the pool holds nothing else
	defer requests.Put(buffer)
	sent := *req
	if len(req.Offers) == 0 && len(req.Case.Experiments) == 0 {
		sent.Profile = withoutTables(req.Profile)
	}
	*buffer = codec.AppendNodeRequest((*buffer)[:0], &sent)
	output, err := s.call(ctx, b, abi.CallNode, *buffer)
	if err != nil {
		return nil, err
	}
	return accept(codec.DecodeNodeResponse(output, len(output)))
}

// withoutTables leaves the tables of experiments out of a profile. Where none was run and none is offered they change no answer, and are
// most of what a module would decode.
func withoutTables(p *abi.Profile) *abi.Profile {
	if p == nil || len(p.Experiments) == 0 {
		return p
	}
	cut := *p
	cut.Experiments = nil
	return &cut
}

// offers are the experiments that the persona of a call may ask for: none that was run in this trial, and none after one that
// could not be run or is left for later.
func (s *Session) offers(ctx context.Context, b *broker) ([]abi.ExperimentOffer, error) {
	if b.denied(abi.CapExperiment) != "" || !s.Experimental() || s.asked {
		return nil, nil
	}
	for i := range s.experiments {
		if s.experiments[i].Outcome == abi.OutcomeNotRun {
			return nil, nil
		}
	}
	answer, err := ask(ctx, b, abi.ExperimentQuery{})
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(answer.Offers, func(o abi.ExperimentOffer) bool {
		return slices.ContainsFunc(s.experiments, func(r abi.ExperimentResult) bool { return r.Experiment == o.Experiment })
	}), nil
}

// Experimental says whether there is a laboratory, or was one in the trial that is tried again.
func (s *Session) Experimental() bool {
	if s.recorder.replays() {
		_, ok := s.recorder.answer(abi.CapExperiment, codec.AppendExperimentQuery(nil, &abi.ExperimentQuery{}))
		return ok
	}
	return s.generation.runtime.config.Experiments != nil
}

// experiment runs what was offered, and keeps the result. The time of the trial stands still meanwhile.
func (s *Session) experiment(ctx context.Context, b *broker, e *abi.Experiment) error {
	defer invoker.Pause(ctx)()
	answer, err := ask(ctx, b, abi.ExperimentQuery{Experiment: e})
	if err != nil {
		return err
	}
	result := answer.Result
	if result == nil { // the record of the trial that is tried again does not have it
		result = &abi.ExperimentResult{Outcome: abi.OutcomeNotRun, Detail: "the record has no result of it"}
	}
	result.Experiment = *e
	s.experiments = append(s.experiments, *result)
	s.told = append(s.told, trial.NewExperiment(b.at, b.by, result))
	return nil
}

// Results of the experiments, in their order, as modules see them.
func (t *Trial) Results() []abi.ExperimentResult { return t.experiments }

// Offered is what the laboratory offered when a persona was first granted it; empty if none was.
func (t *Trial) Offered() abi.ExperimentAnswer {
	use := t.answers[useKey(abi.CapExperiment, record.DigestOf(codec.AppendExperimentQuery(nil, &abi.ExperimentQuery{})))]
	answer, err := codec.DecodeExperimentAnswer(use.Answer, len(use.Answer))
	if err != nil {
		return abi.ExperimentAnswer{}
	}
	return answer
}

// Told are the elements of which the answers of capabilities tell: earth is the source with its changes, air are earlier cases, or
// the same test that was run again.
func (t *Trial) Told() []abi.Element {
	var told []abi.Element
	for _, use := range t.answers {
		switch use.Capability {
		case abi.CapSource:
			if answer, err := codec.DecodeSourceAnswer(use.Answer, len(use.Answer)); err == nil && answer.Diff {
				told = append(told, abi.Earth)
			}
		case abi.CapRecall, abi.CapCorrelate:
			if answer, err := codec.DecodePriorCases(use.Answer, len(use.Answer)); err == nil && len(answer.Cases) > 0 {
				told = append(told, abi.Air)
			}
		case abi.CapLog, abi.CapExperiment, abi.CapComplete: // a model was told nothing but what its persona sees
		}
	}
	if slices.ContainsFunc(t.Offered().Offers, func(o abi.ExperimentOffer) bool { return o.Experiment.Product == abi.Green }) {
		told = append(told, abi.Earth)
	}
	if slices.ContainsFunc(t.experiments, func(r abi.ExperimentResult) bool { return r.Outcome != abi.OutcomeNotRun }) {
		told = append(told, abi.Air)
	}
	return told
}

// Experiments that were run in the trial, in their order.
func (t *Trial) Experiments() []trial.Experiment { return t.told }

// ask puts a query to the broker of a call, which records it as a use of the call.
func ask(ctx context.Context, b *broker, query abi.ExperimentQuery) (abi.ExperimentAnswer, error) {
	message, err := b.Ask(ctx, abi.CapExperiment, codec.AppendExperimentQuery(nil, &query))
	if err != nil {
		return abi.ExperimentAnswer{}, err
	}
	answer, err := codec.DecodeExperimentAnswer(message, len(message))
	if err != nil {
		return abi.ExperimentAnswer{}, fmt.Errorf("the answer of the laboratory: %w", err)
	}
	return answer, nil
}
