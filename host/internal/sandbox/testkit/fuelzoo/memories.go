package fuelzoo

import (
	"fmt"

	"github.com/shadowcourt/shadowcourt/internal/testkit/wasmtest"
)

// The locals of these loops.
const (
	place   = 0 // accumulator('i')
	counter = 5 // operand('i')
)

// lineBytes is a line of the cache, stride of a chain.
const lineBytes = 64

// chain writes a cycle through lines of a power of two of bytes: each holds the address of the next, in an order that looks random.
func chain(bytes int) []byte {
	lines := int32(bytes / lineBytes)
	next := func(from []byte) []byte { // a generator of full period
		return join(from, wasmtest.Const(0x9e3779b1-(1<<32)), []byte{0x6c}, wasmtest.Const(0x3c6ef35), []byte{0x6a},
			wasmtest.Const(lines-1), []byte{0x71})
	}
	return join(wasmtest.Const(0), set(counter), []byte{0x03, 0x40},
		get(counter), wasmtest.Const(lineBytes), []byte{0x6c},
		next(get(counter)), wasmtest.Const(lineBytes), []byte{0x6c, 0x36, 2, 0},
		get(counter), wasmtest.Const(1), []byte{0x6a, 0x22, counter}, wasmtest.Const(lines), []byte{0x49, 0x0d, 0, 0x0b},
		wasmtest.Const(0), set(place))
}

// everywhere repeats an access at a place in every piece of 64 KiB, and another place in each turn: nothing but the access is paid for.
func everywhere(mask int32, access func(distance int) []byte, then ...[]byte) []byte {
	return forever(get(place), wasmtest.Const(4096*5+64*7), []byte{0x6a}, wasmtest.Const(mask), []byte{0x71}, set(place),
		repeatAt(memoryPages-1, func(n int) []byte { return join(access(n<<16), join(then...)) }))
}

// memories are loops that wait for memory, or move it.
func memories() []Loop {
	load := []byte{0x28, 2, 0}
	var all []Loop
	for _, size := range []int{32 << 10, 256 << 10, 4 << 20, 16 << 20, 32 << 20, 64 << 20} {
		all = append(all, one(fmt.Sprintf("i32.load along a chain of %d KiB", size>>10), chain(size),
			forever(get(place), repeat(unrolled, load), set(place))))
	}
	last := int32(memoryPages<<16 - 1)
	random := join(get(place), wasmtest.Const(1664525), []byte{0x6c}, wasmtest.Const(1013904223), []byte{0x6a, 0x22, place},
		wasmtest.Const(6), []byte{0x76}, wasmtest.Const(last-7), []byte{0x71})
	half := join(wasmtest.Const((last >> 1)), []byte{0x71})
	all = append(all,
		one("i64.load at random", forever(repeat(unrolled, get(1), random, []byte{0x29, 0, 0, 0x85}, set(1)))),
		one("i64.store at random", forever(repeat(unrolled, random, i64(7), []byte{0x37, 0, 0}))),
		one("i64.store over two pages", forever(repeat(unrolled, join(get(place), wasmtest.Const(4096*65), []byte{0x6a, 0x22, place},
			wasmtest.Const((last>>1)&^4095), []byte{0x71}, i64(7), []byte{0x37, 0}, wasmtest.Uint(nil, 4092))))),
		one("i64.load after stores of bytes", forever(repeat(unrolled, get(place), get(place), []byte{0x29, 0, 0}, i64(1), []byte{0x7c, 0xa7, 0x3a, 0, 3},
			get(place), get(place), []byte{0x28, 0, 0, 0x36, 0, 1}))),
	)
	all = append(all,
		one("i64.load at fixed distances", everywhere(0xffc0, func(distance int) []byte {
			return wasmtest.Uint(join(get(1), get(place), []byte{0x29, 0}), distance)
		}, []byte{0x85}, set(1))),
		one("i64.store at fixed distances", everywhere(0xffc0, func(distance int) []byte {
			return wasmtest.Uint(join(get(place), i64(7), []byte{0x37, 0}), distance)
		})),
		one("i64.store at fixed distances, over two pages", everywhere(0xf000, func(distance int) []byte {
			return wasmtest.Uint(join(get(place), i64(7), []byte{0x37, 0}), distance+4092)
		})),
	)
	for _, n := range []int32{0, 1, 15, 64, 100, 1000, 4096, 65536, 1 << 20, 32<<20 - 100} {
		for _, to := range []int32{0, 3} {
			all = append(all,
				one(fmt.Sprintf("memory.fill of %d bytes at %d", n, to), forever(repeat(4, wasmtest.Const(to), wasmtest.Const(1), wasmtest.Const(n), []byte{0xfc, 11, 0}))),
				one(fmt.Sprintf("memory.copy of %d bytes to %d", n, 32<<20+to), forever(repeat(4, wasmtest.Const(32<<20+to), wasmtest.Const(0), wasmtest.Const(n), []byte{0xfc, 10, 0, 0}))),
				one(fmt.Sprintf("memory.copy of %d bytes over itself, to %d", n, to), forever(repeat(4, wasmtest.Const(to), wasmtest.Const(1), wasmtest.Const(n), []byte{0xfc, 10, 0, 0}))),
			)
		}
	}
	for _, n := range []int32{0, 64, 4096} {
		all = append(all, one(fmt.Sprintf("memory.copy of %d bytes at random", n), forever(repeat(4, random, half, random, half,
			wasmtest.Const(n), []byte{0xfc, 10, 0, 0}))))
	}
	all = append(all,
		one("global.get and global.set", forever(repeat(unrolled, []byte{0x23, 0}, wasmtest.Const(1), []byte{0x6a, 0x24, 0}))),
		one("memory.size", forever(repeat(unrolled, []byte{0x3f, 0, 0x1a}))),
		one("memory.grow by nothing", forever(repeat(4, wasmtest.Const(0), []byte{0x40, 0, 0x1a}))),
		one("memory.grow that fails", forever(repeat(4, wasmtest.Const(60000), []byte{0x40, 0, 0x1a}))),
		one("table.grow that fails", forever(repeat(4, []byte{0xd0, 0x70}, wasmtest.Const(1<<30), []byte{0xfc, 15, 0, 0x1a}))),
		one("table.grow by nothing", forever(repeat(4, []byte{0xd0, 0x70}, wasmtest.Const(0), []byte{0xfc, 15, 0, 0x1a}))),
		one("table.get", forever(repeat(unrolled, wasmtest.Const(7), []byte{0x25, 0, 0x1a}))),
		one("table.set", forever(repeat(unrolled, wasmtest.Const(7), []byte{0xd0, 0x70, 0x26, 0}))),
		one("table.size", forever(repeat(unrolled, []byte{0xfc, 16, 0, 0x1a}))),
		one("ref.func", forever(repeat(unrolled, wasmtest.Const(7), []byte{0xd2, 0, 0x26, 0}))),
	)
	for _, n := range []int32{0, 10, 1000} {
		all = append(all,
			one(fmt.Sprintf("table.fill of %d entries", n), forever(repeat(4, wasmtest.Const(0), []byte{0xd0, 0x70}, wasmtest.Const(n), []byte{0xfc, 17, 0}))),
			one(fmt.Sprintf("table.copy of %d entries", n), forever(repeat(4, wasmtest.Const(0), wasmtest.Const(0), wasmtest.Const(n), []byte{0xfc, 14, 0, 0}))),
		)
	}
	return all
}
