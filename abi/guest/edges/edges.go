// Package edges serves the calls that say which edges of the graph fire.
package edges

import (
	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/codec"
	"github.com/shadowcourt/shadowcourt/abi/guest"
	"github.com/shadowcourt/shadowcourt/abi/guest/internal/memory"
)

// Handler answers every question of the request, in its order, or says why it cannot.
type Handler func(*abi.EdgeRequest) ([]abi.EdgeAnswer, *abi.Failure)

// registered is set once, before the first call: WebAssembly exports are functions, and have nowhere else to find the handler.
var registered Handler

// Handle registers the module's handler. It is meant for an init function; a second call replaces the first.
func Handle(h Handler) { registered = h }

// Answer decodes an EdgeRequest, asks h and encodes its EdgeResponse. It is
// what the module's export does, and serves tests without a sandbox.
func Answer(h Handler, request []byte) []byte {
	response := respond(h, request)
	return codec.AppendEdgeResponse(make([]byte, 0, memory.ResponseBytes), &response)
}

func respond(h Handler, request []byte) abi.EdgeResponse {
	if h == nil {
		return abi.EdgeResponse{Failure: guest.Fail(guest.NotServed, "no handler is registered")}
	}
	r, err := codec.DecodeEdgeRequest(request, len(request))
	if err != nil {
		return abi.EdgeResponse{Failure: guest.Fail(guest.BadRequest, err.Error())}
	}
	answers, failure := h(&r)
	if failure != nil {
		return abi.EdgeResponse{Failure: failure}
	}
	return abi.EdgeResponse{Answers: answers}
}
