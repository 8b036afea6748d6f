// Command clerk evaluates edges: it says which edges of the graphs fire.
package main

import "github.com/shadowcourt/shadowcourt/abi/guest/edges"

func init() { edges.Handle(answer) }

func main() {}
