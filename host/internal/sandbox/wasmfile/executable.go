package wasmfile

import "encoding/binary"

// Executable gives the module as it is compiled. It means the same, but:
//
//   - Custom sections are gone, whose names and debug information a compiler
//     would parse.
//   - The maximum of every table is lowered to maxTableEntries, because
//     table.grow is otherwise bounded by nothing. Growing may fail at any time.
//   - The module can be interrupted wherever it can spend time. The compiler
//     asks whether a call has to end at the head of each loop only: functions
//     that call each other in a tree, or move memory over and over, would run
//     for hours, and block the garbage collector and with it the process.
//   - Data segments that are neighbours are one.
//
// The error is an *Error: an instruction that is newer than version 2 of
// WebAssembly, or cut off.
func (f *File) Executable(maxTableEntries uint32) ([]byte, error) {
	out := append(make([]byte, 0, len(f.wasm)+len(f.wasm)/4), header[:]...)
	interruptible := len(f.Bodies) == 0
	for _, s := range f.Sections {
		if s.ID == SectionCustom {
			continue
		}
		if !interruptible && order[s.ID] > order[SectionGlobal] {
			out = f.appendGlobals(out, nil)
			interruptible = true
		}
		var err *Error
		switch {
		case s.ID == SectionTable:
			out = f.appendTables(out, s, maxTableEntries)
		case s.ID == SectionGlobal && !interruptible:
			out = f.appendGlobals(out, f.wasm[s.Body:s.End])
			interruptible = true
		case s.ID == SectionData && !f.DataCount:
			out = f.appendData(out, s)
		case s.ID == SectionCode:
			out, err = f.appendCode(out)
		default:
			out = append(out, f.wasm[s.Start:s.End]...)
		}
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (f *File) appendTables(out []byte, s Section, maxEntries uint32) []byte {
	var body []byte
	from := s.Body
	for _, t := range f.tables {
		body = append(body, f.wasm[from:t.start]...)
		limit := max(t.limits.Min, maxEntries)
		if t.limits.HasMax {
			limit = min(limit, t.limits.Max)
		}
		body = append(body, 1)
		body = binary.AppendUvarint(body, uint64(t.limits.Min))
		body = binary.AppendUvarint(body, uint64(limit))
		from = t.end
	}
	body = append(body, f.wasm[from:s.End]...)
	return appendSection(out, SectionTable, body)
}

// appendGlobals adds two globals after those of the module, so that no index
// changes: how much work was done since the last question, and room for an
// operand.
func (f *File) appendGlobals(out, section []byte) []byte {
	declared := 0
	if section != nil {
		r := &Reader{b: section}
		declared = int(r.U32("number of globals")) // parsed before
		section = section[r.off:]
	}
	body := binary.AppendUvarint(nil, uint64(declared)+2)
	body = append(body, section...)
	for range 2 {
		body = append(body, byte(I32), 1, 0x41, 0, 0x0b) // mutable, i32.const 0, end
	}
	return appendSection(out, SectionGlobal, body)
}

// workBeforeQuestion is how much work is done before the compiler's question,
// which costs about 50 ns, is asked: calls, and workUnitBytes that are moved.
const (
	workBeforeQuestion = 256
	workUnitShift      = 12 // 4 KiB
)

// appendCode puts the count of work at the start of each function, and before
// each instruction that moves memory in bulk.
func (f *File) appendCode(out []byte) ([]byte, *Error) {
	work, operand := uint64(len(f.Globals)), uint64(len(f.Globals))+1
	entry := ask(addWork(nil, work, nil), work)
	length := append(global(nil, globalGet, operand), 0x41, workUnitShift, 0x76) // i32.shr_u
	move := ask(addWork(global(nil, globalSet, operand), work, append(length, 0x6a)), work)
	move = global(move, globalGet, operand)

	code := binary.AppendUvarint(make([]byte, 0, len(f.wasm)), uint64(len(f.Bodies)))
	var body []byte
	for _, b := range f.Bodies {
		body = append(append(body[:0], f.wasm[b.Start:b.Code]...), entry...)
		r := &Reader{b: f.wasm[:b.End], off: b.Code}
		from := b.Code
		for r.Left() > 0 {
			at := r.off
			if r.Instruction().Op.movesInBulk() {
				body = append(append(body, f.wasm[from:at]...), move...)
				from = at
			}
		}
		if r.err != nil {
			return nil, r.err
		}
		body = append(body, f.wasm[from:b.End]...)
		code = binary.AppendUvarint(code, uint64(len(body)))
		code = append(code, body...)
	}
	return appendSection(out, SectionCode, code), nil
}

const (
	globalGet = 0x23
	globalSet = 0x24
)

func global(code []byte, op byte, index uint64) []byte {
	return binary.AppendUvarint(append(code, op), index)
}

// addWork adds one unit, and what more adds to the number on the stack.
func addWork(code []byte, work uint64, more []byte) []byte {
	code = append(global(code, globalGet, work), 0x41, 1, 0x6a) // i32.const 1, i32.add
	code = append(code, more...)
	return global(code, globalSet, work)
}

// ask puts the compiler's question, the head of an empty loop, behind enough
// work.
func ask(code []byte, work uint64) []byte {
	code = append(global(code, globalGet, work), 0x41)
	code = append(code, workBeforeQuestion&0x7f|0x80, workBeforeQuestion>>7)
	code = append(code, 0x4f, 0x04, 0x40) // i32.ge_u, if
	code = global(append(code, 0x41, 0), globalSet, work)
	return append(code, 0x03, 0x40, 0x0b, 0x0b) // loop, end, end
}
