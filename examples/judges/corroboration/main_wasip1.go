package main

import (
	"github.com/extism/go-pdk"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/codec"
	"github.com/shadowcourt/shadowcourt/abi/guest"
	"github.com/shadowcourt/shadowcourt/abi/guest/prepare"
)

// state is what the host prepared the judge with: the memory is saved after that.
var state prepare.State

// prepared is the function of the contract by which the host gives a module once what many requests have in common.
//
//go:wasmexport shadowcourt_prepare
func prepared() int32 {
	pdk.Output(state.Answer(pdk.Input()))
	return 0
}

// answer is the function of the contract over the Extism binding: the request
// is the input, the response is the output, and 0 says that there is one.
//
//go:wasmexport shadowcourt_node
func answer() int32 {
	request, err := codec.DecodeNodeRequest(pdk.Input(), 0)
	if err != nil {
		pdk.SetError(err)
		return 1
	}
	var response abi.NodeResponse
	if response.Failure = state.Node(&request); response.Failure == nil {
		response.Artifact, response.Failure = arbitrate(&request)
	}
	pdk.Output(codec.AppendNodeResponse(nil, &response))
	return 0
}

func arbitrate(r *abi.NodeRequest) (*abi.Artifact, *abi.Failure) {
	if r.Family != abi.FamilyVerdict {
		return nil, guest.Fail(guest.WrongFamily, "this judge only gives verdicts, and was asked to play "+string(r.Family))
	}
	if r.Indictment == nil || len(r.Case.Labels) == 0 {
		return nil, guest.Fail("incomplete_request", "a verdict needs the indictment and the labels of the case")
	}
	return &abi.Artifact{Verdict: judge(r)}, nil
}
