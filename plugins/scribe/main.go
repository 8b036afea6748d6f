// Command scribe is a collector of an audit: it reads
// how the opinion argues, and quotes it.
package main

import (
	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/guest"
	"github.com/shadowcourt/shadowcourt/abi/guest/node"
	"github.com/shadowcourt/shadowcourt/plugins/internal/params"
)

func init() { node.Handle(collect) }

func main() {}

func collect(r *abi.NodeRequest) (*abi.Artifact, *abi.Failure) {
	if r.Family != abi.FamilyCollect {
		return nil, guest.Fail(guest.WrongFamily, "the scribe doesn't play "+string(r.Family))
	}
	if failure := params.Check("the scribe", r.Params); failure != nil {
		return nil, failure
	}
	return &abi.Artifact{Discovery: read(r.Case.Documents, r.Case.Labels)}, nil
}
