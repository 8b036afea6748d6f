// Package node serves the calls by which a persona plays a node of the graph.
package node

import (
	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/codec"
	"github.com/shadowcourt/shadowcourt/abi/guest"
	"github.com/shadowcourt/shadowcourt/abi/guest/internal/memory"
)

// Handler gives the artifact of a node, or says why it cannot.
type Handler func(*abi.NodeRequest) (*abi.Artifact, *abi.Failure)

// registered is set once, before the first call: WebAssembly exports are
// functions, and have nowhere else to find the handler.
var registered Handler

// Handle registers the module's handler. It is meant for an init function;
// a second call replaces the first.
func Handle(h Handler) { registered = h }

// Answer decodes a NodeRequest, asks h and encodes its NodeResponse. It is
// what the module's export does, and serves tests without a sandbox.
func Answer(h Handler, request []byte) []byte {
	response := respond(h, request)
	return codec.AppendNodeResponse(make([]byte, 0, memory.ResponseBytes), &response)
}

func respond(h Handler, request []byte) abi.NodeResponse {
	if h == nil {
		return abi.NodeResponse{Failure: guest.Fail(guest.NotServed, "no handler is registered")}
	}
	r, err := codec.DecodeNodeRequest(request, len(request))
	if err != nil {
		return abi.NodeResponse{Failure: guest.Fail(guest.BadRequest, err.Error())}
	}
	artifact, failure := h(&r)
	if failure != nil {
		return abi.NodeResponse{Failure: failure}
	}
	if artifact == nil {
		return abi.NodeResponse{Failure: guest.Fail(guest.NoAnswer, "the handler gave no artifact")}
	}
	return abi.NodeResponse{Artifact: artifact}
}
