package sandbox

import (
	"bytes"
	"encoding/binary"
	"errors"
	"testing"

	"github.com/shadowcourt/shadowcourt/host/internal/sandbox/internal/pages"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

// FuzzKernel makes any calls of Extism's environment, in any order and with any
// arguments, and compares the results with those of a simple model.
func FuzzKernel(f *testing.F) {
	f.Add([]byte{0, 0, 3, 0, 0, 5, 1, 8, 4, 0, 2, 9, 7, 4, 4, 1, 6, 1, 3, 4, 0}) // allocate, write, read beyond a block
	f.Add([]byte{0, 0, 40, 0, 0, 1, 1, 4, 1, 2, 4, 1, 1, 4, 0, 0, 0, 3})         // free in another order, allocate again
	f.Add([]byte{0, 0, 4, 0, 0, 7, 16, 4, 0, 4, 1, 15, 4, 0, 16, 4, 0, 0, 0})    // set, get and delete a variable
	f.Add([]byte{0, 2, 0xc0, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0, 3, 0}) // blocks so large that sums overflow
	f.Add([]byte{0, 6, 9, 18, 1, 0, 6, 200, 17, 7, 'r', 'e', 'q', 'u', 'e', 's', 't', 9, 0, 2, 10, 0, 0})
	f.Add([]byte{7, 0, 0, 0, 9, 17, 0, 5, 0, 0}) // write below the first block, begin a call, read it again
	pager := must.Get(pages.Open(pages.Auto))(f)
	f.Fuzz(func(t *testing.T, script []byte) {
		memory := must.Get(pager.NewMemory(fuzzMemory))(t)
		defer memory.Free()
		memory.Reallocate(pageBytes)
		k := must.Get(newKernel(memory, fuzzMemory))(t)
		defer k.close()
		must.Do(t, k.restore(&variables{}))
		c := kernelScript{rest: script, guest: newTestState(), k: k, calls: extismCalls(), model: newKernelModel()}
		c.guest.kernel, c.guest.meter.left, c.guest.meter.budget = k, &tank{maxFuel}, maxFuel
		for len(c.rest) > 0 {
			c.step(t)
		}
		c.compare(t)
	})
}

const fuzzMemory = 4 * pageBytes

// kernelScript interprets bytes as calls.
type kernelScript struct {
	rest    []byte
	guest   *guestState
	k       *kernel
	calls   map[string]extismCall
	model   kernelModel
	offsets []uint64 // of all blocks so far
}

// kernelSteps are the calls, by number, and two steps of the host.
var kernelSteps = [...]string{ //nolint:gochecknoglobals // a table
	"alloc", "free", "length", "length_unsafe", "load_u8", "load_u64", "store_u8", "store_u64",
	"input_offset", "input_length", "input_load_u8", "input_load_u64", "output_set", "error_set",
	"log_info", "var_get", "var_set", "begin", "grow",
}

func (c *kernelScript) step(t *testing.T) {
	t.Helper()
	name := kernelSteps[int(c.byte())%len(kernelSteps)]
	switch name {
	case "begin":
		request := c.rest[:min(int(c.byte()), len(c.rest))]
		c.rest = c.rest[len(request):]
		c.offsets = nil
		c.check(t, name, c.k.begin(request), c.model.begin(request, c.held()))
		return
	case "grow":
		c.grow(t)
		return
	}
	call := c.calls[name]
	stack := make([]uint64, 2)
	for i := range call.params {
		stack[i] = c.argument()
	}
	a, b := stack[0], stack[1]
	value := bytes.Clone(c.model.value(a))
	err := call.run(c.guest, stack)
	switch got := stack[0]; name {
	case "alloc":
		want, fits := c.model.alloc(a, c.held())
		c.check(t, name, err, fits)
		if err == nil && got != want {
			t.Fatalf("alloc(%d) = %d, want %d", a, got, want)
		}
		c.offsets = append(c.offsets, want)
	case "var_get":
		want, fits := c.model.store(value, c.held())
		c.check(t, name, err, fits)
		if err == nil && got != want {
			t.Fatalf("var_get(%d) = %d, want %d", a, got, want)
		}
	case "var_set":
		c.check(t, name, err, err == nil || b == 0) // deleting needs no memory
		if err == nil {
			c.model.setVariable(a, b)
		}
	default:
		c.check(t, name, err, true)
		if want, has := c.model.run(name, a, b); has && got != want {
			t.Fatalf("%s(%d, %d) = %d, want %d", name, a, b, got, want)
		}
	}
}

// check compares whether a call failed, which it may for want of memory only, and that the limits hold.
func (c *kernelScript) check(t *testing.T, name string, err error, fits bool) {
	t.Helper()
	if fits != (err == nil) || err != nil && !outOfMemory(err) {
		t.Fatalf("%s: %v, fits: %v", name, err, fits)
	}
	if c.k.size+c.held() > fuzzMemory-c.k.size/granule*entryBytes || c.k.vars.held > maxVariableBytes {
		t.Fatalf("%s: %d bytes of blocks, %d of variables, %d of memory", name, c.k.size, c.k.vars.held, len(c.k.memory.Bytes()))
	}
}

// held is what counts against the limit beside the blocks.
func (c *kernelScript) held() uint64 { return c.k.vars.held + uint64(len(c.k.memory.Bytes())) }

func (c *kernelScript) grow(t *testing.T) {
	t.Helper()
	size, taken := (1+uint64(c.byte())%4)*pageBytes, c.model.taken()
	had := uint64(len(c.k.memory.Bytes()))
	if grown := c.k.memory.Reallocate(max(size, had)); (grown != nil) != (max(size, had)+c.k.vars.held+taken <= fuzzMemory) {
		t.Fatalf("memory of %d bytes beside %d bytes of blocks: given %d", size, taken, len(grown))
	}
}

// compare compares all blocks and variables, and what the host makes of the end.
func (c *kernelScript) compare(t *testing.T) {
	t.Helper()
	if !bytes.Equal(c.k.bytes(), c.model.bytes) {
		t.Fatal("the blocks hold other bytes")
	}
	for offset := range uint64(len(c.model.bytes)) + 2*granule {
		if got, want := c.k.length(offset), c.model.lengths[offset]; got != want {
			t.Fatalf("length(%d) = %d, want %d", offset, got, want)
		}
	}
	held := uint64(0)
	for name, value := range c.model.variables {
		held += variableBytes + uint64(len(name)+len(value))
		must.Equal(t, string(c.k.vars.get([]byte(name))), value, "variable", name)
	}
	if len(c.k.vars.byName) != len(c.model.variables) || c.k.vars.held < held {
		t.Fatalf("%d variables of %d bytes, want %d of %d", len(c.k.vars.byName), c.k.vars.held, len(c.model.variables), held)
	}
	if len(c.guest.stderr) > maxStderrBytes {
		t.Fatalf("%d bytes of standard error are kept", len(c.guest.stderr))
	}
	_ = c.k.failure(1)
	if view, ok := c.k.view(c.k.output.offset, c.k.output.length); ok && uint64(len(view)) != c.k.output.length {
		t.Fatalf("the output has %d bytes, %d were set", len(view), c.k.output.length)
	}
}

func (c *kernelScript) byte() byte {
	if len(c.rest) == 0 {
		return 0
	}
	b := c.rest[0]
	c.rest = c.rest[1:]
	return b
}

// argument is any number: small ones, offsets of blocks, and those at the ends of their range are frequent.
func (c *kernelScript) argument() uint64 {
	switch tag := c.byte(); tag % 8 {
	case 0:
		return uint64(c.byte())
	case 1:
		return uint64(c.byte())<<8 | uint64(c.byte())
	case 2:
		var b [8]byte
		c.rest = c.rest[copy(b[:], c.rest):]
		return binary.LittleEndian.Uint64(b[:])
	case 3:
		return ^uint64(c.byte())
	case 4, 5:
		at := uint64(0)
		if n := len(c.offsets); n > 0 {
			at = c.offsets[int(c.byte())%n]
		}
		if tag%8 == 5 {
			at += uint64(c.byte())
		}
		return at
	case 6:
		return uint64(c.byte()) << 10
	}
	return 1<<32 - uint64(c.byte())
}

const testMemory = 4 << 20

// testKernel is that of an instance with a memory of some bytes.
func testKernel(t *testing.T, memoryBytes uint64) *kernel {
	t.Helper()
	pager := must.Get(pages.Open(pages.Auto))(t)
	memory := must.Get(pager.NewMemory(testMemory))(t)
	memory.Reallocate(memoryBytes)
	k := must.Get(newKernel(memory, testMemory))(t)
	t.Cleanup(func() {
		k.close()
		memory.Free()
	})
	return k
}

func outOfMemory(err error) bool {
	var full *bindingError
	return errors.As(err, &full) && full.cause == CauseOutOfMemory
}

// Instances share what a template has in variables, and do not write into it.
func TestVariablesOfATemplateDoNotChange(t *testing.T) {
	t.Parallel()
	k := testKernel(t, 0)
	name, _ := k.store([]byte("name"))
	value, _ := k.store([]byte("before"))
	must.Do(t, k.setVariable(name, value))
	template := k.vars.clone()
	must.Do(t, k.restore(&template))
	name, _ = k.store([]byte("name"))
	value, _ = k.store([]byte("after"))
	must.Do(t, k.setVariable(name, value))
	if string(template.get([]byte("name"))) != "before" || string(k.variable(name)) != "after" {
		t.Errorf("the template has %q, the instance %q", template.get([]byte("name")), k.variable(name))
	}
}

// kernelModel is the kernel in the simplest way: bytes, and the lengths of the
// blocks by their offsets. It stands apart from the kernel's own arithmetic.
type kernelModel struct {
	bytes     []byte            // of all blocks since the call began
	lengths   map[uint64]uint64 // of the blocks that are not freed
	end       uint64            // of the last of them
	input     block
	variables map[string]string
}

func newKernelModel() kernelModel {
	return kernelModel{bytes: make([]byte, granule), lengths: map[uint64]uint64{}, end: granule, variables: map[string]string{}}
}

// begin frees all blocks. It reports whether the request fits.
func (m *kernelModel) begin(request []byte, held uint64) bool {
	m.bytes, m.lengths, m.end = make([]byte, granule), map[uint64]uint64{}, granule
	m.input = block{}
	offset, ok := m.store(request, held)
	m.input = block{offset, uint64(len(request))}
	return ok
}

// taken is what the blocks count against the memory limit.
func (m *kernelModel) taken() uint64 { return sizeWithTable(uint64(len(m.bytes))) }

func sizeWithTable(size uint64) uint64 { return size * (granule + entryBytes) / granule }

func (m *kernelModel) alloc(length, held uint64) (offset uint64, ok bool) {
	if length == 0 {
		return 0, true
	}
	if length > fuzzMemory {
		return 0, false
	}
	offset, end := m.end, m.end+padded(length)
	if end > uint64(len(m.bytes)) {
		if sizeWithTable(end)+held > fuzzMemory {
			return 0, false
		}
		m.bytes = append(m.bytes, make([]byte, end-uint64(len(m.bytes)))...)
	}
	clear(m.bytes[offset:end])
	m.lengths[offset], m.end = length, end
	return offset, true
}

func padded(length uint64) uint64 {
	for length%granule != 0 {
		length++
	}
	return length
}

func (m *kernelModel) store(b []byte, held uint64) (offset uint64, ok bool) {
	offset, ok = m.alloc(uint64(len(b)), held)
	if ok {
		copy(m.bytes[offset:], b)
	}
	return offset, ok
}

func (m *kernelModel) free(offset uint64) {
	length, found := m.lengths[offset]
	if !found || offset == m.input.offset {
		return
	}
	delete(m.lengths, offset)
	if offset+padded(length) == m.end {
		m.end = offset
	}
}

// load reads 8 bytes; 0 if they are not all there.
func (m *kernelModel) load(at uint64) uint64 {
	if at >= uint64(len(m.bytes)) || len(m.bytes[at:]) < 8 {
		return 0
	}
	return binary.LittleEndian.Uint64(m.bytes[at:])
}

func (m *kernelModel) load8(at uint64) uint64 {
	if at >= uint64(len(m.bytes)) {
		return 0
	}
	return uint64(m.bytes[at])
}

func (m *kernelModel) content(offset uint64) []byte {
	return m.bytes[min(offset, uint64(len(m.bytes))):][:m.lengths[offset]]
}

// value of the variable that a block names.
func (m *kernelModel) value(name uint64) []byte {
	return []byte(m.variables[string(m.content(name))])
}

func (m *kernelModel) setVariable(name, value uint64) {
	switch {
	case name > uint64(len(m.bytes)): // names nothing
	case value == 0:
		delete(m.variables, string(m.content(name)))
	default:
		m.variables[string(m.content(name))] = string(m.content(value))
	}
}

// run makes a call that cannot fail. It says what it gives, if anything.
func (m *kernelModel) run(name string, a, b uint64) (result uint64, has bool) {
	switch name {
	case "free", "log_info":
		m.free(a)
	case "length", "length_unsafe":
		return m.lengths[a], true
	case "load_u8":
		return m.load8(a), true
	case "load_u64":
		return m.load(a), true
	case "store_u8":
		if a < uint64(len(m.bytes)) {
			m.bytes[a] = byte(b)
		}
	case "store_u64":
		if a < uint64(len(m.bytes)) && len(m.bytes[a:]) >= 8 {
			binary.LittleEndian.PutUint64(m.bytes[a:], b)
		}
	case "input_offset":
		return m.input.offset, true
	case "input_length":
		return m.input.length, true
	case "input_load_u8":
		if a < m.input.length {
			return m.load8(m.input.offset + a), true
		}
		return 0, true
	case "input_load_u64":
		if a < m.input.length && m.input.length-a >= 8 {
			return m.load(m.input.offset + a), true
		}
		return 0, true
	}
	return 0, false
}
