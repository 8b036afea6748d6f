package module

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/abitest"
	"github.com/shadowcourt/shadowcourt/abi/codec"
	"github.com/shadowcourt/shadowcourt/host/internal/court/registry"
	"github.com/shadowcourt/shadowcourt/host/internal/sandbox"
	"github.com/shadowcourt/shadowcourt/host/pipeline"
)

// Granted says what pipelines would grant a module of that name of the
// capabilities that it asks for, each with the names of the pipelines that
// grant it. A capability that none grants has an empty list.
func Granted(name string, asked []abi.Capability, defs ...*pipeline.Definition) map[abi.Capability][]string {
	granted := make(map[abi.Capability][]string, len(asked))
	for _, capability := range asked {
		granted[capability] = []string{}
		for _, def := range defs {
			for i := range def.Personas {
				p := &def.Personas[i]
				if p.Module == name && slices.Contains(p.Grants, pipeline.Capability(capability)) && !slices.Contains(granted[capability], def.Pipeline) {
					granted[capability] = append(granted[capability], def.Pipeline)
				}
			}
		}
	}
	return granted
}

// Description is what a module did with one small request.
type Description struct {
	// Asked is the kind of call, and the family: "node verdict".
	Asked string `json:"asked"`
	// Outcome is "answers", "declines" with the module's own failure, or "fails" by the contract.
	Outcome string `json:"outcome"`
	// Detail of a rejection or a failure; empty for an answer.
	Detail string `json:"detail,omitempty"`
}

// Describe runs a module with nothing granted, and asks it a small request of
// every kind that it exports a function for, whatever its manifest says. It is
// for a module that says nothing of itself. The error is a *sandbox.LoadError
// in its text where the module cannot be loaded, or the context's.
func Describe(ctx context.Context, wasm []byte, cacheDir string) ([]Description, error) {
	engine, err := sandbox.New(ctx, sandbox.Config{CacheDir: cacheDir})
	if err != nil {
		return nil, fmt.Errorf("open the sandbox: %w", err)
	}
	defer func() { _ = engine.Close(context.WithoutCancel(ctx)) }()
	m, err := engine.Load(ctx, wasm)
	if err != nil {
		return nil, err
	}
	all := &abi.Manifest{Calls: m.Info().Calls, Families: abitest.ServedFamilies(), Criteria: []string{"any"}, Edges: []string{"any"}}
	var list []Description
	for _, sample := range registry.Samples(all) {
		out, err := m.Call(ctx, sample.Call, sample.Request)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		list = append(list, described(sample, out.Bytes, err))
	}
	return list, nil
}

func described(sample registry.Sample, response []byte, err error) Description {
	d := Description{Asked: sample.Name, Outcome: "answers"}
	var failure *abi.Failure
	if err == nil {
		failure, err = failureOf(sample.Call, response)
	}
	var failed *sandbox.CallError
	switch {
	case errors.As(err, &failed):
		d.Outcome, d.Detail = "fails", string(failed.Cause)
		if failed.Detail != "" {
			d.Detail += ": " + failed.Detail
		}
	case err != nil:
		d.Outcome, d.Detail = "fails", err.Error()
	case failure != nil:
		d.Outcome, d.Detail = "declines", failure.Code+": "+failure.Message
	}
	return d
}

// failureOf decodes a response strictly, and gives the module's own word that it cannot answer.
func failureOf(call abi.Call, response []byte) (*abi.Failure, error) {
	switch call {
	case abi.CallNode:
		r, err := codec.DecodeNodeResponse(response, len(response))
		return r.Failure, err
	case abi.CallContest:
		r, err := codec.DecodeContestResponse(response, len(response))
		return r.Failure, err
	case abi.CallEdges:
		r, err := codec.DecodeEdgeResponse(response, len(response))
		return r.Failure, err
	default:
		r, err := codec.DecodeJudgeResponse(response, len(response))
		return r.Failure, err
	}
}
