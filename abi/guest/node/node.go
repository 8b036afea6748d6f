// Package node serves the calls by which a persona plays a node of the graph.
package node

import (
	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/codec"
	"github.com/shadowcourt/shadowcourt/abi/guest"
	"github.com/shadowcourt/shadowcourt/abi/guest/internal/memory"
	"github.com/shadowcourt/shadowcourt/abi/guest/internal/prepared"
)

// Handler gives the artifact of a node, or says why it cannot.
type Handler func(*abi.NodeRequest) (*abi.Artifact, *abi.Failure)

// Chooser gives one of the experiments that a request offers, for the host to run first, or nil for none. The host then makes the call
// again, with the result.
type Chooser func(*abi.NodeRequest) *abi.Experiment

// Asker gives what a language model is to be asked first, or nil for nothing. The host then makes the call again, with the answers so far
// in Completions.
type Asker func(*abi.NodeRequest) *abi.Completion

// registered, chooser and asker are set once, before the first call:
// WebAssembly exports are functions, and have nowhere else to find the handler.
var (
	registered Handler
	chooser    Chooser
	asker      Asker
)

// Handle registers the module's handler. It is meant for an init function; a second call replaces the first.
func Handle(h Handler) { registered = h }

// HandleOffers registers who chooses an experiment. It is asked before the handler, and only where the request has offers: the pipeline
// grants the persona experiments, and the host can run some.
func HandleOffers(c Chooser) { chooser = c }

// HandleModels registers who asks language models. It is asked after the Chooser and before the handler, and only where the request has
// models: the pipeline grants them to the persona, and the host has some.
func HandleModels(a Asker) { asker = a }

// Answer decodes a NodeRequest, asks h and encodes its NodeResponse. It is what the module's export does without a Chooser and an Asker,
// and serves tests without a sandbox.
func Answer(h Handler, request []byte) []byte { return AnswerOffers(nil, nil, h, request) }

// AnswerOffers is Answer with a Chooser and an Asker, each of which may be nil.
func AnswerOffers(c Chooser, a Asker, h Handler, request []byte) []byte {
	response := respond(c, a, h, request)
	return codec.AppendNodeResponse(make([]byte, 0, memory.ResponseBytes), &response)
}

func respond(c Chooser, a Asker, h Handler, request []byte) abi.NodeResponse {
	if h == nil {
		return abi.NodeResponse{Failure: guest.Fail(guest.NotServed, "no handler is registered")}
	}
	r, err := codec.DecodeNodeRequest(request, len(request))
	if err != nil {
		return abi.NodeResponse{Failure: guest.Fail(guest.BadRequest, err.Error())}
	}
	if f := prepared.Module.Node(&r); f != nil {
		return abi.NodeResponse{Failure: f}
	}
	if c != nil && len(r.Offers) > 0 {
		if e := c(&r); e != nil {
			return abi.NodeResponse{Experiment: e}
		}
	}
	if a != nil && len(r.Models) > 0 {
		if completion := a(&r); completion != nil {
			return abi.NodeResponse{Completion: completion}
		}
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
