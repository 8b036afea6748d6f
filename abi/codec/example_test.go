package codec_test

import (
	"errors"
	"fmt"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/codec"
)

// What a module returned is decoded under the limit of its output; all that is wrong with it comes back together.
func ExampleDecodeNodeResponse() {
	response := codec.AppendNodeResponse(nil, &abi.NodeResponse{Artifact: &abi.Artifact{Discovery: &abi.Discovery{
		Findings: []abi.Finding{{Document: "log", Quote: "exit status 2", Strength: 1.5}, {Document: "log"}},
	}}})
	_, err := codec.DecodeNodeResponse(response, abi.DefaultOutputBytes)
	if rejected, ok := errors.AsType[*abi.ValidationError](err); ok {
		for _, p := range rejected.Problems {
			fmt.Println(p.Code, "at", p)
		}
	}
	// Output:
	// out_of_range at artifact.discovery.findings[0].strength: 1.5 is outside [0, 1]
	// empty at artifact.discovery.findings[1].quote: is empty
}

// Equal values have equal bytes, so that a hash of them names the value.
func ExampleAppendEvidence() {
	e := abi.Evidence{SourceRef: "log", Content: "FAIL", RelevanceConfidence: 1}
	fmt.Printf("%x\n", codec.AppendEvidence(nil, &e))
	// Output:
	// 83aa736f757263655f726566a36c6f67a7636f6e74656e74a44641494cb472656c6576616e63655f636f6e666964656e6365cb3ff0000000000000
}
