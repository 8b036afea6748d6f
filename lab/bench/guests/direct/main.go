// Command direct is the judge of package verdict over the direct binding.
package main

import (
	"github.com/shadowcourt/shadowcourt/abi/guest/node"
	"github.com/shadowcourt/shadowcourt/host/lab/bench/guests/verdict"
)

func init() { node.Handle(verdict.Affirm) }

func main() {}
