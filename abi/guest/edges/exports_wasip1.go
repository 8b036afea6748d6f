package edges

import "github.com/shadowcourt/shadowcourt/abi/guest/internal/memory"

//go:wasmexport shadowcourt_edges
func export(address, size uint32) uint64 {
	return memory.Call(address, size, func(request []byte) []byte { return Answer(registered, request) })
}
