package wasmfile

// elements, code and data are measured: their lists must fit the bytes that
// carry them, what they hold is the compiler's to validate.

func (p *parser) elements(r *reader) {
	n := r.count("element segments", 3, maxElements)
	for i := 0; i < n && r.err == nil; i++ {
		start := r.off
		flags := r.u32("element segment flags")
		if flags > 7 {
			r.fail(start, "element segment flags %d are unknown", flags)
			return
		}
		active, explicit, expressions := flags&1 == 0, flags&2 != 0, flags&4 != 0
		if active {
			if explicit {
				r.u32("table index")
			}
			p.constExpr(r)
		}
		switch {
		case expressions && (explicit || !active):
			p.refType(r)
		case explicit || !active:
			r.byte("element kind")
		}
		p.elementItems(r, expressions)
	}
}

func (p *parser) elementItems(r *reader, expressions bool) {
	n := r.count("elements", 1, maxElements)
	for i := 0; i < n && r.err == nil; i++ {
		if expressions {
			p.constExpr(r)
		} else {
			p.functionIndex(r)
		}
	}
}

func (p *parser) code(r *reader) {
	n := r.count("function bodies", 3, maxFunctions)
	total := 0
	for i := 0; i < n && r.err == nil; i++ {
		start := r.off
		size := r.u32("body size")
		if size > maxFunctionBytes {
			r.fail(start, "function body %d has %d bytes, more than the limit of %d", i, size, maxFunctionBytes)
			return
		}
		b := body{start: r.off}
		code := r.sub(int(size))
		total += p.locals(code)
		b.code, b.end = code.off, r.off
		p.file.bodies = append(p.file.bodies, b)
		if code.err != nil {
			r.err = code.err
		} else if total > maxModuleLocals {
			r.fail(start, "the functions have more than %d locals", maxModuleLocals)
		}
	}
}

// locals counts the locals of a body. A declaration of a few bytes may ask
// for four thousand millions of them.
func (p *parser) locals(r *reader) int {
	groups := r.count("groups of locals", 2, maxLocals)
	total := 0
	for i := 0; i < groups && r.err == nil; i++ {
		start := r.off
		n := r.u32("number of locals")
		p.valueType(r)
		if uint64(total)+uint64(n) > maxLocals {
			r.fail(start, "more than %d locals in a function", maxLocals)
			return 0
		}
		total += int(n)
	}
	return total
}

func (p *parser) data(r *reader) {
	n := r.count("data segments", 2, maxDataSegments)
	for i := 0; i < n && r.err == nil; i++ {
		start := r.off
		flags := r.u32("data segment flags")
		if flags > 2 {
			r.fail(start, "data segment flags %d are unknown", flags)
			return
		}
		if flags == 2 {
			r.u32("memory index")
		}
		if flags != 1 {
			p.constExpr(r)
		}
		size := r.u32("data segment size")
		r.skip(int(size), "data segment")
	}
}

// constExpr passes over a constant expression and its end.
func (p *parser) constExpr(r *reader) {
	for r.err == nil {
		start := r.off
		switch op := r.byte("constant expression"); op {
		case 0x0b: // end
			return
		case 0x41: // i32.const
			r.skipLEB(5, "i32 constant")
		case 0x42: // i64.const
			r.skipLEB(10, "i64 constant")
		case 0x43: // f32.const
			r.skip(4, "f32 constant")
		case 0x44: // f64.const
			r.skip(8, "f64 constant")
		case 0x23: // global.get
			r.u32("global index")
		case 0xd0: // ref.null
			p.refType(r)
		case 0xd2: // ref.func
			r.u32("function index")
		case 0xfd: // v128.const
			if sub := r.u32("vector instruction"); r.err == nil && sub != 12 {
				r.fail(start, "vector instruction %d is not constant", sub)
			}
			r.skip(16, "v128 constant")
		default:
			r.fail(start, "instruction 0x%02x is not constant", op)
		}
	}
}
