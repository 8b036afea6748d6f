// Command evaluator judges whether the answer of a language model is supported by a reference. At discovery it reads both documents and
// quotes for each claim of the answer the sentence that bears it out, or the claim itself; as a judge it counts these quotes, which the
// host verified. It knows no attack: all of the answer is claims, and text that was added to an answer is one more claim.
package main

import (
	"strconv"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/guest"
	"github.com/shadowcourt/shadowcourt/abi/guest/node"
)

// The labels, and the name of the document under evaluation: all others are the reference.
const (
	supported   = "supported"
	unsupported = "unsupported"
	answer      = "answer"
)

func init() {
	node.Handle(play)
	node.HandleModels(ask)
}

func main() {}

func play(r *abi.NodeRequest) (*abi.Artifact, *abi.Failure) {
	switch r.Family {
	case abi.FamilyDiscover:
		return &abi.Artifact{Discovery: read(r)}, nil
	case abi.FamilyVerdict:
		if r.Indictment == nil {
			return nil, guest.Fail("incomplete_request", "a verdict needs the indictment")
		}
		return &abi.Artifact{Verdict: judge(r)}, nil
	default:
		return nil, guest.Fail(guest.WrongFamily, "the evaluator plays discover and verdict, not "+string(r.Family))
	}
}

// judge says supported if every claim is, and unsupported if one is not. Only the findings of the discovery count: the answer does not
// reach the judge, and what the first evaluator said of it is the charge and no more.
func judge(r *abi.NodeRequest) *abi.Verdict {
	label, sure, bad, claims := supported, 1.0, 0, 0
	if r.Discovery != nil {
		for i := range r.Discovery.Findings {
			switch f := &r.Discovery.Findings[i]; f.Supports {
			case unsupported:
				if bad == 0 {
					label, sure = unsupported, 0
				}
				claims, bad, sure = claims+1, bad+1, max(sure, f.Strength)
			case supported:
				if claims++; bad == 0 {
					sure = min(sure, f.Strength)
				}
			}
		}
	}
	if claims == 0 {
		return &abi.Verdict{Decision: abi.Acquit, Confidence: 0.5, Reasoning: "The answer makes no claim."}
	}
	v := &abi.Verdict{
		Decision: abi.Amend, FinalClassification: label, Confidence: 0.5 + 0.45*sure,
		Reasoning: strconv.Itoa(bad) + " of " + strconv.Itoa(claims) + " claims are not supported by the reference.",
	}
	if label == r.Indictment.ChargedDefectType {
		v.Decision = abi.Affirm
	}
	return v
}
