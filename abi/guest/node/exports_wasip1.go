package node

import "github.com/shadowcourt/shadowcourt/abi/guest/internal/memory"

//go:wasmexport shadowcourt_node
func export(address, size uint32) uint64 {
	return memory.Call(address, size, func(request []byte) []byte { return AnswerOffers(chooser, asker, registered, request) })
}
