// Command rulebook evaluates the rules that a user wrote: patterns over the lines of the documents, each with the label that it speaks for.
package main

import (
	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/guest"
	"github.com/shadowcourt/shadowcourt/abi/guest/node"
)

func init() { node.Handle(play) }

func main() {}

// play gives an item of evidence for each rule that matches. It concludes nothing: two rules may name different labels.
func play(r *abi.NodeRequest) (*abi.Artifact, *abi.Failure) {
	if r.Family != abi.FamilyInvestigate {
		return nil, guest.Fail(guest.WrongFamily, "the rulebook doesn't play "+string(r.Family))
	}
	rules, failure := read(r.Params)
	if failure != nil {
		return nil, failure
	}
	found := &abi.InvestigateArtifact{Evidence: []abi.Evidence{}}
	for i := range rules {
		item, failure := rules[i].match(&r.Case)
		if failure != nil {
			return nil, failure
		}
		if item != nil {
			found.Evidence = append(found.Evidence, *item)
		}
	}
	return &abi.Artifact{Investigate: found}, nil
}
