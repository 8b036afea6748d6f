package sandbox

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/shadowcourt/shadowcourt/host/internal/sandbox/internal/pages"
)

// kernel is the memory that an Extism guest shares with the host: blocks of bytes beside the guest's own memory. Extism has it as a module
// of its own; here it is a part of the instance, so that pristine means it too, and counts against the instance's memory limit.
//
// What Extism promises of it is kept: what is read beyond the blocks is 0, and what is written there is dropped; only an allocation that is
// too large ends the call.
//
// Blocks begin at multiples of a granule. A second region holds the length of the block that begins at each granule, so that what a guest
// can make of blocks is bounded by the bytes of both: a block of one byte takes 20.
type kernel struct {
	memory *pages.Memory // whose limit the kernel shares
	arena  *pages.Region // the bytes of blocks
	table  *pages.Region // a length for each granule of the arena, 0 where no block begins
	end    uint64        // of the last block; what lies behind it was freed, and stays readable
	size   uint64        // the largest end of this call

	input, output block
	err           uint64 // the offset of what went wrong; 0 for none
	vars          variables
}

// block is a part of the arena.
type block struct{ offset, length uint64 }

const (
	granule    = 16
	entryBytes = 4       // of the table, for each granule
	firstBlock = granule // the offset of the first block: 0 is none
)

// keptArena is how much room an instance keeps from call to call.
const keptArena = 1 << 20

func newKernel(memory *pages.Memory, limit int64) (*kernel, error) {
	k := &kernel{memory: memory, end: firstBlock, size: firstBlock}
	var err, more error
	k.arena, err = pages.NewRegion(uint64(limit))
	k.table, more = pages.NewRegion(uint64(limit) / granule * entryBytes)
	if err = errors.Join(err, more); err == nil {
		err = k.room(firstBlock)
	}
	return k, err
}

func (k *kernel) close() {
	k.arena.Free()
	k.table.Free()
}

// begin frees all blocks, as Extism does before every call, and has the request as input.
func (k *kernel) begin(request []byte) error {
	if err := k.empty(); err != nil {
		return err
	}
	offset, err := k.store(request)
	k.input = block{offset, uint64(len(request))}
	return err
}

// empty frees all blocks.
func (k *kernel) empty() error {
	k.input, k.output, k.err = block{}, block{}, 0
	if k.size > keptArena {
		if err := errors.Join(k.arena.Drop(), k.table.Drop()); err != nil {
			return err
		}
	} else {
		clear(k.table.Bytes()[:k.size/granule*entryBytes])
		clear(k.bytes()[:firstBlock]) // alloc clears the others
	}
	k.end, k.size = firstBlock, firstBlock
	k.hold(0)
	return k.room(k.size)
}

// restore is what every call begins with.
func (k *kernel) restore(vars *variables) error {
	k.vars = vars.clone()
	return k.empty()
}

// hold counts what blocks and variables take of the host's memory, and some
// bytes more. It reports whether these fit; if not, nothing is counted.
func (k *kernel) hold(more uint64) bool {
	return k.memory.Hold(k.size + k.size/granule*entryBytes + k.vars.held + more)
}

// room makes the regions as large as the blocks need.
func (k *kernel) room(size uint64) error {
	return errors.Join(k.arena.Grow(size), k.table.Grow(size/granule*entryBytes))
}

// alloc gives a new block of zeros; 0 for one of no bytes.
func (k *kernel) alloc(length uint64) (uint64, error) {
	if length == 0 {
		return 0, nil
	}
	if length > maxMemoryBytes { // the sums below would overflow
		return 0, k.full(length)
	}
	offset := k.end
	end := offset + (length+granule-1)/granule*granule
	if end > k.size {
		more := end - k.size
		if !k.hold(more + more/granule*entryBytes) {
			return 0, k.full(length)
		}
		if err := k.room(end); err != nil {
			return 0, err
		}
		k.size = end
	}
	k.end = end
	clear(k.bytes()[offset:end])
	k.setLength(offset, length)
	return offset, nil
}

// full is the error of a call that wants more than the memory limit leaves.
func (k *kernel) full(more uint64) error {
	return &bindingError{CauseOutOfMemory, fmt.Sprintf("%d more bytes wanted beside %d bytes of blocks, %d of variables and %d of memory",
		more, k.size, k.vars.held, len(k.memory.Bytes()))}
}

// bytes of the blocks.
func (k *kernel) bytes() []byte { return k.arena.Bytes()[:k.size] }

// store gives a new block that holds the bytes.
func (k *kernel) store(b []byte) (uint64, error) {
	offset, err := k.alloc(uint64(len(b)))
	if err == nil {
		copy(k.bytes()[offset:], b)
	}
	return offset, err
}

// free ends a block. The bytes of the last one are given out again.
func (k *kernel) free(offset uint64) {
	length := k.length(offset)
	if length == 0 || offset == k.input.offset {
		return
	}
	k.setLength(offset, 0)
	if offset+(length+granule-1)/granule*granule == k.end {
		k.end = offset
	}
}

// length of the block at an offset; 0 if there is none.
func (k *kernel) length(offset uint64) uint64 {
	if offset%granule != 0 || offset >= k.size {
		return 0
	}
	return uint64(binary.LittleEndian.Uint32(k.entry(offset)))
}

func (k *kernel) setLength(offset, length uint64) {
	binary.LittleEndian.PutUint32(k.entry(offset), uint32(length))
}

// entry of the table for a block in the arena.
func (k *kernel) entry(offset uint64) []byte {
	return k.table.Bytes()[offset/granule*entryBytes:]
}

// view is a range of the arena; it need not be a block.
func (k *kernel) view(offset, length uint64) ([]byte, bool) {
	if length > k.size || offset > k.size-length {
		return nil, false
	}
	return k.bytes()[offset : offset+length : offset+length], true
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

// variable is the value of the variable that a block names; nil if it is not set.
func (k *kernel) variable(name uint64) []byte {
	key, _ := k.view(name, k.length(name))
	return k.vars.get(key)
}

// setVariable sets one to the content of a block, or deletes it where there is no block.
func (k *kernel) setVariable(name, value uint64) error {
	key, ok := k.view(name, k.length(name))
	if !ok {
		return nil
	}
	if value == 0 {
		k.vars.remove(key)
		k.hold(0)
		return nil
	}
	b, _ := k.view(value, k.length(value))
	added := k.vars.added(key, len(b))
	if wanted := k.vars.held + added; wanted > maxVariableBytes {
		return &bindingError{CauseOutOfMemory, fmt.Sprintf("%d bytes of variables wanted, the limit is %d", wanted, maxVariableBytes)}
	}
	if !k.hold(added) {
		return k.full(added)
	}
	k.vars.set(key, b)
	return nil
}

func (k *kernel) span(offset, length uint64) string {
	return fmt.Sprintf("%d bytes at %d are not in blocks of %d bytes", length, offset, k.size)
}

// variables are what an Extism guest sets by name: what Extism keeps from call to call, and a pristine instance only from its start.
//
// They live on Go's heap, so they are few: maxVariableBytes bounds names, values and what the host holds for each. Extism's own default is
// as much, and counts names and values only.
type variables struct {
	byName map[string]*variable
	held   uint64 // bytes
}

type variable struct{ value []byte }

const (
	maxVariableBytes = 1 << 20
	variableBytes    = 128 // of the host's memory for a variable, beside its name and value
)

// get gives the value of one, or nil.
func (v *variables) get(name []byte) []byte {
	if found := v.byName[string(name)]; found != nil {
		return found.value
	}
	return nil
}

// added is how many more bytes are held if one is set.
func (v *variables) added(name []byte, length int) uint64 {
	old := v.byName[string(name)]
	if old == nil {
		return variableBytes + uint64(len(name)+length)
	}
	return uint64(max(length, cap(old.value)) - cap(old.value))
}

// set sets one to a copy of a value. Where the old value has room, the new one
// takes its place: a guest that sets one again and again makes no garbage.
func (v *variables) set(name, value []byte) {
	v.held += v.added(name, len(value))
	old := v.byName[string(name)]
	if old == nil {
		if v.byName == nil {
			v.byName = map[string]*variable{}
		}
		old = &variable{}
		v.byName[string(name)] = old
	}
	if cap(old.value) < len(value) {
		old.value = make([]byte, len(value))
	}
	old.value = append(old.value[:0], value...)
}

func (v *variables) remove(name []byte) {
	if old := v.byName[string(name)]; old != nil {
		v.held -= variableBytes + uint64(len(name)+cap(old.value))
		delete(v.byName, string(name))
	}
}

// clone copies the values, too: those of a template belong to many instances.
func (v *variables) clone() variables {
	var c variables
	for name, old := range v.byName {
		c.set([]byte(name), old.value)
	}
	return c
}
