// Package bombs makes modules that are small and valid, and that cost the compiler much time or memory: what the sandbox must reject before
// it compiles it, and what it may accept just below its limits.
package bombs

import (
	"bytes"
	"encoding/binary"
	"strconv"

	"github.com/shadowcourt/shadowcourt/abi"
)

// Value types and instructions, as far as the families use them.
const (
	i32, i64, v128 = 0x7f, 0x7e, 0x7b

	void        = 0x40
	block       = 0x02
	loop        = 0x03
	if_         = 0x04
	else_       = 0x05
	end         = 0x0b
	br          = 0x0c
	brIf        = 0x0d
	brTable     = 0x0e
	call        = 0x10
	drop        = 0x1a
	localGet    = 0x20
	localSet    = 0x21
	globalGet   = 0x23
	i32Load     = 0x28
	i32Const    = 0x41
	i64Const    = 0x42
	i32Eqz      = 0x45
	i32Add      = 0x6a
	i32DivS     = 0x6d
	unreachable = 0x00
)

// code appends instructions.
type code []byte

func (c *code) op(b ...byte) *code {
	*c = append(*c, b...)
	return c
}

func (c *code) n(op byte, index int) *code {
	*c = binary.AppendUvarint(append(*c, op), uint64(index))
	return c
}

// times appends what f does n times.
func (c *code) times(n int, f func(c *code, i int)) {
	for i := range n {
		f(c, i)
	}
}

// signature is a function type.
type signature struct{ params, results []byte }

// function has a body behind its locals.
type function struct {
	signature signature
	locals    int
	local     byte // the type of the locals; 0: i32
	body      code // without its end
}

// module is a plugin that serves one call, and holds the functions besides.
type module struct {
	first     *signature  // type 0
	types     []signature // besides those that functions need
	imports   int         // of the same function of WASI
	globals   int         // mutable
	exports   int
	functions []function
	elements  int // in passive segments
	data      int // empty passive segments
	customs   []byte
}

// bytes assembles the module.
func (m module) bytes() []byte {
	functions := append([]function{
		{signature: signature{[]byte{i32}, []byte{i32}}, body: code{localGet, 0}},
		{signature: signature{[]byte{i32, i32}, []byte{i64}}, body: code{i64Const, 0}},
	}, m.functions...)
	var types, imports, declared, bodies, globals, exports, elements, data []byte
	indices, count := map[string]int{}, 0
	typeOf := func(s signature) int {
		encoded := append(uvarint([]byte{0x60}, len(s.params)), s.params...)
		encoded = append(uvarint(encoded, len(s.results)), s.results...)
		if _, ok := indices[string(encoded)]; !ok {
			indices[string(encoded)] = count
			types = append(types, encoded...)
			count++
		}
		return indices[string(encoded)]
	}
	if m.first != nil {
		typeOf(*m.first)
	}
	yield := typeOf(signature{nil, []byte{i32}})
	for range m.imports {
		imports = append(imports, name("wasi_snapshot_preview1")...)
		imports = uvarint(append(append(imports, name("sched_yield")...), 0), yield)
	}
	for _, f := range functions {
		declared = uvarint(declared, typeOf(f.signature))
		var body []byte
		if f.locals > 0 {
			if f.local == 0 {
				f.local = i32
			}
			body = append(uvarint([]byte{1}, f.locals), f.local)
		} else {
			body = []byte{0}
		}
		body = append(append(body, f.body...), end)
		bodies = append(uvarint(bodies, len(body)), body...)
	}
	for _, s := range m.types {
		types = append(uvarint(append(types, 0x60), len(s.params)), s.params...)
		types = append(uvarint(types, len(s.results)), s.results...)
		count++
	}
	for range m.globals {
		globals = append(globals, i32, 1, i32Const, 0, end)
	}
	exports = append(append(exports, name(abi.ExportMemory)...), 2, 0)
	exports = uvarint(append(append(exports, name(abi.ExportAlloc)...), 0), m.imports)
	exports = uvarint(append(append(exports, name(abi.ExportNode)...), 0), m.imports+1)
	for i := range m.exports {
		exports = append(append(exports, name(strconv.Itoa(i))...), 2, 0)
	}
	segments := 0
	for left := m.elements; left > 0; left -= maxElements {
		n := min(left, maxElements)
		elements = append(uvarint(append(elements, 1, 0), n), make([]byte, n)...)
		segments++
	}
	for range m.data {
		data = append(data, 1, 0)
	}

	out := []byte{0, 'a', 's', 'm', 1, 0, 0, 0}
	out = list(out, 1, count, types)
	out = list(out, 2, m.imports, imports)
	out = list(out, 3, len(functions), declared)
	out = list(out, 4, 1, []byte{0x70, 0, 1})
	out = list(out, 5, 1, []byte{0, 1})
	out = list(out, 6, m.globals, globals)
	out = list(out, 7, 3+m.exports, exports)
	out = list(out, 9, segments, elements)
	out = list(out, 10, len(functions), bodies)
	out = list(out, 11, m.data, data)
	if len(m.customs) > 0 {
		out = section(out, 0, append(name("name"), m.customs...))
	}
	return out
}

// maxElements is how many elements one segment holds.
const maxElements = 1 << 20

func uvarint[B ~[]byte](b B, n int) B { return binary.AppendUvarint(b, uint64(n)) }

func name(s string) []byte { return append(uvarint([]byte(nil), len(s)), s...) }

func list(out []byte, id byte, count int, entries []byte) []byte {
	if count == 0 {
		return out
	}
	return section(out, id, append(uvarint([]byte(nil), count), entries...))
}

func section(out []byte, id byte, body []byte) []byte {
	return append(uvarint(append(out, id), len(body)), body...)
}

func repeat(b byte, n int) []byte { return bytes.Repeat([]byte{b}, n) }
