package prepared

import "github.com/shadowcourt/shadowcourt/abi/guest/internal/memory"

//go:wasmexport shadowcourt_prepare
func export(address, size uint32) uint64 {
	return memory.Call(address, size, Module.Answer)
}
