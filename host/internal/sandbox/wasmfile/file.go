// Package wasmfile reads what a WebAssembly file declares (imports, exports with their types, memories, tables, custom sections) without
// compiling or running anything, and writes custom sections.
//
// The files come from anybody. Nothing here panics on any input; every fault is an *Error with its offset; no length in a file is believed
// before the bytes that must carry it have been counted. Bodies of functions are measured, not decoded: the compiler validates those. What
// the sandbox's compiler would allocate for a declaration alone (locals, tables, list lengths) is bounded here, after the implementation
// limits of the WebAssembly JavaScript interface, which browsers share.
package wasmfile

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// Bounds on what a module may declare. Up to maxModuleLocals they are the implementation limits of the WebAssembly JavaScript interface.
const (
	maxTypes         = 1_000_000
	maxParams        = 1_000
	maxResults       = 1_000
	maxImports       = 1_000_000
	maxFunctions     = 1_000_000
	maxTables        = 100
	maxGlobals       = 1_000_000
	maxExports       = 1_000_000
	maxElements      = 10_000_000 // segments, and entries of one segment
	maxDataSegments  = 100_000
	maxFunctionBytes = 7_654_321
	maxBranchTargets = 65_536 // of one br_table; the compiler's time grows with the square
	maxLocals        = 50_000
	maxModuleLocals  = 8_000_000 // the compiler expands them, eight bytes each
	maxCustoms       = 1_000
)

// PageBytes is the unit of linear memory.
const PageBytes = 65536

// Kind is what an import or an export is.
type Kind byte

// The kinds, with their codes in the binary format.
const (
	KindFunc   Kind = 0
	KindTable  Kind = 1
	KindMemory Kind = 2
	KindGlobal Kind = 3
)

func (k Kind) String() string {
	if names := [...]string{"function", "table", "memory", "global"}; int(k) < len(names) {
		return names[k]
	}
	return fmt.Sprintf("kind %d", byte(k))
}

// ValueType is the type of a parameter, a result or a global.
type ValueType byte

// The value types, with their codes in the binary format.
const (
	I32       ValueType = 0x7f
	I64       ValueType = 0x7e
	F32       ValueType = 0x7d
	F64       ValueType = 0x7c
	V128      ValueType = 0x7b
	FuncRef   ValueType = 0x70
	ExternRef ValueType = 0x6f
)

func (t ValueType) String() string {
	names := map[ValueType]string{I32: "i32", I64: "i64", F32: "f32", F64: "f64", V128: "v128", FuncRef: "funcref", ExternRef: "externref"}
	return cmp.Or(names[t], fmt.Sprintf("type 0x%02x", byte(t)))
}

// FuncType is the signature of a function.
type FuncType struct {
	Params, Results []ValueType
}

// Is reports whether the signature is (params) -> (results).
func (t FuncType) Is(params, results []ValueType) bool {
	return string(asBytes(t.Params)) == string(asBytes(params)) && string(asBytes(t.Results)) == string(asBytes(results))
}

func asBytes(types []ValueType) []byte {
	b := make([]byte, len(types))
	for i, t := range types {
		b[i] = byte(t)
	}
	return b
}

func (t FuncType) String() string {
	return "(" + join(t.Params) + ") -> (" + join(t.Results) + ")"
}

func join(types []ValueType) string {
	names := make([]string, len(types))
	for i, t := range types {
		names[i] = t.String()
	}
	return strings.Join(names, ", ")
}

// Limits are the declared sizes of a memory (in pages of 64 KiB) or of a table (in entries). Max is meaningful if HasMax.
type Limits struct {
	Min, Max uint32
	HasMax   bool
}

// Import is what a module asks for. Func is set for functions only.
type Import struct {
	Module, Name string
	Kind         Kind
	Func         *FuncType
}

// Export is what a module offers. Func is set for functions only.
type Export struct {
	Name string
	Kind Kind
	Func *FuncType
}

// Custom is a custom section. Payload is a view of the file.
type Custom struct {
	Name    string
	Payload []byte
}

// Global is a declared global.
type Global struct {
	Type              ValueType
	Mutable, Imported bool
}

// Section is the place of a section in the file: its id byte at Start, its content from Body to End.
type Section struct {
	ID               SectionID
	Start, Body, End int
}

// Body is the place of a function's body in the file: its locals from Start,
// its instructions from Code to End. Locals is how many it declares.
type Body struct{ Start, Code, End, Locals int }

// File is what a module declares. It keeps a view of the bytes it was parsed
// from, which must not change. It is read-only: concurrent use is safe.
type File struct {
	Imports       []Import
	Exports       []Export
	Memories      []Limits // the module's own; version 2 of WebAssembly allows one
	Tables        []Limits // the module's own
	Customs       []Custom // in file order
	HasStart      bool     // a start section runs code when the module is instantiated
	Types         []FuncType
	Globals       []Global  // imported ones first
	Sections      []Section // in file order
	Bodies        []Body    // of the module's own functions
	ImportedFuncs int       // which come first in the index space of functions
	DataCount     bool      // code may name data segments
	DataSegments  int
	Elements      int // entries of all element segments, and the segments

	wasm      []byte
	funcTypes []uint32 // of every function, imported ones first
}

// Funcs is how many functions there are, imported ones included.
func (f *File) Funcs() int { return len(f.funcTypes) }

// FuncType is the signature of a function by its index, which is in range.
func (f *File) FuncType(index uint32) FuncType { return f.Types[f.funcTypes[index]] }

// Bytes is a view of the part of the file from start to end.
func (f *File) Bytes(start, end int) []byte { return f.wasm[start:end:end] }

// Reader reads the part of the file from start to end again.
func (f *File) Reader(start, end int) *Reader { return &Reader{b: f.wasm[:end], off: start} }

// header is the magic number and version 1.
var header = [8]byte{0, 'a', 's', 'm', 1, 0, 0, 0}

// Parse reads the declarations of a module. The error is an *Error.
func Parse(wasm []byte) (*File, error) {
	if !bytes.HasPrefix(wasm, header[:]) {
		return nil, foreign(wasm)
	}
	p := parser{file: &File{wasm: wasm}}
	r := &Reader{b: wasm, off: len(header)}
	for r.err == nil && r.Left() > 0 {
		p.section(r)
	}
	if r.err == nil {
		p.finish(r)
	}
	if r.err != nil {
		return nil, r.err
	}
	return p.file, nil
}

// Custom gives the payload of the first custom section of that name.
func (f *File) Custom(name string) ([]byte, bool) {
	for _, c := range f.Customs {
		if c.Name == name {
			return c.Payload, true
		}
	}
	return nil, false
}

// Export gives the export of that name.
func (f *File) Export(name string) (Export, bool) {
	for _, e := range f.Exports {
		if e.Name == name {
			return e, true
		}
	}
	return Export{}, false
}

// Size is the length of the file in bytes.
func (f *File) Size() int { return len(f.wasm) }

// buildInstead says what to build in place of a component.
const buildInstead = "build a core module: Go with GOOS=wasip1 GOARCH=wasm -buildmode=c-shared; Rust with crate-type cdylib for " +
	"wasm32-unknown-unknown or wasm32-wasip1, not wasm32-wasip2; see docs/modules.md"

// packed are formats in which modules are shipped, by the bytes that they begin with.
var packed = []struct{ magic, message string }{
	{"\x1f\x8b", "compressed with gzip: decompress it first (gunzip)"},
	{"\x28\xb5\x2f\xfd", "compressed with zstd: decompress it first (unzstd)"},
	{"PK\x03\x04", "a zip archive: extract the module first (unzip)"},
}

// maxPrologue is how much of a file is searched for the beginning of a text.
const maxPrologue = 64 << 10

// text is the beginning of WebAssembly text, which may have comments before it: ;; to the end of the line, and (; to the next ;).
var text = regexp.MustCompile(`^(?:\s|;;[^\n]*\n|\(;(?s:.*?);\))*\((?:module|component)`)

// foreign says what a file is that does not have the header of a core module.
func foreign(file []byte) *Error {
	if bytes.HasPrefix(file, header[:4]) {
		// Two bytes of version, which changes from draft to draft, then two of the layer: 0 is a core module, 1 a component.
		if len(file) >= 8 && file[6] == 1 && file[7] == 0 {
			return &Error{Offset: 4, Msg: "a WebAssembly component, which is not supported: " + buildInstead}
		}
		return &Error{Offset: 4, Msg: "not a version 1 WebAssembly module"}
	}
	for _, p := range packed {
		if bytes.HasPrefix(file, []byte(p.magic)) {
			return &Error{Msg: p.message}
		}
	}
	if text.Match(file[:min(len(file), maxPrologue)]) {
		return &Error{Msg: "WebAssembly text, not a binary: assemble it first (wat2wasm FILE.wat, or wasm-tools parse FILE.wat -o FILE.wasm)"}
	}
	return &Error{Msg: "not a WebAssembly file: it does not begin with \\0asm"}
}

// CodeDigest is SHA-256 over the module without its custom sections: two modules that differ in nothing but manifest, names or debug
// information have the same.
func (f *File) CodeDigest() [sha256.Size]byte {
	h := sha256.New()
	h.Write(header[:])
	for _, s := range f.Sections {
		if s.ID != SectionCustom {
			h.Write(f.wasm[s.Start:s.End])
		}
	}
	return [sha256.Size]byte(h.Sum(nil))
}

func appendSection(out []byte, id SectionID, body []byte) []byte {
	out = append(out, byte(id))
	out = binary.AppendUvarint(out, uint64(len(body)))
	return append(out, body...)
}

// WithoutCode gives a copy of the module without its custom and other sections, in which every function traps at once.
func (f *File) WithoutCode(without ...SectionID) []byte {
	out := append([]byte{}, header[:]...)
	for _, s := range f.Sections {
		switch {
		case s.ID == SectionCustom || slices.Contains(without, s.ID):
		case s.ID == SectionCode:
			body := binary.AppendUvarint(nil, uint64(len(f.Bodies)))
			for range f.Bodies {
				body = append(body, 3, 0, byte(OpUnreachable), byte(OpEnd)) // 3 bytes, no locals
			}
			out = appendSection(out, SectionCode, body)
		default:
			out = append(out, f.wasm[s.Start:s.End]...)
		}
	}
	return out
}

// Annotate gives a copy of the module whose only custom section of that name holds the payload: in the place of the first one that was
// there, or at the end. Everything else keeps its bytes, so the code digest stays. The error is an *Error if the module cannot be parsed.
func Annotate(wasm []byte, name string, payload []byte) ([]byte, error) {
	if name == "" || !utf8.ValidString(name) {
		return nil, errors.New("the name of a custom section is UTF-8 and not empty")
	}
	f, err := Parse(wasm)
	if err != nil {
		return nil, err
	}
	body := binary.AppendUvarint(nil, uint64(len(name)))
	body = append(append(body, name...), payload...)

	out := append(make([]byte, 0, len(wasm)+len(body)+8), header[:]...)
	custom, done := 0, false
	for _, s := range f.Sections {
		if s.ID == SectionCustom {
			custom++
			if f.Customs[custom-1].Name == name {
				if !done {
					out = appendSection(out, SectionCustom, body)
					done = true
				}
				continue
			}
		}
		out = append(out, f.wasm[s.Start:s.End]...)
	}
	if !done {
		if custom == maxCustoms {
			return nil, fmt.Errorf("the module has %d custom sections already", maxCustoms)
		}
		out = appendSection(out, SectionCustom, body)
	}
	return out, nil
}
