// Command seeker investigates on the Light path: it gathers evidence, quoted from the documents and the source, and classifies by it.
package main

import (
	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/guest"
	"github.com/shadowcourt/shadowcourt/abi/guest/capability"
	"github.com/shadowcourt/shadowcourt/abi/guest/node"
	"github.com/shadowcourt/shadowcourt/plugins/internal/inquiry"
	"github.com/shadowcourt/shadowcourt/plugins/internal/proceeding"
)

func init() {
	node.Handle(seeker{capability.Source}.play)
	node.HandleOffers(proceeding.OnRemand)
}

func main() {}

// seeker plays investigate. source asks for the files that a text names.
type seeker struct {
	source func(abi.SourceQuery) (abi.SourceAnswer, *abi.Failure)
}

// contextLines of source stand around a place that the diff touches.
const contextLines = 2

func (s seeker) play(r *abi.NodeRequest) (*abi.Artifact, *abi.Failure) {
	if r.Family != abi.FamilyInvestigate {
		return nil, guest.Fail(guest.WrongFamily, "the seeker doesn't play "+string(r.Family))
	}
	if len(r.Case.Labels) == 0 {
		return nil, guest.Fail("incomplete_request", "the case has no labels")
	}
	source, failure := s.source(inquiry.Query(r, contextLines))
	if failure != nil {
		return nil, failure
	}
	return &abi.Artifact{Investigate: investigate(r, &source)}, nil
}
