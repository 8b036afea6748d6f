// Package judge serves the calls by which a judge scores a text by the criteria of a rubric.
package judge

import (
	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/codec"
	"github.com/shadowcourt/shadowcourt/abi/guest"
	"github.com/shadowcourt/shadowcourt/abi/guest/internal/memory"
)

// Handler gives one opinion for each criterion asked for, or says why it cannot.
type Handler func(*abi.JudgeRequest) ([]abi.CriterionOpinion, *abi.Failure)

// registered is set once, before the first call: WebAssembly exports are functions, and have nowhere else to find the handler.
var registered Handler

// Handle registers the module's handler. It is meant for an init function; a second call replaces the first.
func Handle(h Handler) { registered = h }

// Answer decodes a JudgeRequest, asks h and encodes its JudgeResponse. It is
// what the module's export does, and serves tests without a sandbox.
func Answer(h Handler, request []byte) []byte {
	response := respond(h, request)
	return codec.AppendJudgeResponse(make([]byte, 0, memory.ResponseBytes), &response)
}

func respond(h Handler, request []byte) abi.JudgeResponse {
	if h == nil {
		return abi.JudgeResponse{Failure: guest.Fail(guest.NotServed, "no handler is registered")}
	}
	r, err := codec.DecodeJudgeRequest(request, len(request))
	if err != nil {
		return abi.JudgeResponse{Failure: guest.Fail(guest.BadRequest, err.Error())}
	}
	opinions, failure := h(&r)
	if failure != nil {
		return abi.JudgeResponse{Failure: failure}
	}
	return abi.JudgeResponse{Opinions: opinions}
}
