// Package verdict is the judgement of the guest that is called again and
// again: it affirms the charge. There is little to it on purpose, so that the
// call is what is measured. guests/c/verdict.h gives the same bytes.
package verdict

import (
	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/guest"
)

// Affirm affirms the charge with the prosecution's words and confidence.
func Affirm(r *abi.NodeRequest) (*abi.Artifact, *abi.Failure) {
	if r.Indictment == nil {
		return nil, guest.Fail("incomplete_request", "a verdict needs the indictment")
	}
	return &abi.Artifact{Verdict: &abi.Verdict{
		Decision: abi.Affirm, FinalClassification: r.Indictment.ChargedDefectType,
		Confidence: r.Indictment.Confidence, Reasoning: r.Indictment.ProsecutionNarrative,
	}}, nil
}
