package instrument

import (
	"encoding/binary"

	"github.com/shadowcourt/shadowcourt/host/internal/sandbox/wasmfile"
)

// code writes the bodies of the functions again.
func (w *writer) code(s wasmfile.Section) {
	if s.End == 0 {
		return
	}
	entries := make([]byte, 0, 2*(s.End-s.Body))
	m := &meter{writer: w, copier: copier{source: w.file}}
	var body []byte
	var u unmetered
	for i, b := range w.file.Bodies {
		params := len(w.file.FuncType(uint32(w.file.ImportedFuncs + i)).Params)
		if w.options.Fuel {
			body = m.body(body[:0], b, params)
		} else {
			body = u.body(w, body[:0], b, params)
		}
		if len(entries)+len(body) > maxGrowth*w.file.Size()+growthFloor {
			w.fail(b.Start, "with fuel, the functions up to this one are more than %d times as long as the file", maxGrowth)
		}
		if w.err != nil {
			return
		}
		entries = binary.AppendUvarint(entries, uint64(len(body)))
		entries = append(entries, body...)
	}
	w.write(wasmfile.SectionCode, len(w.file.Bodies), entries, nil)
}

// unmetered writes functions that nobody pays for.
type unmetered struct {
	survey survey
	nans   nans
}

// body copies a body, in which no index changes, and replaces NaNs.
func (u *unmetered) body(w *writer, out []byte, b wasmfile.Body, params int) []byte {
	u.survey.look(w.file, b, params)
	locals := params + b.Locals
	count, groups := u.nans.added(u.survey.nans, uint64(locals))
	c := copier{source: w.file, out: w.header(out, b, count, groups), from: b.Code}
	r := w.file.Reader(b.Code, b.End)
	for r.Left() > 0 {
		in := r.Instruction()
		if r.Err() != nil {
			break
		}
		u.nans.before(&c, in)
		w.names(&c, in)
		w.changes(in)
		w.localIndex(in, locals)
		u.nans.after(in)
	}
	w.check(r.Err())
	c.upTo(b.End)
	return c.out
}

// localIndex rejects what would name a local that is added.
func (w *writer) localIndex(in wasmfile.Instruction, locals int) {
	switch in.Op {
	case wasmfile.OpLocalGet, wasmfile.OpLocalSet, wasmfile.OpLocalTee:
		if int64(in.Index) >= int64(locals) {
			w.fail(in.Operand, "local index %d is out of range, there are %d locals", in.Index, locals)
		}
	}
}

// names shifts what an instruction names, and rejects what would name what is added.
func (w *writer) names(c *copier, in wasmfile.Instruction) {
	switch in.Op {
	case wasmfile.OpCall, wasmfile.OpRefFunc:
		c.replace(in.Operand, in.End, w.function(in.Operand, in.Index))
	case wasmfile.OpGlobalGet, wasmfile.OpGlobalSet:
		w.globalIndex(in.Operand, in.Index)
	case wasmfile.OpCallIndirect:
		w.typeIndex(in.Operand, in.Index)
	case wasmfile.OpBlock, wasmfile.OpLoop, wasmfile.OpIf:
		if in.HasType {
			w.typeIndex(in.Operand, in.Index)
		}
	}
}

func (w *writer) typeIndex(offset int, index uint32) {
	if int64(index) >= int64(len(w.file.Types)) {
		w.fail(offset, "type index %d is out of range, there are %d types", index, len(w.file.Types))
	}
}

// changes finds what changes an instance where the host cannot reset it: tables, and segments that are dropped.
func (w *writer) changes(in wasmfile.Instruction) {
	switch in.Op {
	case wasmfile.OpTableSet, wasmfile.OpTableInit, wasmfile.OpTableCopy, wasmfile.OpTableGrow, wasmfile.OpTableFill:
		w.retire("changes a table")
	case wasmfile.OpDataDrop:
		if w.passiveData[in.Index] {
			w.retire("drops a data segment")
		}
	case wasmfile.OpElemDrop:
		if w.passiveElements[in.Index] {
			w.retire("drops an element segment")
		}
	}
}
