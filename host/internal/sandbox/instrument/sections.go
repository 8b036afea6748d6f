package instrument

import (
	"encoding/binary"
	"fmt"
	"strconv"

	"github.com/shadowcourt/shadowcourt/host/internal/sandbox/wasmfile"
)

const headerBytes = 8

// inOrder are the sections in the order of the binary format.
var inOrder = [...]wasmfile.SectionID{
	wasmfile.SectionType, wasmfile.SectionImport, wasmfile.SectionFunction, wasmfile.SectionTable,
	wasmfile.SectionMemory, wasmfile.SectionGlobal, wasmfile.SectionExport, wasmfile.SectionStart,
	wasmfile.SectionElement, wasmfile.SectionDataCount, wasmfile.SectionCode, wasmfile.SectionData,
}

// writer writes the sections of one module again.
type writer struct {
	file     *wasmfile.File
	options  Options
	program  *Program
	sections [wasmfile.SectionDataCount + 1]wasmfile.Section // zero: the file has none
	wasm     []byte
	err      error

	hasMemory       bool
	payload         []byte          // of the program's segments
	data            []byte          // the data section
	passiveData     map[uint32]bool // segments that something is left of until they are dropped
	passiveElements map[uint32]bool
}

// fail notes a fault at an offset, if there was none before.
func (w *writer) fail(offset int, format string, args ...any) {
	w.check(&wasmfile.Error{Offset: offset, Msg: fmt.Sprintf(format, args...)})
}

// check notes the fault of a reader. What was parsed before has none.
func (w *writer) check(err *wasmfile.Error) {
	if w.err == nil && err != nil {
		w.err = err
	}
}

func (w *writer) section(id wasmfile.SectionID) {
	s := w.sections[id]
	switch id {
	case wasmfile.SectionType:
		w.types(s)
	case wasmfile.SectionImport:
		w.imports(s)
	case wasmfile.SectionTable:
		w.tables(s)
	case wasmfile.SectionGlobal:
		w.globals(s)
	case wasmfile.SectionExport:
		w.exports(s)
	case wasmfile.SectionStart: // exports has it
	case wasmfile.SectionElement:
		w.elements(s)
	case wasmfile.SectionCode:
		w.code(s)
	case wasmfile.SectionData:
		w.wasm = append(w.wasm, w.data...)
	default:
		w.wasm = append(w.wasm, w.file.Bytes(s.Start, s.End)...)
	}
}

// copier copies a part of the file, and puts other bytes in places.
type copier struct {
	source *wasmfile.File
	out    []byte
	from   int
}

// replace copies up to start, and goes on at end.
func (c *copier) replace(start, end int, with uint64) {
	c.upTo(start)
	c.out = binary.AppendUvarint(c.out, with)
	c.from = end
}

func (c *copier) upTo(end int) {
	c.out = append(c.out, c.source.Bytes(c.from, end)...)
	c.from = end
}

// list begins a section that is a list, or an empty one, to which entries are added at the end. The count is the file's.
func (w *writer) list(s wasmfile.Section) (c copier, r *wasmfile.Reader, count int) {
	if s.End == 0 {
		return copier{source: w.file}, w.file.Reader(0, 0), 0
	}
	r = w.file.Reader(s.Body, s.End)
	count = int(r.U32("number of entries"))
	return copier{source: w.file, from: r.Offset()}, r, count
}

// write writes a list with added entries behind what was copied.
func (w *writer) write(id wasmfile.SectionID, count int, entries, added []byte) {
	if count == 0 && len(entries) == 0 {
		return
	}
	w.wasm = appendSection(w.wasm, id, binary.AppendUvarint(nil, uint64(count)), entries, added)
}

func appendSection(out []byte, id wasmfile.SectionID, parts ...[]byte) []byte {
	size := 0
	for _, p := range parts {
		size += len(p)
	}
	out = binary.AppendUvarint(append(out, byte(id)), uint64(size))
	for _, p := range parts {
		out = append(out, p...)
	}
	return out
}

func appendName(out []byte, name string) []byte {
	return append(binary.AppendUvarint(out, uint64(len(name))), name...)
}

// function is the index of a function in the rewritten module. The import that is added comes after those of the file; what would name the
// functions that are added is rejected.
func (w *writer) function(offset int, index uint32) uint64 {
	if count := w.file.ImportedFuncs + len(w.file.Bodies); int64(index) >= int64(count) {
		w.fail(offset, "function index %d is out of range, there are %d functions", index, count)
	}
	if w.options.Fuel && int64(index) >= int64(w.file.ImportedFuncs) {
		return uint64(index) + 1
	}
	return uint64(index)
}

// types adds that of the import, () -> ().
func (w *writer) types(s wasmfile.Section) {
	c, _, count := w.list(s)
	c.upTo(s.End)
	var added []byte
	if w.options.Fuel {
		added = []byte{0x60, 0, 0}
		count++
	}
	w.write(wasmfile.SectionType, count, c.out, added)
}

func (w *writer) imports(s wasmfile.Section) {
	c, _, count := w.list(s)
	c.upTo(s.End)
	var added []byte
	if w.options.Fuel {
		added = appendName(appendName(nil, YieldModule), YieldName)
		added = binary.AppendUvarint(append(added, byte(wasmfile.KindFunc)), uint64(len(w.file.Types)))
		count++
	}
	w.write(wasmfile.SectionImport, count, c.out, added)
}

// imported looks at what comes from elsewhere.
func (w *writer) imported() {
	w.hasMemory = len(w.file.Memories) > 0
	for _, imp := range w.file.Imports {
		if imp.Module == Reserved {
			w.fail(w.sections[wasmfile.SectionImport].Start, "import %q.%q is the host's own", imp.Module, imp.Name)
		}
		if imp.Kind != wasmfile.KindFunc {
			w.retire(fmt.Sprintf("imports a %s", imp.Kind))
			w.hasMemory = w.hasMemory || imp.Kind == wasmfile.KindMemory
		}
	}
}

// tables gives every table a maximum. What they may grow by, together, is what the declared entries leave of the most, in equal shares: so
// that many tables have no more entries than one.
func (w *writer) tables(s wasmfile.Section) {
	declared := uint64(0)
	for _, l := range w.file.Tables {
		declared += uint64(l.Min)
	}
	most := max(declared, uint64(w.options.MaxTableEntries))
	c, r, count := w.list(s)
	for range count {
		r.Skip(1, "type")
		start := r.Offset()
		l := r.Limits()
		limit := l.Min + uint32((most-declared)/uint64(count))
		if l.HasMax {
			limit = min(limit, l.Max)
		}
		c.upTo(start)
		c.out = binary.AppendUvarint(append(c.out, 1), uint64(l.Min))
		c.out = binary.AppendUvarint(c.out, uint64(limit))
		c.from = r.Offset()
	}
	w.check(r.Err())
	w.write(wasmfile.SectionTable, count, c.out, nil)
}

// globals adds the fuel, and room for an operand, after those of the file, so that no index changes.
func (w *writer) globals(s wasmfile.Section) {
	c, r, count := w.list(s)
	for range count {
		r.Skip(2, "type of global")
		w.expression(&c, r)
	}
	w.check(r.Err())
	c.upTo(r.Offset())
	var added []byte
	if w.options.Fuel {
		added = append(added, byte(wasmfile.I64), 1, byte(wasmfile.OpI64Const), 0, byte(wasmfile.OpEnd))
		added = append(added, byte(wasmfile.I32), 1, byte(wasmfile.OpI32Const), 0, byte(wasmfile.OpEnd))
		count += 2
	}
	w.write(wasmfile.SectionGlobal, count, c.out, added)
}

// expression copies a constant expression.
func (w *writer) expression(c *copier, r *wasmfile.Reader) {
	r.ConstExpr(func(in wasmfile.Instruction) {
		switch in.Op {
		case wasmfile.OpRefFunc:
			c.replace(in.Operand, in.End, w.function(in.Operand, in.Index))
		case wasmfile.OpGlobalGet:
			w.globalIndex(in.Operand, in.Index)
		}
	})
}

// globalIndex rejects what would name a global that is added.
func (w *writer) globalIndex(offset int, index uint32) {
	if int64(index) >= int64(len(w.file.Globals)) {
		w.fail(offset, "global index %d is out of range, there are %d globals", index, len(w.file.Globals))
	}
}

// exports shifts functions, and adds what the host asks for.
func (w *writer) exports(s wasmfile.Section) {
	c, r, count := w.list(s)
	for range count {
		start := r.Offset()
		if name := r.Name("export name"); isReserved(name) {
			w.fail(start, "export %q is the host's own", name)
		}
		kind := wasmfile.Kind(r.Byte("export kind"))
		at := r.Offset()
		index := r.U32("export index")
		switch kind {
		case wasmfile.KindFunc:
			c.replace(at, r.Offset(), w.function(at, index))
		case wasmfile.KindGlobal:
			w.globalIndex(at, index)
		}
	}
	w.check(r.Err())
	c.upTo(r.Offset())
	var added []byte
	add := func(name string, kind wasmfile.Kind, index uint64) {
		added = binary.AppendUvarint(append(appendName(added, name), byte(kind)), index)
		count++
	}
	for _, g := range w.savedGlobals() {
		name := exportGlobal + strconv.Itoa(g)
		add(name, wasmfile.KindGlobal, uint64(g))
		w.program.Globals = append(w.program.Globals, Global{Export: name, Type: w.file.Globals[g].Type})
	}
	if w.options.Fuel {
		w.program.Fuel = exportFuel
		add(exportFuel, wasmfile.KindGlobal, w.fuel())
	}
	if w.file.HasStart {
		w.program.Start = exportStart
		add(exportStart, wasmfile.KindFunc, w.function(w.sections[wasmfile.SectionStart].Body, w.startFunction()))
	}
	w.write(wasmfile.SectionExport, count, c.out, added)
}

// The globals that are added.
func (w *writer) fuel() uint64    { return uint64(len(w.file.Globals)) }
func (w *writer) operand() uint64 { return w.fuel() + 1 }

// savedGlobals are the indices of the mutable globals, none if there is one that cannot be read and written from outside.
func (w *writer) savedGlobals() []int {
	var saved []int
	for i, g := range w.file.Globals {
		if !g.Mutable || g.Imported {
			continue
		}
		if g.Type == wasmfile.V128 || g.Type == wasmfile.FuncRef || g.Type == wasmfile.ExternRef {
			w.retire(fmt.Sprintf("has a mutable global of type %s", g.Type))
			return nil
		}
		if len(saved) == maxSavedGlobals {
			w.retire(fmt.Sprintf("has more than %d mutable globals", maxSavedGlobals))
			return nil
		}
		saved = append(saved, i)
	}
	return saved
}

// startFunction takes no parameters and gives nothing: the compiler, which would reject any other, does not see that it is one.
func (w *writer) startFunction() uint32 {
	s := w.sections[wasmfile.SectionStart]
	index := w.file.Reader(s.Body, s.End).U32("function index")
	if t := w.file.FuncType(index); !t.Is(nil, nil) {
		w.fail(s.Body, "the start function is %s, not () -> ()", t)
	}
	return index
}

// elements shifts the functions of the element segments.
func (w *writer) elements(s wasmfile.Section) {
	c, r, count := w.list(s)
	kept := uint64(0)
	for i := range count {
		flags := r.U32("element segment flags")
		active, explicit, expressions := flags&1 == 0, flags&2 != 0, flags&4 != 0
		if active {
			if explicit {
				r.U32("table index")
			}
			w.expression(&c, r)
		}
		if explicit || !active {
			r.Skip(1, "kind")
		}
		n := r.U32("number of elements")
		if !active { // each instance has a copy of these
			if kept += uint64(n); kept > uint64(w.options.MaxTableEntries) {
				w.fail(r.Offset(), "element segments that are not active hold more than %d entries", w.options.MaxTableEntries)
				return
			}
		}
		if !active && !explicit && n > 0 {
			w.passiveElements[uint32(i)] = true
		}
		for ; n > 0 && r.Err() == nil; n-- {
			if expressions {
				w.expression(&c, r)
				continue
			}
			at := r.Offset()
			index := r.U32("function index")
			c.replace(at, r.Offset(), w.function(at, index))
		}
	}
	w.check(r.Err())
	c.upTo(r.Offset())
	w.write(wasmfile.SectionElement, count, c.out, nil)
}

// segments takes the active data segments out. Where code may name segments by their index, an empty passive one stays in the place of
// each: nothing can be had from either once the instance is there.
//
// An offset that is no constant comes from an imported global. Such a module keeps its data as it is.
func (w *writer) segments() {
	s := w.sections[wasmfile.SectionData]
	_, r, count := w.list(s)
	w.payload = make([]byte, 0, s.End-s.Body)
	var kept []byte
	n := 0
	for i := range count {
		start := r.Offset()
		segment := r.DataSegment()
		switch {
		case r.Err() != nil:
			w.check(r.Err())
			return
		case segment.Active && !segment.Constant:
			w.retire("has a data segment whose place is not constant")
			w.program.Segments = nil
			w.data = w.file.Bytes(s.Start, s.End)
			return
		case !segment.Active:
			w.passiveData[uint32(i)] = len(segment.Payload) > 0
			kept = append(kept, w.file.Bytes(start, r.Offset())...)
			n++
			continue
		case w.file.DataCount:
			kept = append(kept, 1, 0) // passive, no bytes
			n++
		}
		w.takeOut(start, segment)
	}
	if n > 0 {
		w.data = appendSection(nil, wasmfile.SectionData, binary.AppendUvarint(nil, uint64(n)), kept)
	}
}

// takeOut hands a segment to the host, which writes what the compiler would reject if it saw it.
func (w *writer) takeOut(start int, segment wasmfile.DataSegment) {
	if segment.Memory != 0 || !w.hasMemory {
		w.fail(start, "data segment for memory %d, which is not there", segment.Memory)
		return
	}
	from := len(w.payload)
	w.payload = append(w.payload, segment.Payload...)
	w.program.Segments = append(w.program.Segments, Segment{Offset: segment.Offset, Data: w.payload[from:len(w.payload):len(w.payload)]})
}
