package wasmfile

// SectionID is what a section holds.
type SectionID byte

// The section ids of the binary format.
const (
	SectionCustom    SectionID = 0
	SectionType      SectionID = 1
	SectionImport    SectionID = 2
	SectionFunction  SectionID = 3
	SectionTable     SectionID = 4
	SectionMemory    SectionID = 5
	SectionGlobal    SectionID = 6
	SectionExport    SectionID = 7
	SectionStart     SectionID = 8
	SectionElement   SectionID = 9
	SectionCode      SectionID = 10
	SectionData      SectionID = 11
	SectionDataCount SectionID = 12
)

// order is the place of each section id; sections other than custom ones come in this order, each at most once.
var order = [...]int{
	SectionType: 1, SectionImport: 2, SectionFunction: 3, SectionTable: 4, SectionMemory: 5, SectionGlobal: 6, SectionExport: 7,
	SectionStart: 8, SectionElement: 9, SectionDataCount: 10, SectionCode: 11, SectionData: 12,
}

// parser holds what the sections of one file need to know of each other.
type parser struct {
	file *File
	last int // place of the last section in the order
}

func (p *parser) section(r *Reader) {
	s := Section{Start: r.off}
	s.ID = SectionID(r.Byte("section id"))
	if r.err == nil && int(s.ID) >= len(order) {
		r.Fail(s.Start, "unknown section id %d", s.ID)
		return
	}
	size := r.U32("section size")
	s.Body = r.off
	body := r.sub(int(size))
	if r.err != nil {
		return
	}
	s.End = r.off
	if s.ID != SectionCustom {
		if order[s.ID] <= p.last {
			r.Fail(s.Start, "section %d is repeated or out of order", s.ID)
			return
		}
		p.last = order[s.ID]
	}
	p.content(s.ID, body)
	if s.ID != SectionCustom {
		body.end("section")
	}
	if body.err != nil {
		r.err = body.err
		return
	}
	p.file.Sections = append(p.file.Sections, s)
}

func (p *parser) content(id SectionID, r *Reader) {
	switch id {
	case SectionCustom:
		p.custom(r)
	case SectionType:
		p.types(r)
	case SectionImport:
		p.imports(r)
	case SectionFunction:
		p.functions(r)
	case SectionTable:
		p.tables(r)
	case SectionMemory:
		p.memories(r)
	case SectionGlobal:
		p.globalSection(r)
	case SectionExport:
		p.exports(r)
	case SectionStart:
		p.file.HasStart = true
		p.functionIndex(r)
	case SectionElement:
		p.elements(r)
	case SectionCode:
		p.code(r)
	case SectionData:
		p.data(r)
	case SectionDataCount:
		p.file.DataCount = true
		r.U32("number of data segments")
	}
}

// finish checks what no single section can.
func (p *parser) finish(r *Reader) {
	if declared := len(p.file.funcTypes) - p.file.ImportedFuncs; declared != len(p.file.Bodies) {
		r.Fail(r.off, "%d functions are declared, %d have a body", declared, len(p.file.Bodies))
	}
}

func (p *parser) custom(r *Reader) {
	name := r.Name("custom section name")
	start := r.off
	payload := r.Bytes(r.Left(), "custom section")
	if len(p.file.Customs) == maxCustoms {
		r.Fail(start, "more than %d custom sections", maxCustoms)
	}
	if r.err == nil {
		p.file.Customs = append(p.file.Customs, Custom{Name: name, Payload: payload})
	}
}

func (p *parser) types(r *Reader) {
	n := r.Count("types", 3, maxTypes)
	for i := 0; i < n && r.err == nil; i++ {
		start := r.off
		if form := r.Byte("type"); r.err == nil && form != 0x60 {
			r.Fail(start, "type form 0x%02x is not a function type", form)
			return
		}
		t := FuncType{Params: p.valueTypes(r, "parameters", maxParams), Results: p.valueTypes(r, "results", maxResults)}
		p.file.Types = append(p.file.Types, t)
	}
}

func (p *parser) valueTypes(r *Reader, what string, limit int) []ValueType {
	n := r.Count(what, 1, limit)
	if n == 0 {
		return nil
	}
	types := make([]ValueType, n)
	for i := range types {
		types[i] = p.valueType(r)
	}
	return types
}

func (p *parser) valueType(r *Reader) ValueType {
	start := r.off
	t := ValueType(r.Byte("value type"))
	switch t {
	case I32, I64, F32, F64, V128, FuncRef, ExternRef:
	default:
		r.Fail(start, "unknown value type 0x%02x", byte(t))
	}
	return t
}

func (p *parser) imports(r *Reader) {
	n := r.Count("imports", 4, maxImports)
	for i := 0; i < n && r.err == nil; i++ {
		imp := Import{Module: r.Name("import module"), Name: r.Name("import name")}
		start := r.off
		imp.Kind = Kind(r.Byte("import kind"))
		switch imp.Kind {
		case KindFunc:
			index := p.typeIndex(r)
			if r.err == nil {
				imp.Func = &p.file.Types[index]
				p.file.funcTypes = append(p.file.funcTypes, index)
				p.file.ImportedFuncs++
			}
		case KindTable:
			p.refType(r)
			r.Limits()
		case KindMemory:
			r.Limits()
		case KindGlobal:
			p.global(r, true)
		default:
			r.Fail(start, "unknown import kind %d", byte(imp.Kind))
		}
		p.file.Imports = append(p.file.Imports, imp)
	}
}

func (p *parser) typeIndex(r *Reader) uint32 {
	start := r.off
	index := r.U32("type index")
	if r.err == nil && int64(index) >= int64(len(p.file.Types)) {
		r.Fail(start, "type index %d is out of range, there are %d types", index, len(p.file.Types))
	}
	return index
}

func (p *parser) functionIndex(r *Reader) uint32 {
	start := r.off
	index := r.U32("function index")
	if r.err == nil && int64(index) >= int64(len(p.file.funcTypes)) {
		r.Fail(start, "function index %d is out of range, there are %d functions", index, len(p.file.funcTypes))
	}
	return index
}

func (p *parser) functions(r *Reader) {
	n := r.Count("functions", 1, maxFunctions)
	for i := 0; i < n && r.err == nil; i++ {
		p.file.funcTypes = append(p.file.funcTypes, p.typeIndex(r))
	}
}

func (p *parser) refType(r *Reader) {
	start := r.off
	if t := p.valueType(r); r.err == nil && t != FuncRef && t != ExternRef {
		r.Fail(start, "%s is not a reference type", t)
	}
}

// Limits reads the sizes of a memory or of a table.
func (r *Reader) Limits() Limits {
	start := r.off
	flags := r.Byte("limits")
	if r.err == nil && flags > 1 {
		r.Fail(start, "limits flags 0x%02x: shared and 64-bit memories are not supported", flags)
		return Limits{}
	}
	l := Limits{Min: r.U32("minimum"), HasMax: flags == 1}
	if l.HasMax {
		l.Max = r.U32("maximum")
		if r.err == nil && l.Max < l.Min {
			r.Fail(start, "maximum %d is below the minimum %d", l.Max, l.Min)
		}
	}
	return l
}

func (p *parser) tables(r *Reader) {
	n := r.Count("tables", 3, maxTables)
	for i := 0; i < n && r.err == nil; i++ {
		p.refType(r)
		p.file.Tables = append(p.file.Tables, r.Limits())
	}
}

func (p *parser) memories(r *Reader) {
	start := r.off
	n := r.Count("memories", 2, 1)
	for i := 0; i < n && r.err == nil; i++ {
		l := r.Limits()
		if l.Min > PageBytes || l.Max > PageBytes {
			r.Fail(start, "a memory has at most %d pages", PageBytes)
		}
		p.file.Memories = append(p.file.Memories, l)
	}
}

func (p *parser) global(r *Reader, imported bool) {
	g := Global{Type: p.valueType(r), Imported: imported}
	start := r.off
	switch m := r.Byte("mutability"); m {
	case 0:
	case 1:
		g.Mutable = true
	default:
		r.Fail(start, "mutability %d is neither 0 nor 1", m)
	}
	p.file.Globals = append(p.file.Globals, g)
}

func (p *parser) globalSection(r *Reader) {
	n := r.Count("globals", 4, maxGlobals)
	for i := 0; i < n && r.err == nil; i++ {
		p.global(r, false)
		p.constExpr(r)
	}
}

func (p *parser) exports(r *Reader) {
	n := r.Count("exports", 3, maxExports)
	seen := make(map[string]struct{}, min(n, 1024))
	for i := 0; i < n && r.err == nil; i++ {
		start := r.off
		e := Export{Name: r.Name("export name")}
		if _, twice := seen[e.Name]; twice {
			r.Fail(start, "export %q is there twice", e.Name)
			return
		}
		seen[e.Name] = struct{}{}
		kind := r.off
		e.Kind = Kind(r.Byte("export kind"))
		switch e.Kind {
		case KindFunc:
			if index := p.functionIndex(r); r.err == nil {
				e.Func = &p.file.Types[p.file.funcTypes[index]]
			}
		case KindTable, KindMemory, KindGlobal:
			r.U32("export index")
		default:
			r.Fail(kind, "unknown export kind %d", byte(e.Kind))
		}
		p.file.Exports = append(p.file.Exports, e)
	}
}
