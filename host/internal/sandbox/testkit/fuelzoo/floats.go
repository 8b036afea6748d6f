package fuelzoo

import "github.com/shadowcourt/shadowcourt/internal/testkit/wasmtest"

// floats are arithmetic that is slow because of its operands.
func floats() []Loop {
	denormal := 3e-310
	var all []Loop
	chain := func(name string, start, other float64, t byte, body ...[]byte) {
		all = append(all, one(name, values(start, other), forever(get(accumulator(t)), repeat(unrolled, body...), set(accumulator(t)))))
	}
	k := get(operand('F'))
	chain("f64.add of denormals", denormal, 1e-320, 'F', k, []byte{0xa0})
	chain("f64.mul of denormals", denormal, 1, 'F', k, []byte{0xa2})
	chain("f64.div of denormals", denormal, 1.0000001, 'F', k, []byte{0xa3})
	chain("f64.div and f64.sqrt of denormals", denormal, denormal, 'F', k, []byte{0xa3, 0x9f}, k, []byte{0xa2})
	chain("f64.add of not a number", 1, 1, 'F', k, k, []byte{0xa1}, k, k, []byte{0xa1, 0xa3, 0xa0})
	chain("i64.trunc_f64_s and f64.convert_i64_s", 12345678, 1, 'F', []byte{0xb0, 0xb9})
	chain("i64.trunc_f64_u and f64.convert_i64_u", 12345678, 1, 'F', []byte{0xb1, 0xba})
	chain("i64.trunc_sat_f64_u and f64.convert_i64_u", 1.5e19, 1, 'F', []byte{0xfc, 7, 0xba})
	chain("i32.trunc_f32_u and f32.convert_i32_u", 12345678, 1, 'f', []byte{0xa9, 0xb3})
	chain("f32.demote_f64 and f64.promote_f32", 1e-40, 1, 'F', []byte{0xb6, 0xbb})
	chain("f64.min and f64.max", 1, 2, 'F', k, []byte{0xa4}, k, []byte{0xa5})
	chain("f64.copysign and f64.neg", 1, 2, 'F', k, []byte{0xa6, 0x9a})
	all = append(all,
		one("v128 to lanes and back", values(1, 2), forever(get(accumulator('v')),
			repeat(unrolled, []byte{0xfd, 33, 0, 0xfd, 20}), set(accumulator('v')))),
		one("i64.div_u of its own quotient", values(1, 2), forever(
			i64(1<<63), set(operand('I')), get(accumulator('I')),
			repeat(unrolled, set(accumulator('I')), get(operand('I')), get(accumulator('I')), wasmtest.Const(1), []byte{0xad, 0x84, 0x80}),
			set(accumulator('I')))),
	)
	return all
}
