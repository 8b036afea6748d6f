package conformance

import (
	"context"
	"errors"
	"slices"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/abitest"
	"github.com/shadowcourt/shadowcourt/host/internal/sandbox"
)

// subject makes the kit's calls in the sandbox, by a method of a module there.
type subject func(ctx context.Context, call abi.Call, request []byte) (sandbox.Output, error)

// Call makes a call whose module asks the broker of the case.
func (s subject) Call(ctx context.Context, call abi.Call, request []byte, k *abitest.Knowledge) (abitest.Outcome, error) {
	output, err := s(sandbox.WithBroker(ctx, broker{known: k}), call, request)
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

// prepared is a module that the host prepares.
type prepared struct {
	subject
	module *sandbox.Module
}

// CallPrepared makes a call after preparations.
func (s prepared) CallPrepared(ctx context.Context, profile, view []byte, call abi.Call, request []byte, k *abitest.Knowledge) (abitest.Outcome, error) {
	requests := slices.DeleteFunc([][]byte{profile, view}, func(r []byte) bool { return r == nil })
	if len(requests) == 0 {
		return s.Call(ctx, call, request, k)
	}
	after := &sandbox.Preparation{Digest: string(slices.Concat(requests...)), Requests: requests}
	called := func(ctx context.Context, call abi.Call, request []byte) (sandbox.Output, error) {
		return s.module.CallPrepared(ctx, after, call, request)
	}
	return subject(called).Call(ctx, call, request, k)
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

// broker answers what a case knows. It offers no models and no experiments: the kit's requests have their offers.
type broker struct {
	sandbox.Nothing

	known *abitest.Knowledge
}

// Ask answers through the sandbox's codec.
func (d broker) Ask(ctx context.Context, capability abi.Capability, request []byte) ([]byte, error) {
	if d.known == nil {
		return sandbox.Answer(ctx, d.Nothing, capability, request)
	}
	return sandbox.Answer(ctx, d, capability, request)
}

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

// Source gives what is known of the source.
func (d broker) Source(_ context.Context, q abi.SourceQuery) (abi.SourceAnswer, error) {
	a := d.known.Source
	a.Frames = a.Frames[:min(q.Limit, len(a.Frames))]
	return a, nil
}
