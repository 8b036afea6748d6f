// Command specter is the judge: it gives the verdict, and contests nothing.
package main

import (
	"github.com/shadowcourt/shadowcourt/abi/guest/node"
	"github.com/shadowcourt/shadowcourt/plugins/internal/judgment"
)

func init() {
	node.Handle(judgment.Play)
	node.HandleOffers(judgment.Choose)
}

func main() {}
