package bombs

// Family is modules of one kind, of any size. What a module costs grows faster than its size, or each byte costs much.
type Family struct {
	Name string
	Make func(size int) []byte
}

// one is a module of one function.
func one(f function) []byte { return module{functions: []function{f}}.bytes() }

// locals gives n numbers from locals to the next, so that all are read and written.
func exchange(c *code, n int) {
	for i := range n {
		c.n(localGet, (i+1)%n).n(localSet, i)
	}
}

// Families are all of them.
func Families() []Family {
	return []Family{
		{"nested loops, each with as many locals", func(n int) []byte {
			var c code
			c.times(n, func(c *code, _ int) { c.op(loop, void) })
			exchange(&c, n)
			c.times(n, func(c *code, _ int) { c.op(i32Const, 0).n(brIf, 0).op(end) })
			return one(function{locals: n, body: c})
		}},
		{"nested loops that read locals", func(n int) []byte {
			var c code
			c.times(n, func(c *code, _ int) { c.op(loop, void) })
			c.times(n, func(c *code, i int) { c.n(localGet, i).op(drop) })
			c.times(n, func(c *code, _ int) { c.op(i32Const, 0).n(brIf, 0).op(end) })
			return one(function{locals: n, body: c})
		}},
		{"loops after one another, with as many locals", func(n int) []byte {
			var c code
			c.times(n, func(c *code, i int) {
				c.op(loop, void).n(localGet, i).n(localSet, (i+1)%n).op(i32Const, 0).n(brIf, 0).op(end)
			})
			exchange(&c, n)
			return one(function{locals: n, body: c})
		}},
		{"one loop with many locals", func(n int) []byte {
			var c code
			c.op(loop, void)
			exchange(&c, n)
			c.op(i32Const, 0).n(brIf, 0).op(end)
			return one(function{locals: n, body: c})
		}},
		{"one loop with many vectors as locals", func(n int) []byte {
			var c code
			c.op(loop, void)
			exchange(&c, n)
			c.op(i32Const, 0).n(brIf, 0).op(end)
			return one(function{locals: n, local: v128, body: c})
		}},
		{"a loop with as many branches to it as locals", func(n int) []byte {
			var c code
			c.op(loop, void)
			c.times(n, func(c *code, i int) { c.n(localGet, i).n(localSet, (i+1)%n).n(localGet, i).n(brIf, 0) })
			exchange(&c, n)
			c.op(end)
			return one(function{locals: n, body: c})
		}},
		{"branches to one end", func(n int) []byte {
			var c code
			c.op(block, void)
			c.times(n, func(c *code, i int) { c.n(localGet, i%8).n(brIf, 0) })
			c.op(end)
			return one(function{locals: 8, body: c})
		}},
		{"branches to one end, which reads locals", func(n int) []byte {
			var c code
			c.op(block, void)
			c.times(n, func(c *code, i int) { c.n(localGet, 0).n(localSet, i).n(localGet, 0).n(brIf, 0) })
			c.op(end)
			exchange(&c, n)
			return one(function{locals: n, body: c})
		}},
		{"conditions after one another", func(n int) []byte {
			var c code
			c.times(n, func(c *code, i int) {
				c.n(localGet, i%100).op(if_, void).n(localGet, (i+1)%100).n(localSet, i%100).op(end)
			})
			return one(function{locals: 100, body: c})
		}},
		{"conditions that keep locals for later", func(n int) []byte {
			var c code
			c.times(n, func(c *code, i int) { c.op(i32Const, 1, if_, void).n(localGet, 0).n(localSet, i).op(end) })
			exchange(&c, n)
			return one(function{locals: n, body: c})
		}},
		{"conditions within one another", func(n int) []byte {
			var c code
			c.times(n, func(c *code, i int) { c.n(localGet, i%100).op(if_, void).n(localGet, (i+1)%100).n(localSet, i%100) })
			c.times(n, func(c *code, i int) { c.op(else_).n(localGet, i%100).n(localSet, (i+3)%100).op(end) })
			return one(function{locals: 100, body: c})
		}},
		{"a table of branches to blocks", func(n int) []byte { return one(function{locals: 64, body: table(n, n, 64)}) }},
		{"a table of branches to few blocks", func(n int) []byte { return one(function{locals: 64, body: table(4, n, 64)}) }},
		{"a table of branches in a loop, as many locals", func(n int) []byte {
			c := append(code{loop, void}, table(n, n, n)...)
			c.op(br, 0, end)
			return one(function{locals: n, body: c})
		}},
		{"many tables of branches", func(n int) []byte {
			var c code
			c.times(n, func(c *code, _ int) { *c = append(*c, table(8, 64, 8)...) })
			return one(function{locals: 8, body: c})
		}},
		{"memory read at many addresses in many blocks", func(n int) []byte {
			var c code
			c.op(block, void)
			c.times(n, func(c *code, i int) {
				c.n(localGet, 0).n(i32Const, i&63).op(i32Add, i32Load, 0, 0, drop)
				c.n(localGet, 0).n(brIf, 0)
			})
			c.op(end)
			return one(function{locals: 1, body: c})
		}},
		{"addresses that are kept over many blocks", func(n int) []byte {
			var c code
			c.op(block, void)
			c.times(n, func(c *code, i int) { c.n(localGet, i).op(i32Load, 0, 0, drop) })
			c.times(n, func(c *code, _ int) { c.n(localGet, 0).n(brIf, 0) })
			c.times(n, func(c *code, i int) { c.n(localGet, i).op(i32Load, 0, 0, drop) })
			c.op(end)
			return one(function{signature: signature{params: repeat(i32, min(n, 1000))}, locals: n, body: c})
		}},
		{"a high stack below many blocks", func(n int) []byte {
			var c code
			c.times(n, func(c *code, _ int) { c.n(localGet, 0).op(i32Eqz) })
			c.times(n, func(c *code, _ int) { c.op(block, void, i32Const, 0).n(brIf, 0).op(end) })
			c.times(n, func(c *code, _ int) { c.op(drop) })
			return one(function{locals: 1, body: c})
		}},
		{"a high stack that is used after many blocks", func(n int) []byte {
			var c code
			c.times(n, func(c *code, _ int) { c.n(localGet, 0).op(i32Eqz) })
			c.times(n, func(c *code, _ int) { c.op(block, void).n(localGet, 0).n(brIf, 0).op(end) })
			c.times(n-1, func(c *code, _ int) { c.op(i32Add) })
			c.op(drop)
			return one(function{signature: signature{params: []byte{i32}}, body: c})
		}},
		{"loops with parameters and results", func(n int) []byte {
			const width = 100
			values := repeat(i32, width)
			c := code{}
			c.times(width, func(c *code, _ int) { c.n(localGet, 0) })
			c.times(n, func(c *code, _ int) { c.n(loop, 0) })
			c.times(n, func(c *code, _ int) { c.n(localGet, 0).n(brIf, 0).op(end) })
			c.times(width, func(c *code, _ int) { c.op(drop) })
			return typed(signature{values, values}, function{signature: signature{params: []byte{i32}}, body: c})
		}},
		{"calls with many results", func(n int) []byte {
			const width = 1000
			m := module{functions: []function{
				{signature: signature{nil, repeat(i32, width)}, body: code{unreachable}},
				{signature: signature{repeat(i32, width), nil}, body: nil},
			}}
			var c code
			c.times(n, func(c *code, _ int) { c.n(call, 2).n(call, 3) })
			m.functions = append(m.functions, function{body: c})
			return m.bytes()
		}},
		{"calls with many globals", func(n int) []byte {
			var c code
			c.times(n, func(c *code, _ int) { c.n(call, 2) })
			return module{globals: n, functions: []function{{}, {body: c}}}.bytes()
		}},
		{"calls of the last of many imports", func(n int) []byte {
			var c code
			c.times(n, func(c *code, _ int) { c.n(call, n-1).op(drop) })
			return module{imports: n, functions: []function{{body: c}}}.bytes()
		}},
		{"fills of memory", func(n int) []byte {
			var c code
			c.times(n, func(c *code, _ int) { c.op(i32Const, 0, i32Const, 0, i32Const, 0, 0xfc, 11, 0) })
			return one(function{body: c})
		}},
		{"copies of memory", func(n int) []byte {
			var c code
			c.times(n, func(c *code, _ int) { c.op(i32Const, 0, i32Const, 0, i32Const, 0, 0xfc, 10, 0, 0) })
			return one(function{body: c})
		}},
		{"one long block", func(n int) []byte { return one(straight(n, localGet, 0, i32Eqz, drop)) }},
		{"one long chain of numbers", func(n int) []byte {
			var c code
			c.n(localGet, 0)
			c.times(n, func(c *code, _ int) { c.op(i32Eqz) })
			c.op(drop)
			return one(function{signature: signature{params: []byte{i32}}, body: c})
		}},
		{"divisions", func(n int) []byte { return one(straight(n, localGet, 0, localGet, 0, i32DivS, drop)) }},
		{"reads of memory", func(n int) []byte { return one(straight(n, localGet, 0, i32Load, 0, 0, localSet, 0)) }},
		{"numbers of 128 bits", func(n int) []byte {
			var c code
			c.op(0xfd, 12).op(repeat(1, 16)...)
			c.times(n, func(c *code, i int) {
				c.op(0xfd, 12).op(byte(i), byte(i>>8), byte(i>>16)).op(repeat(0, 13)...).op(0xfd, 0xae, 0x01)
			})
			c.op(drop)
			return one(function{body: c})
		}},
		{"many functions", func(n int) []byte { return module{functions: make([]function, n)}.bytes() }},
		{"many functions that read memory in loops", func(n int) []byte {
			m := module{}
			for range n {
				m.functions = append(m.functions, function{locals: 4, body: code{
					loop, void, localGet, 0, i32Load, 0, 0, localSet, 1, localGet, 1, brIf, 0, end,
				}})
			}
			return m.bytes()
		}},
		{"functions and types", func(n int) []byte {
			return module{types: make([]signature, n), functions: make([]function, n)}.bytes()
		}},
		{"functions and globals", func(n int) []byte { return module{globals: n, functions: make([]function, n)}.bytes() }},
		{"functions with many locals", func(n int) []byte {
			m := module{functions: make([]function, n)}
			for i := range m.functions {
				m.functions[i] = function{locals: 40_000}
			}
			return m.bytes()
		}},
		{"types with many parameters", func(n int) []byte {
			m := module{types: make([]signature, n)}
			for i := range m.types {
				m.types[i] = signature{repeat(v128, 1000), repeat(v128, 1000)}
			}
			return m.bytes()
		}},
		{"types", func(n int) []byte { return module{types: make([]signature, n)}.bytes() }},
		{"imports", func(n int) []byte { return module{imports: n}.bytes() }},
		{"exports", func(n int) []byte { return module{exports: n}.bytes() }},
		{"globals", func(n int) []byte { return module{globals: n}.bytes() }},
		{"elements", func(n int) []byte { return module{elements: n}.bytes() }},
		{"data segments", func(n int) []byte { return module{data: n}.bytes() }},
		{"names", func(n int) []byte { return module{customs: make([]byte, n)}.bytes() }},
	}
}

// straight is n times the same instructions.
func straight(n int, instructions ...byte) function {
	var c code
	c.times(n, func(c *code, _ int) { c.op(instructions...) })
	return function{locals: 1, body: c}
}

// table is blocks within one another, and a table of n branches to them; each block reads and writes a local.
func table(blocks, n, locals int) code {
	var c code
	c.times(blocks, func(c *code, _ int) { c.op(block, void) })
	c.n(localGet, 0).n(brTable, n-1)
	for i := range n {
		c = uvarint(c, i%blocks)
	}
	c.times(blocks, func(c *code, i int) { c.op(end).n(localGet, i%locals).n(localSet, (i+1)%locals) })
	return c
}

// typed is a module whose type 0 is the one that blocks name.
func typed(s signature, f function) []byte {
	return module{first: &s, functions: []function{f}}.bytes()
}
