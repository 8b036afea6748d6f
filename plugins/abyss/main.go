// Command abyss is the defense: it answers the indictment, rebuts in the hearing, and contests the items that fall to its element.
package main

import (
	"github.com/shadowcourt/shadowcourt/abi/guest/contest"
	"github.com/shadowcourt/shadowcourt/abi/guest/node"
	"github.com/shadowcourt/shadowcourt/plugins/internal/roles"
)

func init() {
	node.Handle(roles.Defend)
	contest.Handle(roles.ContestDefense)
}

func main() {}
