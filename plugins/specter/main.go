// Command specter is the judge: it gives the verdict, and contests nothing.
package main

import (
	"github.com/shadowcourt/shadowcourt/abi/guest/node"
	"github.com/shadowcourt/shadowcourt/plugins/internal/roles"
)

func init() {
	node.Handle(roles.Judge)
	node.HandleOffers(roles.ChooseVerdict)
}

func main() {}
