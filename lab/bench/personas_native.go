package main

import (
	"context"
	"io/fs"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/guest/contest"
	"github.com/shadowcourt/shadowcourt/abi/guest/edges"
	"github.com/shadowcourt/shadowcourt/abi/guest/node"
	"github.com/shadowcourt/shadowcourt/host/bundle"
	"github.com/shadowcourt/shadowcourt/host/internal/sandbox"
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
type players struct{ answers answers }

// Call answers an encoded request.
func (p *players) Call(_ context.Context, module string, call abi.Call, request []byte) (sandbox.Output, error) {
	response, err := p.answers(module, call, request)
	return sandbox.Output{Bytes: response}, err
}

// Digest of a player: there is none, and they all differ.
func (p *players) Digest(module string) string {
	return "sha256:" + strings.Repeat("0", 64-len(module)) + module
}

// warm plays with the shipped modules, each in one instance that is never reset.
func warm(ctx context.Context) (answers, func(), error) {
	fsys, err := bundle.FS()
	if err != nil {
		return nil, nil, err
	}
	exports := map[abi.Call]string{abi.CallNode: abi.ExportNode, abi.CallContest: abi.ExportContest, abi.CallEdges: abi.ExportEdges}
	calls := make(map[string]Call)
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
		begin, c, err := WazeroInstances(ctx, wasm)
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
