package court

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/codec"
	"github.com/shadowcourt/shadowcourt/host/internal/sandbox"
	"github.com/shadowcourt/shadowcourt/host/trial"
)

// session is what all calls of one trial, of one audit, or of a branch of one have in common. One goroutine uses it.
type session struct {
	services *Services
	runtime  *Runtime // nil where the modules are the caller's
	modules  Modules
	subject  *abi.Case
	recorder *Recorder  // nil where nothing is recorded
	limit    *timeLimit // stands still while experiments run and models answer; nil for none
	usage    usage
	answers  map[useKey]Use // to what modules asked
	held     map[string]int // bytes of requests and answers, by module
	// results of the experiments that were run, in their order, as modules get them, and with who asked for each.
	results     []abi.ExperimentResult
	experiments []trial.Experiment
	// completions that were asked for, in their order, and what they took.
	completions []trial.Completion
	modelUsage  trial.ModelUsage
	fallbacks   []trial.Fallback // that played, in their order
	// profiled is what modules that can be are prepared with; nil without a profile, and where modules are not prepared.
	profiled *sandbox.Preparation
	profiles []*parted // that requests have
}

// usage is what calls took. Fuel is nil where it is not metered.
type usage struct {
	calls  int
	micros int64
	fuel   *uint64
}

func newSession(services *Services, r *Runtime, modules Modules, subject *abi.Case, recorder *Recorder) *session {
	return &session{
		services: services, runtime: r, modules: modules, subject: subject, recorder: recorder,
		answers: make(map[useKey]Use), held: make(map[string]int),
	}
}

// spend adds up fuel, where it is metered.
func (u *usage) spend(fuel *uint64) {
	if fuel == nil {
		return
	}
	if u.fuel == nil {
		u.fuel = new(uint64)
	}
	*u.fuel += *fuel
}

// pause stops the time limit until resume is called.
func (s *session) pause() (resume func()) {
	if s.limit == nil {
		return func() {}
	}
	return s.limit.pause()
}

// ready loads a module of which that was left for its first call. The time of the trial stands still meanwhile.
func (s *session) ready(ctx context.Context, module string) error {
	late, ok := s.modules.(interface {
		Waits(module string) bool
		Ready(ctx context.Context, module string) error
	})
	if !ok || !late.Waits(module) {
		return nil
	}
	defer s.pause()()
	if err := late.Ready(ctx, module); err != nil && ctx.Err() == nil {
		return callError(err)
	}
	return ctx.Err()
}

// call goes into the sandbox and tells recorder and observer. The broker may have answered the module before. short is the request
// as the module gets it after a preparation, if there is one, and request the whole one, which is nil then where nobody wants it.
func (s *session) call(ctx context.Context, b *broker, call abi.Call, request, short []byte, after *sandbox.Preparation) (output sandbox.Output, info trial.Call, err error) {
	end := s.runtime.turn(ctx)
	start := s.services.Now()
	if err = s.recorder.replayed(b, request); err == nil {
		output, err = s.enter(sandbox.WithBroker(ctx, b), b.module, call, short, after)
	}
	elapsed := s.services.Now().Sub(start)
	end()
	info = trial.Call{Node: b.at, Persona: b.by, Module: s.modules.Digest(b.module), Call: call, Micros: elapsed.Microseconds()}
	for i := range b.uses {
		info.Uses = append(info.Uses, b.uses[i].digests())
	}
	s.usage.calls++
	s.usage.micros += info.Micros
	if s.services.Observe != nil {
		s.services.Observe(CallRecord{
			CaseID: s.subject.ID, Module: b.module, Digest: info.Module, Call: call, Node: b.at, Persona: b.by,
			Input: request, Output: output.Bytes, Elapsed: elapsed, Err: err, Uses: b.uses,
		})
	}
	if err != nil {
		err = callError(err)
		s.recorder.failed(b, call, request, err)
		return output, info, err
	}
	s.recorder.called(b, call, request, &output)
	s.usage.spend(output.Fuel)
	return output, info, nil
}

// moduleError says why a module gave no usable response.
type moduleError struct {
	Cause   trial.Cause
	Message string
	// Problems of a response that was rejected.
	Problems []abi.Problem
	// HostSide: the failure is not the module's doing, so that trying again makes sense.
	HostSide bool
	Err      error
}

// Error gives the message.
func (e *moduleError) Error() string { return e.Message }

// Unwrap gives the error underneath, if any.
func (e *moduleError) Unwrap() error { return e.Err }

// callError says of a failed call what the court needs to know.
func callError(err error) error {
	if replayed, ok := errors.AsType[*replayedError](err); ok {
		return replayed.again()
	}
	var failed *sandbox.CallError
	if !errors.As(err, &failed) {
		return &moduleError{Cause: trial.CauseHost, Message: err.Error(), HostSide: true, Err: err}
	}
	if failed.Cause == sandbox.CauseCancelled {
		return err
	}
	message := string(failed.Cause)
	if failed.Export == abi.ExportPrepare {
		message = abi.ExportPrepare + ": " + message
	}
	if failed.Detail != "" {
		message += ": " + failed.Detail
	}
	m := &moduleError{Cause: causeOf(failed), Message: message, HostSide: failed.Cause == sandbox.CauseHost, Err: err}
	if invalid, ok := errors.AsType[*abi.ValidationError](err); ok && failed.Cause == sandbox.CauseInvalidResponse {
		m.Problems = invalid.Problems
	}
	return m
}

// causes are those of trials by those of calls; any other is the host's.
var causes = map[sandbox.Cause]trial.Cause{
	sandbox.CauseTrap:              trial.CauseTrap,
	sandbox.CauseMissingExport:     trial.CauseTrap,
	sandbox.CauseExit:              trial.CauseExit,
	sandbox.CauseWallClock:         trial.CauseWallClock,
	sandbox.CauseFuel:              trial.CauseFuel,
	sandbox.CauseOutOfMemory:       trial.CauseMemory,
	sandbox.CauseOutputTooLarge:    trial.CauseOutputTooLarge,
	sandbox.CauseOutputOutOfBounds: trial.CauseBadOutput,
	sandbox.CauseBadPointer:        trial.CauseBadOutput,
	sandbox.CauseInputTooLarge:     trial.CauseInput,
	sandbox.CauseDenied:            trial.CauseDenied,
	sandbox.CauseBadRequest:        trial.CauseBadRequest,
	sandbox.CauseInvalidResponse:   trial.CauseInvalidArtifact,
	sandbox.CauseFailed:            trial.CauseFailure,
}

func causeOf(e *sandbox.CallError) trial.Cause {
	cause := cmp.Or(causes[e.Cause], trial.CauseHost)
	if cause == trial.CauseTrap && e.Detail == "stack_overflow" {
		return trial.CauseStack
	}
	return cause
}

// nodeWithWishes makes a node call. Where the module answers with an experiment or a completion, that is done first and the call is
// made again, with the result: so no instance of a module waits while tests run or models answer. Each experiment is run once in a trial.
func (v *invoker) nodeWithWishes(ctx context.Context, module string, req *abi.NodeRequest) (*abi.NodeResponse, error) {
	profile := req.Profile
	defer func() { req.Profile = profile }() // whole for who is asked next: the fallback, or the same module again
	req.Completions = nil
	var wish abi.NodeResponse // what the module answered
	for {
		b := v.broker(module, req.Node, req.Persona.Name)
		if err := v.prepare(ctx, b, req, &wish); err != nil {
			return nil, callError(err)
		}
		if req.Profile = profile; len(req.Offers) == 0 && len(req.Case.Experiments) == 0 {
			req.Profile = v.withoutOutcomes(profile)
		}
		response, err := nodeCalls.once(ctx, v, b, req)
		if err != nil || !isOffered(req, response) {
			return response, err
		}
		wish = *response
	}
}

// prepare does what a module asked for, and completes its next request.
func (v *invoker) prepare(ctx context.Context, b *broker, req *abi.NodeRequest, wish *abi.NodeResponse) error {
	if wish.Experiment != nil {
		if err := v.experiment(ctx, b, wish.Experiment); err != nil {
			return err
		}
	}
	if wish.Completion != nil {
		result, err := v.complete(ctx, b, wish.Completion)
		if err != nil {
			return err
		}
		req.Completions = append(req.Completions, *result)
	}
	var err error
	if req.Offers, err = v.offers(ctx, b); err != nil {
		return err
	}
	req.Case.Experiments = v.results
	req.Prompt = ""
	if b.plays() {
		req.Prompt = b.persona.Prompt
	}
	req.Models, err = v.models(ctx, b, req.Completions)
	return err
}

// isOffered says whether an answer asks for something that was offered. Of what was not offered the check of the answer says so.
func isOffered(req *abi.NodeRequest, response *abi.NodeResponse) bool {
	switch {
	case response.Experiment != nil:
		return offerOf(req.Offers, response.Experiment) != nil
	case response.Completion != nil:
		var c abi.Collector
		abi.CheckCompletion(response.Completion, req.Models, &c)
		return c.Err() == nil
	default:
		return false
	}
}

// offerOf is the offer of an experiment; nil for none.
func offerOf(offers []abi.ExperimentOffer, e *abi.Experiment) *abi.ExperimentOffer {
	if at := slices.IndexFunc(offers, func(o abi.ExperimentOffer) bool { return o.Experiment == *e }); at >= 0 {
		return &offers[at]
	}
	return nil
}

// wasRun says whether an experiment was run, and did not fail to.
func wasRun(r abi.ExperimentResult) bool { return r.Outcome != abi.OutcomeNotRun }

// offers are the experiments that the persona of a call may ask for: none that was run in this trial, and none after one that
// could not be run.
func (s *session) offers(ctx context.Context, b *broker) ([]abi.ExperimentOffer, error) {
	if b.denied(abi.CapExperiment) != "" || !s.hasExperiments() {
		return nil, nil
	}
	for i := range s.results {
		if !wasRun(s.results[i]) {
			return nil, nil
		}
	}
	answer, err := b.askExperiments(ctx, &abi.ExperimentQuery{})
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(answer.Offers, func(o abi.ExperimentOffer) bool {
		return slices.ContainsFunc(s.results, func(r abi.ExperimentResult) bool { return r.Experiment == o.Experiment })
	}), nil
}

// hasExperiments says whether experiments can be run, or could be in the trial that is replayed.
func (s *session) hasExperiments() bool {
	if s.recorder.replays() {
		_, ok := s.recorder.answer(abi.CapExperiment, codec.AppendExperimentQuery(nil, &abi.ExperimentQuery{}))
		return ok
	}
	return s.services.Experiments != nil
}

// experiment runs what was offered, and keeps the result. The time of the trial stands still meanwhile.
func (s *session) experiment(ctx context.Context, b *broker, e *abi.Experiment) error {
	defer s.pause()()
	answer, err := b.askExperiments(ctx, &abi.ExperimentQuery{Experiment: e})
	if err != nil {
		return err
	}
	result := answer.Result
	if result == nil { // the record of the trial that is replayed does not have it
		result = &abi.ExperimentResult{Outcome: abi.OutcomeNotRun, Detail: "the record has no result of it"}
	}
	result.Experiment = *e
	s.results = append(s.results, *result)
	s.experiments = append(s.experiments, trial.NewExperiment(b.at, b.by, result))
	return nil
}

// offered is what experiments were offered when a persona was first granted them; empty if none was.
func (s *session) offered() abi.ExperimentAnswer {
	use := s.answers[keyOfUse(abi.CapExperiment, codec.AppendExperimentQuery(nil, &abi.ExperimentQuery{}))]
	answer, err := codec.DecodeExperimentAnswer(use.Answer, len(use.Answer))
	if err != nil {
		return abi.ExperimentAnswer{}
	}
	return answer
}

// answeredElements are the elements of which the answers of capabilities tell: earth is the source with its changes, air are earlier
// cases, or the same test that was run again.
func (s *session) answeredElements() []abi.Element {
	var elements []abi.Element
	for _, use := range s.answers {
		switch use.Capability {
		case abi.CapSource:
			if answer, err := codec.DecodeSourceAnswer(use.Answer, len(use.Answer)); err == nil && answer.Diff {
				elements = append(elements, abi.Earth)
			}
		case abi.CapRecall, abi.CapCorrelate:
			if answer, err := codec.DecodePriorCases(use.Answer, len(use.Answer)); err == nil && len(answer.Cases) > 0 {
				elements = append(elements, abi.Air)
			}
		case abi.CapLog, abi.CapExperiment, abi.CapComplete: // a model was told nothing but what its persona sees
		}
	}
	if slices.ContainsFunc(s.offered().Offers, func(o abi.ExperimentOffer) bool { return o.Experiment.Product == abi.Base }) {
		elements = append(elements, abi.Earth)
	}
	if slices.ContainsFunc(s.results, wasRun) {
		elements = append(elements, abi.Air)
	}
	return elements
}

// askExperiments puts a query to the broker, which records it as a use of the call.
func (b *broker) askExperiments(ctx context.Context, query *abi.ExperimentQuery) (answer abi.ExperimentAnswer, err error) {
	message, err := b.Ask(ctx, abi.CapExperiment, codec.AppendExperimentQuery(nil, query))
	if err == nil {
		if answer, err = codec.DecodeExperimentAnswer(message, len(message)); err != nil {
			err = fmt.Errorf("the answer of the laboratory: %w", err)
		}
	}
	return answer, err
}

// maxCompletions is how many completions one node call may ask for (SPEC.md §2.12).
const maxCompletions = 16

// models are those that the persona of a call may ask: none after a completion that was not asked.
func (s *session) models(ctx context.Context, b *broker, completions []abi.CompletionResult) ([]abi.ModelOffer, error) {
	if b.denied(abi.CapComplete) != "" || !b.plays() || len(completions) >= maxCompletions {
		return nil, nil
	}
	if s.services.Models == nil && !s.recorder.replays() {
		return nil, nil
	}
	if slices.ContainsFunc(completions, func(r abi.CompletionResult) bool { return r.Outcome == abi.CompletionNotAsked }) {
		return nil, nil
	}
	query := codec.AppendCompletionQuery(nil, &abi.CompletionQuery{Models: b.persona.Models})
	if s.recorder.replays() {
		if _, ok := s.recorder.answer(abi.CapComplete, query); !ok { // there were no models in the trial
			return nil, nil
		}
	}
	answer, err := b.askModels(ctx, query)
	return answer.Models, err
}

// plays says whether the module of the call is the one that its persona names, and not its fallback.
func (b *broker) plays() bool { return b.persona != nil && b.module == b.persona.Module }

// complete asks a model. The time of the trial stands still meanwhile. A question that was asked in the trial before, such as by a
// pass after a remand or by a call that is made again, has the answer of that time, and is neither listed nor paid for a second time.
func (s *session) complete(ctx context.Context, b *broker, completion *abi.Completion) (*abi.CompletionResult, error) {
	defer s.pause()()
	began := s.services.Now()
	query := codec.AppendCompletionQuery(nil, &abi.CompletionQuery{Completion: completion})
	_, again := s.answers[keyOfUse(abi.CapComplete, query)]
	answer, err := b.askModels(ctx, query)
	if err != nil {
		return nil, err
	}
	result := answer.Result
	if result == nil { // the record of the trial that is replayed does not have it
		result = &abi.CompletionResult{Outcome: abi.CompletionNotAsked, Detail: "the record has no answer of it"}
	}
	result.Model = completion.Model
	if again {
		return result, nil
	}
	s.completions = append(s.completions, trial.NewCompletion(b.at, b.by, result))
	s.modelUsage.InputTokens += result.InputTokens
	s.modelUsage.OutputTokens += result.OutputTokens
	s.modelUsage.Cost = trial.RoundMoney(s.modelUsage.Cost + result.Cost)
	s.modelUsage.Waited += s.services.Now().Sub(began)
	return result, nil
}

// askModels puts a query to the broker, which records it as a use of the call.
func (b *broker) askModels(ctx context.Context, query []byte) (answer abi.CompletionAnswer, err error) {
	message, err := b.Ask(ctx, abi.CapComplete, query)
	if err == nil {
		if answer, err = codec.DecodeCompletionAnswer(message, len(message)); err != nil {
			err = fmt.Errorf("the answer of the models: %w", err)
		}
	}
	return answer, err
}
