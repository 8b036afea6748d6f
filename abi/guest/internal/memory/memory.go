// Package memory passes bytes between the host and a handler: the host asks
// for room and writes the request there, the call reads it and leaves its
// response where the host can read it until the next call.
package memory

// Buffers are the byte slices that the host knows by address. They are held
// here so that the garbage collector leaves them alone: an address that went
// through the sandbox is no reference to it. Not safe for concurrent use; a
// WebAssembly instance runs one call at a time.
type Buffers struct {
	held map[uint32][]byte
}

// Hold keeps a buffer at its address.
func (b *Buffers) Hold(address uint32, buffer []byte) {
	if b.held == nil {
		b.held = make(map[uint32][]byte)
	}
	b.held[address] = buffer
}

// Take gives the first size bytes of the buffer at address, and lets go of
// every buffer. ok is false where no buffer of that size was handed out.
func (b *Buffers) Take(address, size uint32) (request []byte, ok bool) {
	buffer, ok := b.held[address]
	clear(b.held)
	if !ok || uint64(size) > uint64(len(buffer)) {
		return nil, false
	}
	return buffer[:size], true
}
