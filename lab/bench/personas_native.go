package main

import (
	"context"
	"io/fs"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/codec"
	"github.com/shadowcourt/shadowcourt/abi/guest/contest"
	"github.com/shadowcourt/shadowcourt/abi/guest/edges"
	"github.com/shadowcourt/shadowcourt/abi/guest/node"
	"github.com/shadowcourt/shadowcourt/host/bundle"
	"github.com/shadowcourt/shadowcourt/host/internal/runtime/invoker"
	"github.com/shadowcourt/shadowcourt/host/lab/bench/internal/peers"
	"github.com/shadowcourt/shadowcourt/host/trial"
)

// persona is a module as native Go.
type persona struct {
	node    node.Handler
	contest contest.Handler
	edges   edges.Handler
}

// answers gives the encoded response to an encoded request of a kind.
type answers func(module string, call abi.Call, request []byte) ([]byte, error)

func native(personas map[string]persona) answers {
	return func(module string, call abi.Call, request []byte) ([]byte, error) {
		p := personas[module]
		switch call { //nolint:exhaustive // the calls of a court
		case abi.CallNode:
			return node.Answer(p.node, request), nil
		case abi.CallContest:
			return contest.Answer(p.contest, request), nil
		default:
			return edges.Answer(p.edges, request), nil
		}
	}
}

// players plays a trial. Requests and responses go through both codecs, and
// through the strict decoder, as in the host. One goroutine uses it.
type players struct {
	answers answers
	buffer  []byte // for requests
}

func (p *players) Node(_ context.Context, module string, req *abi.NodeRequest) (*abi.NodeResponse, error) {
	p.buffer = codec.AppendNodeRequest(p.buffer[:0], req)
	return decoded(codec.DecodeNodeResponse)(p.answers(module, abi.CallNode, p.buffer))
}

func (p *players) Contest(_ context.Context, module string, req *abi.ContestRequest) (*abi.ContestResponse, error) {
	p.buffer = codec.AppendContestRequest(p.buffer[:0], req)
	return decoded(codec.DecodeContestResponse)(p.answers(module, abi.CallContest, p.buffer))
}

func (p *players) Edges(_ context.Context, module string, req *abi.EdgeRequest) (*abi.EdgeResponse, error) {
	p.buffer = codec.AppendEdgeRequest(p.buffer[:0], req)
	return decoded(codec.DecodeEdgeResponse)(p.answers(module, abi.CallEdges, p.buffer))
}

func decoded[T any](decode func([]byte, int) (T, error)) func([]byte, error) (*T, error) {
	return func(output []byte, err error) (*T, error) {
		if err != nil {
			return nil, err
		}
		response, err := decode(output, len(output))
		return &response, err
	}
}

// Digest of a player: there is none, and they all differ.
func (p *players) Digest(module string) string {
	return "sha256:" + strings.Repeat("0", 64-len(module)) + module
}

// Told is nothing: no capability is used.
func (*players) Told() []abi.Element { return nil }

// Recorder records nothing.
// Replaced is not called: no persona has a fallback.
func (*players) Replaced(trial.Fallback) {}

func (*players) Recorder() invoker.Recorder { return nil }

// warm plays with the shipped modules, each in one instance that is never reset.
func warm(ctx context.Context) (answers, func(), error) {
	fsys, err := bundle.FS()
	if err != nil {
		return nil, nil, err
	}
	exports := map[abi.Call]string{abi.CallNode: abi.ExportNode, abi.CallContest: abi.ExportContest, abi.CallEdges: abi.ExportEdges}
	calls := make(map[string]peers.Call)
	var closers []func()
	closed := func() {
		for _, c := range closers {
			c()
		}
	}
	for name := range personas() {
		wasm, err := fs.ReadFile(fsys, name+".wasm")
		if err != nil {
			closed()
			return nil, nil, err
		}
		begin, c, err := peers.WazeroInstances(ctx, wasm)
		if err != nil {
			closed()
			return nil, nil, err
		}
		closers = append(closers, c)
		instance, err := begin()
		if err != nil {
			closed()
			return nil, nil, err
		}
		for call, export := range exports {
			if instance.Has(export) {
				calls[name+" "+string(call)] = instance.Export(export)
			}
		}
	}
	return func(module string, call abi.Call, request []byte) ([]byte, error) {
		return calls[module+" "+string(call)](request)
	}, closed, nil
}
