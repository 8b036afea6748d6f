package wasmfile

// elements, code and data are measured: their lists must fit the bytes that carry them, what they hold is the compiler's to validate.

func (p *parser) elements(r *Reader) {
	n := r.Count("element segments", 3, maxElements)
	for i := 0; i < n && r.err == nil; i++ {
		start := r.off
		flags := r.U32("element segment flags")
		if flags > 7 {
			r.Fail(start, "element segment flags %d are unknown", flags)
			return
		}
		active, explicit, expressions := flags&1 == 0, flags&2 != 0, flags&4 != 0
		if active {
			if explicit {
				r.U32("table index")
			}
			p.constExpr(r)
		}
		switch {
		case expressions && (explicit || !active):
			p.refType(r)
		case explicit || !active:
			r.Byte("element kind")
		}
		p.elementItems(r, expressions)
	}
}

func (p *parser) elementItems(r *Reader, expressions bool) {
	n := r.Count("elements", 1, maxElements)
	p.file.Elements += 1 + n
	for i := 0; i < n && r.err == nil; i++ {
		if expressions {
			p.constExpr(r)
		} else {
			p.functionIndex(r)
		}
	}
}

func (p *parser) code(r *Reader) {
	n := r.Count("function bodies", 3, maxFunctions)
	total := 0
	for i := 0; i < n && r.err == nil; i++ {
		start := r.off
		size := r.U32("body size")
		if size > maxFunctionBytes {
			r.Fail(start, "function body %d has %d bytes, more than the limit of %d", i, size, maxFunctionBytes)
			return
		}
		b := Body{Start: r.off}
		code := r.sub(int(size))
		b.Locals = p.locals(code)
		total += b.Locals
		b.Code, b.End = code.off, r.off
		p.file.Bodies = append(p.file.Bodies, b)
		if code.err != nil {
			r.err = code.err
		} else if total > maxModuleLocals {
			r.Fail(start, "the functions have more than %d locals", maxModuleLocals)
		}
	}
}

// locals counts the locals of a body. A declaration of a few bytes may ask for four thousand millions of them.
func (p *parser) locals(r *Reader) int {
	groups := r.Count("groups of locals", 2, maxLocals)
	total := 0
	for i := 0; i < groups && r.err == nil; i++ {
		start := r.off
		n := r.U32("number of locals")
		p.valueType(r)
		if uint64(total)+uint64(n) > maxLocals {
			r.Fail(start, "more than %d locals in a function", maxLocals)
			return 0
		}
		total += int(n)
	}
	return total
}

func (p *parser) data(r *Reader) {
	n := r.Count("data segments", 2, maxDataSegments)
	p.file.DataSegments = n
	for i := 0; i < n && r.err == nil; i++ {
		start := r.off
		flags := r.U32("data segment flags")
		if flags > 2 {
			r.Fail(start, "data segment flags %d are unknown", flags)
			return
		}
		if flags == 2 {
			r.U32("memory index")
		}
		if flags != 1 {
			p.constExpr(r)
		}
		size := r.U32("data segment size")
		r.Skip(int(size), "data segment")
	}
}

// constExpr passes over a constant expression and its end.
func (p *parser) constExpr(r *Reader) { r.ConstExpr(nil) }

// DataSegment is a piece of data. An active one goes to memory when the module is instantiated, at Offset if that is a constant.
type DataSegment struct {
	Active, Constant bool
	Memory, Offset   uint32
	Payload          []byte // a view of the file
}

// DataSegment reads one entry of the data section.
func (r *Reader) DataSegment() DataSegment {
	flags := r.U32("data segment flags")
	s := DataSegment{Active: flags != 1}
	if flags == 2 {
		s.Memory = r.U32("memory index")
	}
	if s.Active {
		s.Offset, s.Constant = r.constantOffset()
	}
	s.Payload = r.Bytes(int(r.U32("data segment size")), "data segment")
	return s
}

func (r *Reader) constantOffset() (offset uint32, constant bool) {
	start, instructions := r.off, 0
	r.ConstExpr(func(Instruction) { instructions++ })
	if r.err != nil || instructions != 1 || r.b[start] != byte(OpI32Const) {
		return 0, false
	}
	value, n := signed32(r.b[start+1 : r.off-1])
	return uint32(value), n == r.off-start-2
}

// signed32 reads a signed LEB128 number, and gives the bytes it took, 0 if it is cut off or does not fit.
func signed32(b []byte) (value int32, n int) {
	var v int64
	for i, c := range b[:min(len(b), 5)] {
		v |= int64(c&0x7f) << (7 * i)
		if c < 0x80 {
			if c&0x40 != 0 {
				v |= -1 << (7 * (i + 1))
			}
			if v != int64(int32(v)) {
				return 0, 0
			}
			return int32(v), i + 1
		}
	}
	return 0, 0
}
