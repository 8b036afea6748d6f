// Command bulwark is the bench: it reads the documents at discovery, keeps the notes of the hearing, and contests the items that fall to its
// element.
package main

import (
	"github.com/shadowcourt/shadowcourt/abi/guest/contest"
	"github.com/shadowcourt/shadowcourt/abi/guest/node"
	"github.com/shadowcourt/shadowcourt/plugins/internal/roles"
)

func init() {
	node.Handle(roles.Preside)
	node.HandleOffers(roles.ChooseAtDiscovery)
	contest.Handle(roles.ContestBench)
}

func main() {}
