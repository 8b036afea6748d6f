package court

import (
	"context"
	"errors"

	"github.com/shadowcourt/shadowcourt/abi"
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
	// prepares: modules that can be are prepared, with the profile by profiled, which is nil without one.
	prepares  bool
	profiled  *sandbox.Preparation
	profiles  []*parted             // that requests have
	documents map[string]*documents // by module, of its last node call
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

// call goes into the sandbox and tells recorder and observer. The broker may have answered the module before. short is the request
// as the module gets it after preparations, if there are any, and request the whole one, which is nil then where nobody wants it.
func (s *session) call(ctx context.Context, b *broker, call abi.Call, request, short []byte, after sandbox.Prepared) (output sandbox.Output, info trial.Call, err error) {
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
	case sandbox.CauseInvalidResponse:
		return trial.CauseInvalidArtifact
	case sandbox.CauseFailed:
		return trial.CauseFailure
	default:
		return trial.CauseHost
	}
}
