// Package contest serves the calls by which a persona contests the items of evidence that its element challenges.
package contest

import (
	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/codec"
	"github.com/shadowcourt/shadowcourt/abi/guest"
	"github.com/shadowcourt/shadowcourt/abi/guest/internal/memory"
	"github.com/shadowcourt/shadowcourt/abi/guest/internal/prepared"
)

// Handler gives challenges of items in the request, none of others, or says why it cannot.
type Handler func(*abi.ContestRequest) ([]abi.Challenge, *abi.Failure)

// registered is set once, before the first call: WebAssembly exports are functions, and have nowhere else to find the handler.
var registered Handler

// Handle registers the module's handler. It is meant for an init function; a second call replaces the first.
func Handle(h Handler) { registered = h }

// Answer decodes a ContestRequest, asks h and encodes its ContestResponse. It is
// what the module's export does, and serves tests without a sandbox.
func Answer(h Handler, request []byte) []byte {
	response := respond(h, request)
	return codec.AppendContestResponse(make([]byte, 0, memory.ResponseBytes), &response)
}

func respond(h Handler, request []byte) abi.ContestResponse {
	if h == nil {
		return abi.ContestResponse{Failure: guest.Fail(guest.NotServed, "no handler is registered")}
	}
	r, err := codec.DecodeContestRequest(request, len(request))
	if err != nil {
		return abi.ContestResponse{Failure: guest.Fail(guest.BadRequest, err.Error())}
	}
	if f := prepared.Module.Contest(&r); f != nil {
		return abi.ContestResponse{Failure: f}
	}
	challenges, failure := h(&r)
	if failure != nil {
		return abi.ContestResponse{Failure: failure}
	}
	return abi.ContestResponse{Challenges: challenges}
}
