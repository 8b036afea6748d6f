package wasmfile

// The section ids of the binary format.
const (
	idCustom    = 0
	idType      = 1
	idImport    = 2
	idFunction  = 3
	idTable     = 4
	idMemory    = 5
	idGlobal    = 6
	idExport    = 7
	idStart     = 8
	idElement   = 9
	idCode      = 10
	idData      = 11
	idDataCount = 12
)

// order is the place of each section id; sections other than custom ones come
// in this order, each at most once.
var order = [...]int{
	idType: 1, idImport: 2, idFunction: 3, idTable: 4, idMemory: 5, idGlobal: 6, idExport: 7,
	idStart: 8, idElement: 9, idDataCount: 10, idCode: 11, idData: 12,
}

// table is the place of a declared table's limits, so that they can be
// rewritten.
type table struct {
	limits     Limits
	start, end int // of the encoded limits in the file
}

// body is the place of a function's body in the file: its locals from start,
// its instructions from code to end.
type body struct{ start, code, end int }

// parser holds what the sections of one file need to know of each other.
type parser struct {
	file        *File
	last        int // place of the last section in the order
	importedFns int
}

func (p *parser) section(r *reader) {
	s := section{start: r.off}
	s.id = r.byte("section id")
	if r.err == nil && int(s.id) >= len(order) {
		r.fail(s.start, "unknown section id %d", s.id)
		return
	}
	size := r.u32("section size")
	s.body = r.off
	body := r.sub(int(size))
	if r.err != nil {
		return
	}
	s.end = r.off
	if s.id != idCustom {
		if order[s.id] <= p.last {
			r.fail(s.start, "section %d is repeated or out of order", s.id)
			return
		}
		p.last = order[s.id]
	}
	p.content(s.id, body)
	if s.id != idCustom {
		body.end("section")
	}
	if body.err != nil {
		r.err = body.err
		return
	}
	p.file.sections = append(p.file.sections, s)
}

func (p *parser) content(id byte, r *reader) {
	switch id {
	case idCustom:
		p.custom(r)
	case idType:
		p.types(r)
	case idImport:
		p.imports(r)
	case idFunction:
		p.functions(r)
	case idTable:
		p.tables(r)
	case idMemory:
		p.memories(r)
	case idGlobal:
		p.globalSection(r)
	case idExport:
		p.exports(r)
	case idStart:
		p.file.HasStart = true
		p.functionIndex(r)
	case idElement:
		p.elements(r)
	case idCode:
		p.code(r)
	case idData:
		p.data(r)
	case idDataCount:
		p.file.dataCount = true
		r.u32("number of data segments")
	}
}

// finish checks what no single section can.
func (p *parser) finish(r *reader) {
	if declared := len(p.file.funcTypes) - p.importedFns; declared != len(p.file.bodies) {
		r.fail(r.off, "%d functions are declared, %d have a body", declared, len(p.file.bodies))
	}
}

func (p *parser) custom(r *reader) {
	name := r.name("custom section name")
	start := r.off
	payload := r.bytes(r.left(), "custom section")
	if len(p.file.Customs) == maxCustoms {
		r.fail(start, "more than %d custom sections", maxCustoms)
	}
	if r.err == nil {
		p.file.Customs = append(p.file.Customs, Custom{Name: name, Payload: payload})
	}
}

func (p *parser) types(r *reader) {
	n := r.count("types", 3, maxTypes)
	for i := 0; i < n && r.err == nil; i++ {
		start := r.off
		if form := r.byte("type"); r.err == nil && form != 0x60 {
			r.fail(start, "type form 0x%02x is not a function type", form)
			return
		}
		t := FuncType{Params: p.valueTypes(r, "parameters", maxParams), Results: p.valueTypes(r, "results", maxResults)}
		p.file.types = append(p.file.types, t)
	}
}

func (p *parser) valueTypes(r *reader, what string, limit int) []ValueType {
	n := r.count(what, 1, limit)
	if n == 0 {
		return nil
	}
	types := make([]ValueType, n)
	for i := range types {
		types[i] = p.valueType(r)
	}
	return types
}

func (p *parser) valueType(r *reader) ValueType {
	start := r.off
	t := ValueType(r.byte("value type"))
	switch t {
	case I32, I64, F32, F64, V128, FuncRef, ExternRef:
	default:
		r.fail(start, "unknown value type 0x%02x", byte(t))
	}
	return t
}

func (p *parser) imports(r *reader) {
	n := r.count("imports", 4, maxImports)
	for i := 0; i < n && r.err == nil; i++ {
		imp := Import{Module: r.name("import module"), Name: r.name("import name")}
		start := r.off
		imp.Kind = Kind(r.byte("import kind"))
		switch imp.Kind {
		case KindFunc:
			index := p.typeIndex(r)
			if r.err == nil {
				imp.Func = &p.file.types[index]
				p.file.funcTypes = append(p.file.funcTypes, index)
				p.importedFns++
			}
		case KindTable:
			p.refType(r)
			p.limits(r)
		case KindMemory:
			p.limits(r)
		case KindGlobal:
			p.globalType(r)
			p.file.globals++
		default:
			r.fail(start, "unknown import kind %d", byte(imp.Kind))
		}
		p.file.Imports = append(p.file.Imports, imp)
	}
}

func (p *parser) typeIndex(r *reader) uint32 {
	start := r.off
	index := r.u32("type index")
	if r.err == nil && int64(index) >= int64(len(p.file.types)) {
		r.fail(start, "type index %d is out of range, there are %d types", index, len(p.file.types))
	}
	return index
}

func (p *parser) functionIndex(r *reader) uint32 {
	start := r.off
	index := r.u32("function index")
	if r.err == nil && int64(index) >= int64(len(p.file.funcTypes)) {
		r.fail(start, "function index %d is out of range, there are %d functions", index, len(p.file.funcTypes))
	}
	return index
}

func (p *parser) functions(r *reader) {
	n := r.count("functions", 1, maxFunctions)
	for i := 0; i < n && r.err == nil; i++ {
		p.file.funcTypes = append(p.file.funcTypes, p.typeIndex(r))
	}
}

func (p *parser) refType(r *reader) {
	start := r.off
	if t := p.valueType(r); r.err == nil && t != FuncRef && t != ExternRef {
		r.fail(start, "%s is not a reference type", t)
	}
}

func (p *parser) limits(r *reader) Limits {
	start := r.off
	flags := r.byte("limits")
	if r.err == nil && flags > 1 {
		r.fail(start, "limits flags 0x%02x: shared and 64-bit memories are not supported", flags)
		return Limits{}
	}
	l := Limits{Min: r.u32("minimum"), HasMax: flags == 1}
	if l.HasMax {
		l.Max = r.u32("maximum")
		if r.err == nil && l.Max < l.Min {
			r.fail(start, "maximum %d is below the minimum %d", l.Max, l.Min)
		}
	}
	return l
}

func (p *parser) tables(r *reader) {
	n := r.count("tables", 3, maxTables)
	for i := 0; i < n && r.err == nil; i++ {
		p.refType(r)
		start := r.off
		l := p.limits(r)
		p.file.Tables = append(p.file.Tables, l)
		p.file.tables = append(p.file.tables, table{limits: l, start: start, end: r.off})
	}
}

func (p *parser) memories(r *reader) {
	start := r.off
	n := r.count("memories", 2, 1)
	for i := 0; i < n && r.err == nil; i++ {
		l := p.limits(r)
		if l.Min > PageBytes || l.Max > PageBytes {
			r.fail(start, "a memory has at most %d pages", PageBytes)
		}
		p.file.Memories = append(p.file.Memories, l)
	}
}

func (p *parser) globalType(r *reader) {
	p.valueType(r)
	start := r.off
	if m := r.byte("mutability"); m > 1 {
		r.fail(start, "mutability %d is neither 0 nor 1", m)
	}
}

func (p *parser) globalSection(r *reader) {
	n := r.count("globals", 4, maxGlobals)
	for i := 0; i < n && r.err == nil; i++ {
		p.globalType(r)
		p.constExpr(r)
		p.file.globals++
	}
}

func (p *parser) exports(r *reader) {
	n := r.count("exports", 3, maxExports)
	seen := make(map[string]struct{}, min(n, 1024))
	for i := 0; i < n && r.err == nil; i++ {
		start := r.off
		e := Export{Name: r.name("export name")}
		if _, twice := seen[e.Name]; twice {
			r.fail(start, "export %q is there twice", e.Name)
			return
		}
		seen[e.Name] = struct{}{}
		kind := r.off
		e.Kind = Kind(r.byte("export kind"))
		switch e.Kind {
		case KindFunc:
			if index := p.functionIndex(r); r.err == nil {
				e.Func = &p.file.types[p.file.funcTypes[index]]
			}
		case KindTable, KindMemory, KindGlobal:
			r.u32("export index")
		default:
			r.fail(kind, "unknown export kind %d", byte(e.Kind))
		}
		p.file.Exports = append(p.file.Exports, e)
	}
}
