package sandbox

import (
	"encoding/binary"
	"errors"
	"math"
	"slices"

	"github.com/shadowcourt/shadowcourt/host/internal/sandbox/complexity"
	"github.com/shadowcourt/shadowcourt/host/internal/sandbox/instrument"
	"github.com/shadowcourt/shadowcourt/host/internal/sandbox/wasmfile"
)

// rewrite rewrites a module, and estimates what compiling the result costs.
// The error is a *complexity.Error if it would cost too much, or a *wasmfile.Error.
func (e *Engine) rewrite(file *wasmfile.File) (*instrument.Program, error) {
	p, err := instrument.Rewrite(file, e.rewriting())
	if err != nil {
		return nil, err
	}
	rewritten, err := wasmfile.Parse(p.Wasm)
	if err != nil {
		return nil, err
	}
	limits := complexity.Limits{Steps: e.limits.CompileSteps, Bytes: e.limits.CompileBytes}
	if _, err := complexity.Check(rewritten, file.ImportedFuncs, limits); err != nil {
		return nil, err
	}
	return p, nil
}

// rewriting is how modules are rewritten.
func (e *Engine) rewriting() instrument.Options {
	return instrument.Options{Fuel: e.meter == MeterFuel, MaxTableEntries: e.limits.TableEntries}
}

// encodeProgram lays a program out: texts and bytes behind their length.
func encodeProgram(p *instrument.Program) []byte {
	size := len(p.Wasm) + 1<<10
	for _, s := range p.Segments {
		size += len(s.Data) + 2*binary.MaxVarintLen32
	}
	b := make([]byte, 0, size)
	text := func(s string) { b = append(binary.AppendUvarint(b, uint64(len(s))), s...) }
	number := func(n int) { b = binary.AppendUvarint(b, uint64(n)) }
	restorable := 0
	if p.Restorable {
		restorable = 1
	}
	text(p.Start)
	text(p.Fuel)
	text(p.Reason)
	number(restorable)
	number(len(p.Globals))
	for _, g := range p.Globals {
		text(g.Export)
		number(int(g.Type))
	}
	number(len(p.Segments))
	for _, s := range p.Segments {
		number(int(s.Offset))
		b = append(binary.AppendUvarint(b, uint64(len(s.Data))), s.Data...)
	}
	return append(binary.AppendUvarint(b, uint64(len(p.Wasm))), p.Wasm...)
}

var errNotRewritten = errors.New("not a rewritten module")

// decodeProgram is the inverse. The program keeps views of the data.
func decodeProgram(data []byte) (*instrument.Program, error) {
	d := programDecoder{rest: data}
	p := &instrument.Program{Start: d.text(), Fuel: d.text(), Reason: d.text(), Restorable: d.number(1) == 1}
	for n := d.count(pairBytes); n > 0 && !d.failed; n-- {
		p.Globals = append(p.Globals, instrument.Global{Export: d.text(), Type: wasmfile.ValueType(d.number(math.MaxUint8))})
	}
	segments := d.count(pairBytes)
	p.Segments = slices.Grow(p.Segments, segments)
	for n := segments; n > 0 && !d.failed; n-- {
		p.Segments = append(p.Segments, instrument.Segment{Offset: uint32(d.number(math.MaxUint32)), Data: d.bytes()})
	}
	p.Wasm = d.bytes()
	if d.failed || len(d.rest) > 0 {
		return nil, errNotRewritten
	}
	return p, nil
}

// pairBytes is the least that a global or a segment takes: a length and a number.
const pairBytes = 2

// programDecoder reads what encodeProgram wrote. After a fault all is empty.
type programDecoder struct {
	rest   []byte
	failed bool
}

func (d *programDecoder) fail() uint64 {
	d.rest, d.failed = nil, true
	return 0
}

func (d *programDecoder) number(most uint64) uint64 {
	n, size := binary.Uvarint(d.rest)
	if size <= 0 || n > most {
		return d.fail()
	}
	d.rest = d.rest[size:]
	return n
}

// count of things that take at least that many bytes each.
func (d *programDecoder) count(entryBytes int) int {
	n := d.number(uint64(len(d.rest)))
	if n > uint64(len(d.rest)/entryBytes) {
		n = d.fail()
	}
	return int(n)
}

func (d *programDecoder) bytes() []byte {
	n := d.count(1)
	b := d.rest[:n:n]
	d.rest = d.rest[n:]
	return b
}

func (d *programDecoder) text() string { return string(d.bytes()) }
