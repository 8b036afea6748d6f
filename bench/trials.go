package main

import (
	"github.com/shadowcourt/shadowcourt/abi/guest/contest"
	"github.com/shadowcourt/shadowcourt/abi/guest/edges"
	"github.com/shadowcourt/shadowcourt/abi/guest/node"
)

// persona is a module as native Go.
type persona struct {
	node    node.Handler
	contest contest.Handler
	edges   edges.Handler
}
