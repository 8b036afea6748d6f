package sandbox

import (
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
)

// kernel is the memory that an Extism guest shares with the host: blocks of
// bytes beside the guest's own memory. Extism has it as a module of its own;
// here it is a part of the instance, so that pristine means it too, and a
// limit of bytes holds for it.
//
// What Extism promises of it is kept: what is read beyond the blocks is 0, and
// what is written there is dropped; only an allocation that is too large ends
// the call.
type kernel struct {
	limit  uint64 // of bytes in all blocks
	arena  []byte
	end    uint64            // of the last block; what lies behind it was freed, and stays readable
	blocks map[uint64]uint64 // lengths by offset

	input, output block
	err           uint64 // the offset of what went wrong; 0 for nothing
	vars          map[string][]byte
	varBytes      uint64
}

// block is a part of the arena.
type block struct{ offset, length uint64 }

// firstBlock is the offset of the first block: 0 is none.
const firstBlock = 8

func newKernel(limit int64) *kernel {
	return &kernel{
		limit: uint64(limit), arena: make([]byte, firstBlock), end: firstBlock,
		blocks: map[uint64]uint64{}, vars: map[string][]byte{},
	}
}

// begin frees all blocks, as Extism does before every call, and has the request as input.
func (k *kernel) begin(request []byte) {
	k.arena, k.end = k.arena[:firstBlock], firstBlock
	clear(k.blocks)
	k.input, k.output, k.err = block{}, block{}, 0
	if offset, err := k.store(request); err == nil { // the limit of requests is the smaller one
		k.input = block{offset, uint64(len(request))}
	}
}

// variables are what the guest keeps from call to call, were it not pristine.
func (k *kernel) variables() map[string][]byte { return maps.Clone(k.vars) }

// keptArena is how much room an instance keeps from call to call.
const keptArena = 1 << 20

func (k *kernel) restore(vars map[string][]byte) {
	if cap(k.arena) > keptArena {
		k.arena = make([]byte, firstBlock)
	}
	k.vars, k.varBytes = maps.Clone(vars), 0
	for name, value := range vars {
		k.varBytes += uint64(len(name) + len(value))
	}
}

// alloc gives a new block of zeros; 0 for one of no bytes.
func (k *kernel) alloc(length uint64) (uint64, error) {
	if length == 0 {
		return 0, nil
	}
	offset := k.end
	if length > k.limit || offset+length > k.limit {
		return 0, &bindingError{CauseOutOfMemory, fmt.Sprintf("%d bytes of blocks wanted, the limit is %d", offset+length, k.limit)}
	}
	k.end = offset + length
	if missing := int(k.end) - len(k.arena); missing > 0 {
		k.arena = slices.Grow(k.arena, missing)[:k.end]
	}
	clear(k.arena[offset:k.end])
	k.blocks[offset] = length
	return offset, nil
}

// store gives a new block that holds the bytes.
func (k *kernel) store(b []byte) (uint64, error) {
	offset, err := k.alloc(uint64(len(b)))
	if err == nil {
		copy(k.arena[offset:], b)
	}
	return offset, err
}

// free ends a block. The bytes of the last one are given out again.
func (k *kernel) free(offset uint64) {
	length, ok := k.blocks[offset]
	if !ok || offset == k.input.offset {
		return
	}
	delete(k.blocks, offset)
	if offset+length == k.end {
		k.end = offset
	}
}

// length of the block at an offset; 0 if there is none.
func (k *kernel) length(offset uint64) uint64 { return k.blocks[offset] }

// view is a range of the arena; it need not be a block.
func (k *kernel) view(offset, length uint64) ([]byte, bool) {
	size := uint64(len(k.arena))
	if length > size || offset > size-length {
		return nil, false
	}
	return k.arena[offset : offset+length : offset+length], true
}

func (k *kernel) load8(offset uint64) uint64 {
	if b, ok := k.view(offset, 1); ok {
		return uint64(b[0])
	}
	return 0
}

func (k *kernel) load64(offset uint64) uint64 {
	if b, ok := k.view(offset, 8); ok {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}

func (k *kernel) store8(offset uint64, v byte) {
	if b, ok := k.view(offset, 1); ok {
		b[0] = v
	}
}

func (k *kernel) store64(offset, v uint64) {
	if b, ok := k.view(offset, 8); ok {
		binary.LittleEndian.PutUint64(b, v)
	}
}

// inputLoad8 and inputLoad64 count from the beginning of the input, and see no more than it.
func (k *kernel) inputLoad8(at uint64) uint64 {
	if at >= k.input.length {
		return 0
	}
	return k.load8(k.input.offset + at)
}

func (k *kernel) inputLoad64(at uint64) uint64 {
	if k.input.length < 8 || at > k.input.length-8 {
		return 0
	}
	return k.load64(k.input.offset + at)
}

// variable gives the value of a variable in a block of its own; 0 if it is not set.
func (k *kernel) variable(name uint64) (uint64, error) {
	key, _ := k.view(name, k.length(name))
	return k.store(k.vars[string(key)])
}

// setVariable sets one, or deletes it where there is no value.
func (k *kernel) setVariable(name, value uint64) error {
	view, ok := k.view(name, k.length(name))
	if !ok {
		return nil
	}
	key := string(view)
	if old, ok := k.vars[key]; ok {
		k.varBytes -= uint64(len(key) + len(old))
		delete(k.vars, key)
	}
	if value == 0 {
		return nil
	}
	b, _ := k.view(value, k.length(value))
	k.varBytes += uint64(len(key) + len(b))
	if k.varBytes > k.limit {
		return &bindingError{CauseOutOfMemory, fmt.Sprintf("%d bytes of variables wanted, the limit is %d", k.varBytes, k.limit)}
	}
	k.vars[key] = slices.Clone(b)
	return nil
}

func (k *kernel) span(offset, length uint64) string {
	return fmt.Sprintf("%d bytes at %d are not in blocks of %d bytes", length, offset, len(k.arena))
}
