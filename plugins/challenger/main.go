// Command challenger is the prosecution: it indicts, argues in the hearing, and contests what speaks against its charge.
package main

import (
	"github.com/shadowcourt/shadowcourt/abi/guest/contest"
	"github.com/shadowcourt/shadowcourt/abi/guest/node"
	"github.com/shadowcourt/shadowcourt/plugins/internal/prosecution"
)

func init() {
	node.Handle(prosecution.Play)
	node.HandleOffers(prosecution.Choose)
	contest.Handle(prosecution.Contest)
}

func main() {}
