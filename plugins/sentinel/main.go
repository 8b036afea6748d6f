// Command sentinel selects where the investigation of the Light path looks.
package main

import (
	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/guest"
	"github.com/shadowcourt/shadowcourt/abi/guest/capability"
	"github.com/shadowcourt/shadowcourt/abi/guest/node"
	"github.com/shadowcourt/shadowcourt/plugins/internal/inquiry"
)

func init() { node.Handle(sentinel{capability.Source}.play) }

func main() {}

// sentinel plays resolve. source asks for the files that a text names.
type sentinel struct {
	source func(abi.SourceQuery) (abi.SourceAnswer, *abi.Failure)
}

func (s sentinel) play(r *abi.NodeRequest) (*abi.Artifact, *abi.Failure) {
	if r.Family != abi.FamilyResolve {
		return nil, guest.Fail(guest.WrongFamily, "the sentinel doesn't play "+string(r.Family))
	}
	source, failure := s.source(inquiry.Query(r, 0))
	if failure != nil {
		return nil, failure
	}
	return &abi.Artifact{Resolve: resolve(r, &source)}, nil
}
