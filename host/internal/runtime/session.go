package runtime

import (
	"context"
	"errors"
	"sync"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/codec"
	"github.com/shadowcourt/shadowcourt/host/internal/runtime/invoker"
	"github.com/shadowcourt/shadowcourt/host/internal/runtime/registry"
	"github.com/shadowcourt/shadowcourt/host/internal/sandbox"
	"github.com/shadowcourt/shadowcourt/host/pipeline"
	"github.com/shadowcourt/shadowcourt/host/trial"
)

// session plays the personas of one trial with the modules of one generation:
// it encodes requests, calls the sandbox and lets only validated responses through.
type session struct {
	host       *Host
	generation *registry.Generation
	subject    *abi.Case
	graph      *pipeline.Graph // whose personas are played
	calls      []trial.Call
	*account
}

// account is what all walks of a trial have in common.
type account struct {
	number int // of calls
	micros int64
	fuel   *uint64
	// answers to what modules asked, by capability and digest of the request.
	answers map[string]Use
	held    map[string]int // bytes of requests and answers, by module
	trail   *trail         // nil where nothing is recorded
}

func newAccount() *account {
	return &account{answers: make(map[string]Use), held: make(map[string]int)}
}

// Recorder of the trial; nil where nothing is recorded.
func (s *session) Recorder() invoker.Recorder {
	if s.trail == nil {
		return nil
	}
	return s.trail
}

// requests are buffers for encoded requests, used again from call to call.
var requests = sync.Pool{New: func() any { b := make([]byte, 0, 16<<10); return &b }} //nolint:gochecknoglobals // a pool is no state

// Digest of a module, "sha256:" and 64 hex digits; empty if there is none of that name.
func (s *session) Digest(module string) string {
	m, err := s.generation.Module(module)
	if err != nil {
		return ""
	}
	return m.Info().Digest.String()
}

// Node makes a node call.
func (s *session) Node(ctx context.Context, module string, req *abi.NodeRequest) (*abi.NodeResponse, error) {
	buffer := requests.Get().(*[]byte) //nolint:forcetypeassert // the pool holds nothing else
	defer requests.Put(buffer)
	*buffer = codec.AppendNodeRequest((*buffer)[:0], req)
	output, err := s.call(ctx, module, abi.CallNode, req.Node, req.Persona.Name, *buffer)
	if err != nil {
		return nil, err
	}
	return accept(codec.DecodeNodeResponse(output, len(output)))
}

// Contest makes a contest call.
func (s *session) Contest(ctx context.Context, module string, req *abi.ContestRequest) (*abi.ContestResponse, error) {
	buffer := requests.Get().(*[]byte) //nolint:forcetypeassert // the pool holds nothing else
	defer requests.Put(buffer)
	*buffer = codec.AppendContestRequest((*buffer)[:0], req)
	output, err := s.call(ctx, module, abi.CallContest, "", req.Persona.Name, *buffer)
	if err != nil {
		return nil, err
	}
	return accept(codec.DecodeContestResponse(output, len(output)))
}

// Edges makes an edge call.
func (s *session) Edges(ctx context.Context, module string, req *abi.EdgeRequest) (*abi.EdgeResponse, error) {
	buffer := requests.Get().(*[]byte) //nolint:forcetypeassert // the pool holds nothing else
	defer requests.Put(buffer)
	*buffer = codec.AppendEdgeRequest((*buffer)[:0], req)
	output, err := s.call(ctx, module, abi.CallEdges, req.Node, "", *buffer)
	if err != nil {
		return nil, err
	}
	response, err := accept(codec.DecodeEdgeResponse(output, len(output)))
	s.trail.answered(req.Questions, response)
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

// call goes into the sandbox and tells the observer.
func (s *session) call(ctx context.Context, module string, call abi.Call, node, persona string, request []byte) ([]byte, error) {
	m, err := s.generation.Module(module)
	if err != nil {
		return nil, &invoker.ModuleError{Cause: trial.CauseHost, Message: err.Error(), Err: err}
	}
	d := s.desk(module, node, persona)
	start := s.host.config.Now()
	var output sandbox.Output
	if err = s.trail.replayed(d, request); err == nil {
		output, err = m.Call(sandbox.WithDesk(ctx, d), call, request)
	}
	elapsed := s.host.config.Now().Sub(start)
	digest := m.Info().Digest.String()
	s.number++
	s.micros += elapsed.Microseconds()
	info := trial.Call{Node: node, Persona: persona, Module: digest, Call: call, Micros: elapsed.Microseconds()}
	for i := range d.uses {
		info.Uses = append(info.Uses, d.uses[i].digests())
	}
	s.calls = append(s.calls, info)
	if observe := s.host.config.Observe; observe != nil {
		observe(CallRecord{
			CaseID: s.subject.ID, Module: module, Digest: digest, Call: call, Node: node, Persona: persona,
			Input: request, Output: output.Bytes, Elapsed: elapsed, Err: err, Uses: d.uses,
		})
	}
	if err != nil {
		err = callError(err)
		s.trail.failed(d, call, request, err)
		return nil, err
	}
	s.trail.called(d, call, request, &output)
	s.spend(output.Fuel)
	return output.Bytes, nil
}

// desk is where the module of a call asks.
func (s *session) desk(module, node, persona string) *desk {
	d := &desk{session: s, module: module, at: node, by: persona}
	d.node, _ = s.graph.Node(node)
	if persona != "" {
		d.persona, _ = s.graph.Definition().Persona(persona)
	}
	return d
}

// spend adds up fuel, where it is metered.
func (s *session) spend(fuel *uint64) {
	if fuel == nil {
		return
	}
	if s.fuel == nil {
		s.fuel = new(uint64)
	}
	*s.fuel += *fuel
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
