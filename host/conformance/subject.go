package conformance

import (
	"context"
	"errors"
	"slices"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/abitest"
	"github.com/shadowcourt/shadowcourt/host/internal/sandbox"
)

// caller is a module of the sandbox, or an instance of one.
type caller interface {
	Call(ctx context.Context, call abi.Call, request []byte) (sandbox.Output, error)
}

// subject makes the kit's calls in the sandbox.
type subject struct{ caller }

// Call makes a call whose module asks the broker of the case.
func (s subject) Call(ctx context.Context, call abi.Call, request []byte, k *abitest.Knowledge) (abitest.Outcome, error) {
	output, err := s.caller.Call(sandbox.WithBroker(ctx, broker{k}), call, request)
	if err == nil {
		return abitest.Outcome{Response: output.Bytes, Fuel: *output.Fuel}, nil
	}
	var failed *sandbox.CallError
	if !errors.As(err, &failed) || failed.Cause == sandbox.CauseHost || failed.Cause == sandbox.CauseCancelled {
		return abitest.Outcome{}, err
	}
	return abitest.Outcome{
		Ending: ending(failed), Allocating: failed.Export == abi.ExportAlloc, Preparing: failed.Export == abi.ExportPrepare,
		Detail: failed.Detail, Stderr: failed.Stderr,
	}, nil
}

// prepared is a module that may be prepared.
type prepared struct {
	subject
	module *sandbox.Module
}

// Prepares says whether it can be.
func (s prepared) Prepares() bool { return s.module.Prepares() }

// CallPrepared makes a call after preparations.
func (s prepared) CallPrepared(ctx context.Context, profile, view []byte, call abi.Call, request []byte, k *abitest.Knowledge) (abitest.Outcome, error) {
	var after sandbox.Prepared
	if profile != nil {
		after.Generation = &sandbox.Preparation{Digest: string(profile), Request: profile}
	}
	if view != nil {
		after.Case = &sandbox.Preparation{Digest: string(slices.Concat(profile, view)), Request: view}
	}
	return subject{preparedCaller{s.module, after}}.Call(ctx, call, request, k)
}

// preparedCaller makes calls after preparations.
type preparedCaller struct {
	module *sandbox.Module
	after  sandbox.Prepared
}

// Call makes one.
func (c preparedCaller) Call(ctx context.Context, call abi.Call, request []byte) (sandbox.Output, error) {
	return c.module.CallPrepared(ctx, c.after, call, request)
}

// ending says how a call ended that failed.
func ending(e *sandbox.CallError) abitest.Ending {
	var rejected *sandbox.DeniedError
	switch {
	case e.Cause == sandbox.CauseTrap && e.Detail == "stack_overflow":
		return abitest.StackExceeded
	case e.Cause == sandbox.CauseDenied && errors.As(e.Err, &rejected):
		return abitest.QuestionDenied
	case e.Cause == sandbox.CauseMissingExport:
		return abitest.Trapped
	}
	return abitest.Ending(e.Cause)
}

// broker answers what a case knows.
type broker struct{ known *abitest.Knowledge }

// Ask answers through the sandbox's codec.
func (d broker) Ask(ctx context.Context, capability abi.Capability, request []byte) ([]byte, error) {
	if d.known == nil {
		return sandbox.Answer(ctx, sandbox.Nothing{}, capability, request)
	}
	return sandbox.Answer(ctx, d, capability, request)
}

// Log drops the line.
func (broker) Log(context.Context, abi.LogLine) error { return nil }

// Recall gives the earlier cases, as many as are asked for.
func (d broker) Recall(_ context.Context, q abi.RecallQuery) (abi.PriorCases, error) {
	return d.prior(q.Limit), nil
}

// Correlate gives the earlier cases, as many as are asked for.
func (d broker) Correlate(_ context.Context, q abi.CorrelateQuery) (abi.PriorCases, error) {
	return d.prior(q.Limit), nil
}

func (d broker) prior(limit int) abi.PriorCases {
	cases := d.known.Prior.Cases
	return abi.PriorCases{Cases: cases[:min(limit, len(cases))]}
}

// Complete offers no model, and asks none: the kit's requests have their offers.
func (broker) Complete(context.Context, abi.CompletionQuery) (abi.CompletionAnswer, error) {
	return abi.CompletionAnswer{}, nil
}

// Experiment offers none, and runs none: the kit's requests have their offers.
func (broker) Experiment(context.Context, abi.ExperimentQuery) (abi.ExperimentAnswer, error) {
	return abi.ExperimentAnswer{}, nil
}

// Source gives what is known of the source.
func (d broker) Source(_ context.Context, q abi.SourceQuery) (abi.SourceAnswer, error) {
	a := d.known.Source
	a.Frames = a.Frames[:min(q.Limit, len(a.Frames))]
	return a, nil
}
