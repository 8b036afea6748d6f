package main

import (
	"context"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/codec"
	"github.com/shadowcourt/shadowcourt/abi/guest/contest"
	"github.com/shadowcourt/shadowcourt/abi/guest/edges"
	"github.com/shadowcourt/shadowcourt/abi/guest/node"
)

// persona is a module as native Go.
type persona struct {
	node    node.Handler
	contest contest.Handler
	edges   edges.Handler
}

// nativeModules plays a trial with native personas. Requests and responses go
// through both codecs, and through the strict decoder, as with modules.
// One goroutine uses it.
type nativeModules struct {
	personas map[string]persona
	buffer   []byte // for requests
}

func (m *nativeModules) Node(_ context.Context, module string, req *abi.NodeRequest) (*abi.NodeResponse, error) {
	m.buffer = codec.AppendNodeRequest(m.buffer[:0], req)
	return decoded(codec.DecodeNodeResponse(node.Answer(m.personas[module].node, m.buffer), 0))
}

func (m *nativeModules) Contest(_ context.Context, module string, req *abi.ContestRequest) (*abi.ContestResponse, error) {
	m.buffer = codec.AppendContestRequest(m.buffer[:0], req)
	return decoded(codec.DecodeContestResponse(contest.Answer(m.personas[module].contest, m.buffer), 0))
}

func (m *nativeModules) Edges(_ context.Context, module string, req *abi.EdgeRequest) (*abi.EdgeResponse, error) {
	m.buffer = codec.AppendEdgeRequest(m.buffer[:0], req)
	return decoded(codec.DecodeEdgeResponse(edges.Answer(m.personas[module].edges, m.buffer), 0))
}

func decoded[T any](response T, err error) (*T, error) { return &response, err }

// Digest of a native persona: there is none, and they all differ.
func (m *nativeModules) Digest(module string) string {
	return "sha256:" + strings.Repeat("0", 64-len(module)) + module
}
