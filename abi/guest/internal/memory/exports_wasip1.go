package memory

import "unsafe"

// buffers lives as long as the instance does: WebAssembly exports are functions, and have nowhere else to keep what they handed out.
var buffers Buffers

//go:wasmexport shadowcourt_alloc
func alloc(size uint32) uint32 {
	buffer := make([]byte, max(size, 1))
	address := addressOf(buffer)
	buffers.Hold(address, buffer)
	return address
}

// Call hands the request at address to answer, and returns where its response stands as address<<32 | length. A request that stands in no
// buffer of shadowcourt_alloc reaches answer as nil, which is no message.
func Call(address, size uint32, answer func(request []byte) []byte) uint64 {
	request, _ := buffers.Take(address, size)
	response := answer(request)
	if len(response) == 0 {
		return 0
	}
	at := addressOf(response)
	buffers.Hold(at, response)
	return uint64(at)<<32 | uint64(len(response))
}

func addressOf(b []byte) uint32 {
	return uint32(uintptr(unsafe.Pointer(unsafe.SliceData(b))))
}
