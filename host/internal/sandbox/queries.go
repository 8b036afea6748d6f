package sandbox

import (
	"bytes"
	"context"
	"sync"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/codec"
)

// Queries are the capabilities as functions. An error is a failure of the host.
type Queries interface {
	Log(ctx context.Context, line abi.LogLine) error
	Recall(ctx context.Context, query abi.RecallQuery) (abi.PriorCases, error)
	Correlate(ctx context.Context, query abi.CorrelateQuery) (abi.PriorCases, error)
	Source(ctx context.Context, query abi.SourceQuery) (abi.SourceAnswer, error)
	Experiment(ctx context.Context, query abi.ExperimentQuery) (abi.ExperimentAnswer, error)
	Complete(ctx context.Context, query abi.CompletionQuery) (abi.CompletionAnswer, error)
}

// Answer decodes a request strictly, asks, and encodes the answer canonically. Its errors are a *RequestError and those of queries.
func Answer(ctx context.Context, queries Queries, capability abi.Capability, request []byte) ([]byte, error) {
	switch capability {
	case abi.CapLog:
		line, err := codec.DecodeLogLine(request, len(request))
		if err != nil {
			return nil, &RequestError{capability, err}
		}
		return nil, queries.Log(ctx, line)
	case abi.CapRecall:
		return answer(ctx, capability, request, codec.DecodeRecallQuery, queries.Recall, codec.AppendPriorCases)
	case abi.CapCorrelate:
		return answer(ctx, capability, request, codec.DecodeCorrelateQuery, queries.Correlate, codec.AppendPriorCases)
	case abi.CapSource:
		return answer(ctx, capability, request, codec.DecodeSourceQuery, queries.Source, codec.AppendSourceAnswer)
	case abi.CapExperiment: // no function of modules: the host asks for them
		return answer(ctx, capability, request, codec.DecodeExperimentQuery, queries.Experiment, codec.AppendExperimentAnswer)
	case abi.CapComplete: // neither
		return answer(ctx, capability, request, codec.DecodeCompletionQuery, queries.Complete, codec.AppendCompletionAnswer)
	}
	return nil, &DeniedError{capability, "has no function"}
}

func answer[Q, A any](ctx context.Context, capability abi.Capability, request []byte,
	decode func([]byte, int) (Q, error), ask func(context.Context, Q) (A, error), encode func([]byte, *A) []byte,
) ([]byte, error) {
	query, err := decode(request, len(request))
	if err != nil {
		return nil, &RequestError{capability, err}
	}
	a, err := ask(ctx, query)
	if err != nil {
		return nil, err
	}
	buffer, _ := encoders.Get().(*[]byte)
	*buffer = encode((*buffer)[:0], &a)
	message := bytes.Clone(*buffer)
	if cap(*buffer) <= mostEncoder {
		encoders.Put(buffer)
	}
	return message, nil
}

// encoders are buffers that answers are written into: growing one for each answer would leave several times its size behind.
var encoders = sync.Pool{New: func() any { return new([]byte) }}

// mostEncoder is the largest buffer that is kept.
const mostEncoder = 2 << 20

// Nothing answers every query as a host does that has no casebook, no source and no laboratory.
type Nothing struct{}

// Log drops the line.
func (Nothing) Log(context.Context, abi.LogLine) error { return nil }

// Recall knows no case.
func (Nothing) Recall(context.Context, abi.RecallQuery) (abi.PriorCases, error) {
	return abi.PriorCases{}, nil
}

// Correlate knows no case.
func (Nothing) Correlate(context.Context, abi.CorrelateQuery) (abi.PriorCases, error) {
	return abi.PriorCases{}, nil
}

// Source knows no source.
func (Nothing) Source(context.Context, abi.SourceQuery) (abi.SourceAnswer, error) {
	return abi.SourceAnswer{}, nil
}

// Complete offers no model, and asks none.
func (Nothing) Complete(context.Context, abi.CompletionQuery) (abi.CompletionAnswer, error) {
	return abi.CompletionAnswer{}, nil
}

// Experiment offers none, and runs none.
func (Nothing) Experiment(context.Context, abi.ExperimentQuery) (abi.ExperimentAnswer, error) {
	return abi.ExperimentAnswer{}, nil
}
