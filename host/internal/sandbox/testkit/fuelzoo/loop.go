// Package fuelzoo has endless loops of the slowest instructions: the price list of package instrument is measured with them, and tests show
// that fuel ends each of them in time.
package fuelzoo

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/shadowcourt/shadowcourt/host/internal/sandbox/wasmfile"
	"github.com/shadowcourt/shadowcourt/internal/testkit/wasmtest"
)

// Loop is a module whose export f, of no parameters, never ends.
type Loop struct {
	Name string
	Wasm []byte
}

// unrolled is how often the body of a loop repeats what it measures.
const unrolled = 64

// memoryPages is the default limit of memory.
const memoryPages = 1024

// All gives every loop: one for each instruction that computes, loads or stores, and those of what is slow for another reason.
func All() []Loop { return slices.Concat(instructions(), floats(), memories(), control()) }

func join(pieces ...[]byte) []byte { return slices.Concat(pieces...) }

func get(local byte) []byte { return []byte{0x20, local} }
func set(local byte) []byte { return []byte{0x21, local} }

// forever repeats a body without end.
func forever(body ...[]byte) []byte {
	return join([]byte{0x03, 0x40}, join(body...), []byte{0x0c, 0, 0x0b})
}

func repeat(n int, body ...[]byte) []byte { return slices.Repeat(join(body...), n) }

// types are the letters of signatures.
var types = map[byte]byte{'i': wasmtest.I32, 'I': wasmtest.I64, 'f': wasmtest.F32, 'F': wasmtest.F64, 'v': byte(wasmfile.V128)}

func i64(v uint64) []byte {
	b := []byte{0x42}
	for i := range 10 {
		c := byte(int64(v) >> min(7*i, 63) & 0x7f)
		if i < 9 {
			c |= 0x80
		}
		b = append(b, c)
	}
	b[10] = byte(int64(v)>>63) & 0x7f
	return b
}

func f64(v float64) []byte {
	return binary.LittleEndian.AppendUint64([]byte{0x44}, math.Float64bits(v))
}

func encode(op wasmfile.Opcode) []byte {
	if op>>16 == 0 {
		return []byte{byte(op)}
	}
	return binary.AppendUvarint([]byte{byte(op >> 16)}, uint64(op&0xffff))
}

// one is the module of a loop. Its locals are two of each type: accumulators, then operands.
func one(name string, body ...[]byte) Loop {
	return Loop{name, module(wasmtest.Func{Export: "f", Locals: locals(), Body: join(body...)})}
}

func module(funcs ...wasmtest.Func) []byte {
	return wasmtest.Module{MemoryPages: memoryPages, Memory: "memory", TableMin: 1000, Globals: 1, Funcs: funcs}.Bytes()
}

// The locals.
const letters = "iIfFv"

func locals() []byte {
	var all []byte
	for range 2 {
		for _, c := range []byte(letters) {
			all = append(all, types[c])
		}
	}
	return all
}

func accumulator(t byte) byte { return byte(slices.Index([]byte(letters), t)) }
func operand(t byte) byte     { return accumulator(t) + byte(len(letters)) }

// values sets the locals to values with which instructions take long: large numbers, divided by small ones.
func values(large, small float64) []byte {
	n := uint64(0x7edc_ba98_7654_3210)
	return join(
		i64(n), set(accumulator('I')), i64(3), set(operand('I')),
		wasmtest.Const(0x7edc_ba98), set(accumulator('i')), wasmtest.Const(3), set(operand('i')),
		f64(large), set(accumulator('F')), f64(small), set(operand('F')),
		f64(large), []byte{0xb6}, set(accumulator('f')), f64(small), []byte{0xb6}, set(operand('f')),
		f64(large), []byte{0xfd, 20}, set(accumulator('v')), f64(small), []byte{0xfd, 20}, set(operand('v')))
}

// instructions has a loop for every instruction of the signatures.
func instructions() []Loop {
	var all []Loop
	for _, s := range signatures {
		for op := s.from; op <= s.to; op++ {
			name := fmt.Sprintf("0x%02x", op)
			if op>>16 != 0 {
				name = fmt.Sprintf("0x%02x %d", op>>16, op&0xffff)
			}
			all = append(all, one(name, values(3e8, 3), forever(s.body(op))))
		}
	}
	return all
}

// body repeats an instruction. One whose result is of the type of its first
// operand works on its own results, so that each waits for the one before.
func (s signature) body(op wasmfile.Opcode) []byte {
	code := append(encode(op), s.immediate...)
	if s.params == "" || s.result == "" || s.params[0] != s.result[0] || isDivision(op) || isLoad(op) {
		return s.apart(code)
	}
	var rest []byte
	for _, t := range []byte(s.params[1:]) {
		rest = append(rest, get(operand(t))...)
	}
	acc := accumulator(s.params[0])
	return join(get(acc), repeat(unrolled, rest, code), set(acc))
}

func isDivision(op wasmfile.Opcode) bool {
	return op >= 0x6d && op <= 0x70 || op >= 0x7f && op <= 0x82
}

func isLoad(op wasmfile.Opcode) bool { return op >= 0x28 && op <= 0x3e }

// apart repeats an instruction with the same operands.
func (s signature) apart(code []byte) []byte {
	var in []byte
	for i, t := range []byte(s.params) {
		local := operand(t)
		if i == 0 && !isAddress(s) {
			local = accumulator(t)
		}
		in = append(in, get(local)...)
	}
	if s.result == "" {
		return repeat(unrolled, in, code)
	}
	sum, combine := byte('I'), []byte{0x85}
	switch s.result {
	case "i":
		sum, combine = 'i', []byte{0x73}
	case "f":
		sum, combine = 'i', []byte{0xbc, 0x73}
	case "F":
		combine = []byte{0xbd, 0x85}
	case "v":
		sum, combine = 'v', []byte{0xfd, 81}
	}
	into := accumulator(sum)
	if s.params != "" && s.params[0] == sum {
		into = operand(sum)
		if isAddress(s) {
			into = accumulator(sum)
		}
	}
	return join(get(into), repeat(unrolled, in, code, combine), set(into))
}

// isAddress reports whether the first operand is an address.
func isAddress(s signature) bool { return len(s.immediate) >= 2 && len(s.immediate) < 16 }
