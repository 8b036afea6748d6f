package codec

import "unsafe"

// word reads the eight bytes at i, the first one lowest. They must be there: nobody looks. WebAssembly needs no alignment, and its compiler
// does not join loads by itself.
func word(s string, i int) uint64 {
	return *(*uint64)(unsafe.Add(unsafe.Pointer(unsafe.StringData(s)), i))
}
