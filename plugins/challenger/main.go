// Command challenger is the prosecution: it indicts, argues in the hearing, and contests what speaks against its charge.
package main

import (
	"github.com/shadowcourt/shadowcourt/abi/guest/contest"
	"github.com/shadowcourt/shadowcourt/abi/guest/node"
	"github.com/shadowcourt/shadowcourt/plugins/internal/roles"
)

func init() {
	node.Handle(roles.Prosecute)
	node.HandleOffers(roles.ChooseCharge)
	contest.Handle(roles.ContestCharge)
}

func main() {}
