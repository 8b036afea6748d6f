package fuelzoo

import (
	"fmt"

	"github.com/shadowcourt/shadowcourt/internal/testkit/wasmtest"
)

// control are branches that are hard to predict, calls, and what the compiler has to move where ways join.
func control() []Loop {
	random := join(get(place), wasmtest.Const(1664525), []byte{0x6c}, wasmtest.Const(1013904223), []byte{0x6a, 0x22, place})
	bit := join(random, wasmtest.Const(31), []byte{0x76})
	all := []Loop{
		one("loop of nothing", forever()),
		one("br_if at random", forever(repeat(unrolled, []byte{0x02, 0x40}, bit, []byte{0x0d, 0, 0x01, 0x0b}))),
		one("if at random", forever(repeat(unrolled, bit, []byte{0x04, 0x40}, get(counter), wasmtest.Const(5), []byte{0x6a}, set(counter), []byte{0x0b}))),
		one("select at random", forever(repeat(unrolled, get(place), get(counter), bit, []byte{0x1b}, set(counter)))),
		one("br_if by random bytes", join(fillRandom(), forever(wasmtest.Const(0), set(counter), []byte{0x03, 0x40},
			repeat(unrolled, []byte{0x02, 0x40}, get(counter), []byte{0x2d, 0, 0, 0x0d, 0}, get(counter), wasmtest.Const(1), []byte{0x6a}, set(counter), []byte{0x0b},
				get(counter), wasmtest.Const(1), []byte{0x6a}, set(counter)),
			get(counter), wasmtest.Const(1<<20), []byte{0x49, 0x0d, 0, 0x0b}))),
		one("br_if by random bytes at fixed places", join(fillRandom(), forever(get(place), wasmtest.Const(509), []byte{0x6a}, wasmtest.Const(1<<20-1), []byte{0x71}, set(place),
			repeatAt(200, func(n int) []byte {
				return join([]byte{0x02, 0x40}, get(place), []byte{0x2d, 0}, wasmtest.Uint(nil, n), []byte{0x0d, 0}, get(place), set(counter), []byte{0x0b})
			})))),
		one("br_table at random", forever(repeat(unrolled, table(256, join(random, wasmtest.Const(24), []byte{0x76}))))),
		one("br_table of 4 at random", forever(repeat(unrolled, table(4, join(random, wasmtest.Const(30), []byte{0x76}))))),
	}
	for _, n := range []int{0, 1, 10, 100} {
		all = append(all, calls(n)...)
	}
	for _, n := range []int{4, 8, 10, 12, 16, 20, 32, 100, 1000} {
		all = append(all, joins(n), swaps(n))
	}
	return append(all, indirect()...)
}

func repeatAt(n int, body func(int) []byte) []byte {
	var all []byte
	for i := range n {
		all = append(all, body(i)...)
	}
	return all
}

// fillRandom writes bits as bytes to the first MiB.
func fillRandom() []byte {
	return join([]byte{0x03, 0x40}, get(counter),
		get(place), wasmtest.Const(1664525), []byte{0x6c}, wasmtest.Const(1013904223), []byte{0x6a, 0x22, place},
		wasmtest.Const(31), []byte{0x76, 0x3a, 0, 0},
		get(counter), wasmtest.Const(1), []byte{0x6a, 0x22, counter}, wasmtest.Const(1<<20+1000), []byte{0x49, 0x0d, 0, 0x0b})
}

// table branches to one of n places.
func table(n int, index []byte) []byte {
	code := repeat(n, []byte{0x02, 0x40})
	code = join(code, index, []byte{0x0e}, wasmtest.Uint(nil, n-1))
	for i := range n {
		code = wasmtest.Uint(code, i)
	}
	return join(code, repeat(n, []byte{0x0b}, get(counter), wasmtest.Const(1), []byte{0x6a}, set(counter)))
}

// calls of a function with n parameters, or n results.
func calls(n int) []Loop {
	many := make([]byte, n)
	for i := range many {
		many[i] = wasmtest.I64
	}
	push, drop := repeat(n, get(1)), repeat(n, []byte{0x1a})
	return []Loop{
		{fmt.Sprintf("call with %d parameters", n), module(
			wasmtest.Func{Export: "f", Locals: locals(), Body: forever(repeat(4, push, []byte{0x10, 1}))},
			wasmtest.Func{Params: many, Body: nil})},
		{fmt.Sprintf("call with %d results", n), module(
			wasmtest.Func{Export: "f", Locals: locals(), Body: forever(repeat(4, []byte{0x10, 1}, drop))},
			wasmtest.Func{Results: many, Locals: locals(), Body: push})},
		{fmt.Sprintf("call with %d locals", n), module(
			wasmtest.Func{Export: "f", Locals: locals(), Body: forever(repeat(4, []byte{0x10, 1}))},
			wasmtest.Func{Locals: many, Body: nil})},
	}
}

// indirect calls.
func indirect() []Loop {
	call := []byte{0x11, 1, 0}
	prepare := join(wasmtest.Const(0), []byte{0xd2, 1, 0x26, 0}, wasmtest.Const(1), []byte{0xd2, 2, 0x26, 0})
	random := join(get(place), wasmtest.Const(1664525), []byte{0x6c}, wasmtest.Const(1013904223), []byte{0x6a, 0x22, place}, wasmtest.Const(31), []byte{0x76})
	f := func(index []byte) []byte {
		return module(
			wasmtest.Func{Export: "f", Locals: locals(), Body: join(prepare, forever(repeat(unrolled, index, call)))},
			wasmtest.Func{Export: "g"}, wasmtest.Func{Export: "h"})
	}
	return []Loop{{"call_indirect", f(wasmtest.Const(0))}, {"call_indirect at random", f(random)}}
}

// joins has n locals that differ by the way that was taken.
func joins(n int) Loop {
	change := repeatAt(n, func(i int) []byte {
		return join(wasmtest.Uint([]byte{0x20}, i+12), []byte{0x42, 1, 0x7c}, wasmtest.Uint([]byte{0x21}, i+12))
	})
	many := make([]byte, n+2)
	for i := range many {
		many[i] = wasmtest.I64
	}
	return Loop{fmt.Sprintf("join of %d locals", n), module(wasmtest.Func{Export: "f", Locals: join(locals(), many), Body: forever(
		repeat(4, get(counter), []byte{0x04, 0x40}, change, []byte{0x0b}))})}
}

// swaps rotates n locals by the operands of blocks.
func swaps(n int) Loop {
	many := make([]byte, n+2)
	for i := range many {
		many[i] = wasmtest.I64
	}
	body := repeatAt(n, func(i int) []byte { return wasmtest.Uint([]byte{0x20}, i+12) })
	body = join(body, repeatAt(n, func(i int) []byte { return wasmtest.Uint([]byte{0x21}, i+12) }))
	return Loop{fmt.Sprintf("turns %d locals around", n), module(wasmtest.Func{Export: "f", Locals: join(locals(), many), Body: forever(body)})}
}
