// Package memory passes bytes between the host and a handler: the host asks for room and writes the request there, the call reads it and
// leaves its response where the host can read it until the next call.
package memory

// Buffers are the byte slices that the host knows by address. They are held here so that the garbage collector leaves them alone: an
// address that went through the sandbox is no reference to it. Not safe for concurrent use; a WebAssembly instance runs one call at a time.
type Buffers struct {
	held []held // few: what was asked for since the last call, and its response
}

type held struct {
	address uint32
	buffer  []byte
}

// Hold keeps a buffer at its address.
func (b *Buffers) Hold(address uint32, buffer []byte) {
	b.held = append(b.held, held{address, buffer})
}

// Take gives the first size bytes of the buffer at address, and lets go of
// every buffer. ok is false where no buffer of that size was handed out.
func (b *Buffers) Take(address, size uint32) (request []byte, ok bool) {
	var buffer []byte
	for i := range b.held {
		if b.held[i].address == address {
			buffer, ok = b.held[i].buffer, true
		}
	}
	clear(b.held)
	b.held = b.held[:0]
	if !ok || uint64(size) > uint64(len(buffer)) {
		return nil, false
	}
	return buffer[:size], true
}

// ResponseBytes is the room with which a response begins: enough for most, and no more than a page for the host to reset.
const ResponseBytes = 1 << 10
