// Command scribe is a collector of an audit: it reads how the opinion argues, and quotes it.
package main

import (
	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/guest/node"
	"github.com/shadowcourt/shadowcourt/plugins/internal/reading"
)

func init() { node.Handle(collect) }

func main() {}

func collect(r *abi.NodeRequest) (*abi.Artifact, *abi.Failure) {
	return reading.Collect("the scribe", r, read)
}
