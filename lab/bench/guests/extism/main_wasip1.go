package main

import (
	"github.com/extism/go-pdk"

	"github.com/shadowcourt/shadowcourt/abi/guest/node"
	"github.com/shadowcourt/shadowcourt/host/lab/bench/guests/verdict"
)

//go:wasmexport bench_node
func answer() int32 {
	pdk.Output(node.Answer(verdict.Affirm, pdk.Input()))
	return 0
}
