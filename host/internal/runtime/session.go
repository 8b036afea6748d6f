package runtime

import (
	"context"
	"errors"
	"sync"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/codec"
	"github.com/shadowcourt/shadowcourt/host/internal/runtime/invoker"
	"github.com/shadowcourt/shadowcourt/host/internal/sandbox"
	"github.com/shadowcourt/shadowcourt/host/pipeline"
	"github.com/shadowcourt/shadowcourt/host/trial"
)

// Trial is what all sessions of one trial have in common. One goroutine uses it.
type Trial struct {
	generation *Generation
	subject    *abi.Case
	recorder   *Recorder // nil where nothing is recorded
	calls      int
	micros     int64
	fuel       *uint64
	// answers to what modules asked, by capability and digest of the request.
	answers map[string]Use
	held    map[string]int // bytes of requests and answers, by module
	// experiments that were run, in their order, as modules and as programs get them.
	experiments []abi.ExperimentResult
	told        []trial.Experiment
	// completions that were asked for, in their order, and what they took.
	completions []trial.Completion
	modelUsage  trial.ModelUsage
	fallbacks   []trial.Fallback
	// later: no experiment is run. The first that a persona asks for is noted, and none is offered after it.
	later, asked bool
}

// Trial begins a trial of a case with these modules. The recorder may be nil.
func (g *Generation) Trial(subject *abi.Case, recorder *Recorder) *Trial {
	return &Trial{generation: g, subject: subject, recorder: recorder, answers: make(map[string]Use), held: make(map[string]int)}
}

// Later has no experiments run in the trial. A trial in which no persona asks for one is what it would be with them.
func (t *Trial) Later() { t.later = true }

// Asked says whether a persona asked for an experiment that was left for later.
func (t *Trial) Asked() bool { return t.asked }

// Usage is what the calls of a trial took.
type Usage struct {
	Calls  int
	Micros int64
	Fuel   *uint64 // nil where it is not metered
}

// Usage of the trial so far.
func (t *Trial) Usage() Usage { return Usage{Calls: t.calls, Micros: t.micros, Fuel: t.fuel} }

// Join adds the fuel of a trial that ran beside this one, and has ended.
func (t *Trial) Join(other *Trial) { t.spend(other.fuel) }

// Session plays the personas of one graph in a trial: it encodes requests, calls the sandbox and passes on validated
// responses only.
type Session struct {
	*Trial
	graph    *pipeline.Graph
	recorded []trial.Call
}

// Session begins a session of the trial on a graph.
func (t *Trial) Session(graph *pipeline.Graph) *Session { return &Session{Trial: t, graph: graph} }

// Calls that the session made so far, in order.
func (s *Session) Calls() []trial.Call { return s.recorded }

// Recorder of the trial; nil where nothing is recorded.
func (s *Session) Recorder() invoker.Recorder {
	if s.recorder == nil {
		return nil
	}
	return s.recorder
}

// requests are buffers for encoded requests, used again from call to call.
var requests = sync.Pool{New: func() any { b := make([]byte, 0, 16<<10); return &b }} //nolint:gochecknoglobals // a pool is no state

// Digest of a module, "sha256:" and 64 hex digits; empty if there is none of that name.
func (s *Session) Digest(module string) string {
	m, err := s.generation.Module(module)
	if err != nil {
		return ""
	}
	return m.Info().Digest.String()
}

// Contest makes a contest call.
func (s *Session) Contest(ctx context.Context, module string, req *abi.ContestRequest) (*abi.ContestResponse, error) {
	buffer := requests.Get().(*[]byte) //nolint:forcetypeassert // the pool holds nothing else
	defer requests.Put(buffer)
	sent := *req
	sent.Profile = withoutTables(req.Profile)
	*buffer = codec.AppendContestRequest((*buffer)[:0], &sent)
	output, err := s.call(ctx, s.broker(module, "", req.Persona.Name), abi.CallContest, *buffer)
	if err != nil {
		return nil, err
	}
	return accept(codec.DecodeContestResponse(output, len(output)))
}

// Edges makes an edge call.
func (s *Session) Edges(ctx context.Context, module string, req *abi.EdgeRequest) (*abi.EdgeResponse, error) {
	buffer := requests.Get().(*[]byte) //nolint:forcetypeassert // the pool holds nothing else
	defer requests.Put(buffer)
	*buffer = codec.AppendEdgeRequest((*buffer)[:0], req)
	output, err := s.call(ctx, s.broker(module, req.Node, ""), abi.CallEdges, *buffer)
	if err != nil {
		return nil, err
	}
	response, err := accept(codec.DecodeEdgeResponse(output, len(output)))
	s.recorder.answered(req.Questions, response)
	return response, err
}

// accept turns a rejection of the decoder into the court's error.
func accept[T any](response T, err error) (*T, error) {
	var invalid *abi.ValidationError
	switch {
	case err == nil:
		return &response, nil
	case errors.As(err, &invalid):
		return nil, &invoker.ModuleError{
			Cause: trial.CauseInvalidArtifact, Message: "invalid artifact: " + err.Error(), Problems: invalid.Problems, Err: err,
		}
	default:
		return nil, &invoker.ModuleError{Cause: trial.CauseHost, Message: err.Error(), HostSide: true, Err: err}
	}
}

// call goes into the sandbox and tells recorder and observer. The broker may have answered the module before.
func (s *Session) call(ctx context.Context, b *broker, call abi.Call, request []byte) ([]byte, error) {
	module, node, persona := b.module, b.at, b.by
	m, err := s.generation.Module(module)
	if err != nil {
		return nil, &invoker.ModuleError{Cause: trial.CauseHost, Message: err.Error(), Err: err}
	}
	config := &s.generation.runtime.config
	end := s.generation.runtime.turn(ctx)
	start := config.Now()
	var output sandbox.Output
	if err = s.recorder.replayed(b, request); err == nil {
		output, err = m.Call(sandbox.WithBroker(ctx, b), call, request)
	}
	elapsed := config.Now().Sub(start)
	end()
	digest := m.Info().Digest.String()
	s.calls++
	s.micros += elapsed.Microseconds()
	info := trial.Call{Node: node, Persona: persona, Module: digest, Call: call, Micros: elapsed.Microseconds()}
	for i := range b.uses {
		info.Uses = append(info.Uses, b.uses[i].digests())
	}
	s.recorded = append(s.recorded, info)
	if config.Observe != nil {
		config.Observe(Call{
			CaseID: s.subject.ID, Module: module, Digest: digest, Call: call, Node: node, Persona: persona,
			Input: request, Output: output.Bytes, Elapsed: elapsed, Err: err, Uses: b.uses,
		})
	}
	if err != nil {
		err = callError(err)
		s.recorder.failed(b, call, request, err)
		return nil, err
	}
	s.recorder.called(b, call, request, &output)
	s.spend(output.Fuel)
	return output.Bytes, nil
}

// broker serves the module of a call.
func (s *Session) broker(module, node, persona string) *broker {
	b := &broker{trial: s.Trial, module: module, at: node, by: persona}
	b.node, _ = s.graph.Node(node)
	if persona != "" {
		b.persona, _ = s.graph.Definition().Persona(persona)
	}
	return b
}

// spend adds up fuel, where it is metered.
func (t *Trial) spend(fuel *uint64) {
	if fuel == nil {
		return
	}
	if t.fuel == nil {
		t.fuel = new(uint64)
	}
	*t.fuel += *fuel
}

// callError says of a failed call what the court needs to know.
func callError(err error) error {
	if replayed, ok := errors.AsType[*replayedError](err); ok {
		return replayed.again()
	}
	var failed *sandbox.CallError
	if !errors.As(err, &failed) {
		return &invoker.ModuleError{Cause: trial.CauseHost, Message: err.Error(), HostSide: true, Err: err}
	}
	if failed.Cause == sandbox.CauseCancelled {
		return err
	}
	message := string(failed.Cause)
	if failed.Detail != "" {
		message += ": " + failed.Detail
	}
	return &invoker.ModuleError{
		Cause: causeOf(failed), Message: message, HostSide: failed.Cause == sandbox.CauseHost, Err: err,
	}
}

func causeOf(e *sandbox.CallError) trial.Cause {
	switch e.Cause {
	case sandbox.CauseTrap, sandbox.CauseMissingExport:
		if e.Detail == "stack_overflow" {
			return trial.CauseStack
		}
		return trial.CauseTrap
	case sandbox.CauseExit:
		return trial.CauseExit
	case sandbox.CauseWallClock:
		return trial.CauseWallClock
	case sandbox.CauseFuel:
		return trial.CauseFuel
	case sandbox.CauseOutOfMemory:
		return trial.CauseMemory
	case sandbox.CauseOutputTooLarge:
		return trial.CauseOutputTooLarge
	case sandbox.CauseOutputOutOfBounds, sandbox.CauseBadPointer:
		return trial.CauseBadOutput
	case sandbox.CauseInputTooLarge:
		return trial.CauseInput
	case sandbox.CauseDenied:
		return trial.CauseDenied
	case sandbox.CauseBadRequest:
		return trial.CauseBadRequest
	case sandbox.CauseFailed:
		return trial.CauseFailure
	case sandbox.CauseCancelled, sandbox.CauseHost:
		return trial.CauseHost
	default:
		return trial.CauseHost
	}
}
