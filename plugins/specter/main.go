// Command specter is the module of the arbiter: it gives the verdict. It
// contests nothing.
package main

import (
	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/guest"
	"github.com/shadowcourt/shadowcourt/abi/guest/node"
	"github.com/shadowcourt/shadowcourt/plugins/internal/params"
)

func init() {
	node.Handle(arbitrate)
}

func main() {}

func arbitrate(r *abi.NodeRequest) (*abi.Artifact, *abi.Failure) {
	if r.Family != abi.FamilyVerdict {
		return nil, guest.Fail(guest.WrongFamily, "the specter doesn't play "+string(r.Family))
	}
	if r.Indictment == nil || len(r.Case.Labels) == 0 {
		return nil, guest.Fail("incomplete_request", "a verdict needs the indictment and the labels of the case")
	}
	if failure := params.Check("the verdict", r.Params, "min_confidence", "min_lead", "close_lead"); failure != nil {
		return nil, failure
	}
	return &abi.Artifact{Verdict: judge(r)}, nil
}
