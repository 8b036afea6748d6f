package wasmfile_test

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/host/internal/sandbox/wasmfile"
	"github.com/shadowcourt/shadowcourt/internal/testkit/check"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
	"github.com/shadowcourt/shadowcourt/internal/testkit/wasmtest"
)

var header = []byte{0, 'a', 's', 'm', 1, 0, 0, 0}

// sample declares a bit of everything that wasmtest can.
func sample() wasmtest.Module {
	start := 1
	return wasmtest.Module{
		Imports: []wasmtest.Import{{Module: "env", Name: "f", Params: []byte{wasmtest.I32}, Results: []byte{wasmtest.I64}}},
		Funcs: []wasmtest.Func{
			{},
			{Export: "g", Params: []byte{wasmtest.I64, wasmtest.I32}, Body: nil},
		},
		MemoryPages: 3, Memory: "memory", TableMin: 7, Globals: 2, Start: &start,
		Data:    []byte("some data"),
		Customs: []wasmtest.Custom{{Name: "first", Payload: []byte("1")}, {Name: "second", Payload: []byte("2")}},
	}
}

func TestParse(t *testing.T) {
	t.Parallel()
	wasm := sample().Bytes()
	f := must.Get(wasmfile.Parse(wasm))(t)
	if len(f.Imports) != 1 || f.Imports[0].Module != "env" || f.Imports[0].Name != "f" || f.Imports[0].Func.String() != "(i32) -> (i64)" {
		t.Errorf("imports %+v", f.Imports)
	}
	g, ok := f.Export("g")
	if !ok || g.Kind != wasmfile.KindFunc || g.Func.String() != "(i64, i32) -> ()" {
		t.Errorf("export g: %+v", g)
	}
	if memory, ok := f.Export("memory"); !ok || memory.Kind != wasmfile.KindMemory || memory.Func != nil {
		t.Errorf("export memory: %+v", memory)
	}
	if _, ok := f.Export("h"); ok {
		t.Error("there is no export h")
	}
	if !slices.Equal(f.Memories, []wasmfile.Limits{{Min: 3}}) || !slices.Equal(f.Tables, []wasmfile.Limits{{Min: 7}}) {
		t.Errorf("memories %v, tables %v", f.Memories, f.Tables)
	}
	if !f.HasStart || f.Size() != len(wasm) {
		t.Errorf("start %v, size %d of %d", f.HasStart, f.Size(), len(wasm))
	}
	for name, want := range map[string]string{"first": "1", "second": "2"} {
		if got, ok := f.Custom(name); !ok || string(got) != want {
			t.Errorf("custom section %s: %q, %v", name, got, ok)
		}
	}
}

// Every proper beginning of a module is rejected, or is a module that ends between two sections.
func TestCutOffFilesAreRejected(t *testing.T) {
	t.Parallel()
	wasm := sample().Bytes()
	rejected := 0
	for n := range wasm {
		_, err := wasmfile.Parse(wasm[:n])
		if fileErr, ok := errors.AsType[*wasmfile.Error](err); ok {
			rejected++
			if fileErr.Offset < 0 || fileErr.Offset > n {
				t.Errorf("%d bytes: offset %d is outside", n, fileErr.Offset)
			}
		} else if err != nil {
			t.Errorf("%d bytes: %T", n, err)
		}
	}
	if rejected < len(wasm)-15 {
		t.Errorf("%d of %d beginnings were rejected", rejected, len(wasm))
	}
}

func TestFaultsHaveTheirOffset(t *testing.T) {
	t.Parallel()
	section := func(id byte, body ...byte) []byte { return wasmtest.Section(nil, id, body) }
	file := func(sections ...[]byte) []byte { return append(slices.Clone(header), slices.Concat(sections...)...) }
	var (
		types     = section(1, 1, 0x60, 0, 0)
		functions = section(3, 1, 0)
	)
	tests := []struct {
		name   string
		wasm   []byte
		offset int
		msg    string
	}{
		{"empty", nil, 0, "does not begin with"},
		{"other magic", []byte("GIF89a.."), 0, "does not begin with"},
		{"version 2", []byte("\x00asm\x02\x00\x00\x00"), 4, "not a version 1"},
		{"unknown section", file(section(13)), 8, "unknown section id 13"},
		{"section beyond the file", append(slices.Clone(header), 1, 200, 1), 11, "section needs 200 bytes, 0 are left"},
		{"section size of 33 bits", append(slices.Clone(header), 1, 0xff, 0xff, 0xff, 0xff, 0x1f), 9, "section size does not fit 32 bits"},
		{"sections out of order", file(functions, types), 8 + 2 + 1, "type index 0 is out of range"},
		{"section twice", file(types, types), 14, "repeated or out of order"},
		{"bytes after the types", file(section(1, 0, 9)), 11, "1 bytes too many"},
		{"four thousand million types", file(section(1, 0xff, 0xff, 0xff, 0xff, 0x0f)), 10, "4294967295 types cannot be in the 0 bytes"},
		{"type of the GC proposal", file(section(1, 1, 0x5e, 0, 0)), 11, "0x5e is not a function type"},
		{"unknown value type", file(section(1, 1, 0x60, 1, 0x11, 0)), 13, "unknown value type 0x11"},
		{"import of an unknown type", file(section(2, 1, 1, 'm', 1, 'f', 0, 5)), 16, "type index 5 is out of range"},
		{"import of an unknown kind", file(section(2, 1, 1, 'm', 1, 'f', 4, 0)), 15, "unknown import kind 4"},
		{"name that is not UTF-8", file(section(2, 1, 1, 0xff, 1, 'f', 0, 0)), 12, "import module is not UTF-8"},
		{"shared memory", file(section(5, 1, 3, 1, 1)), 11, "shared and 64-bit memories"},
		{"two memories", file(section(5, 2, 0, 1, 0, 1)), 10, "2 memories are more than the limit of 1"},
		{"memory beyond 4 GiB", file(section(5, 1, 0, 0x81, 0x80, 0x04)), 10, "at most 65536 pages"},
		{"maximum below minimum", file(section(4, 1, 0x70, 1, 5, 4)), 12, "maximum 4 is below the minimum 5"},
		{"table of numbers", file(section(4, 1, 0x7f, 0, 5)), 11, "i32 is not a reference type"},
		{"global that is no constant", file(section(6, 1, 0x7f, 0, 0x10, 0, 0x0b)), 13, "instruction 0x10 is not constant"},
		{"global of neither mutability", file(section(6, 1, 0x7f, 2, 0x41, 0, 0x0b)), 12, "mutability 2"},
		{"export twice", file(types, functions, section(7, 2, 1, 'f', 0, 0, 1, 'f', 0, 0)), 25, `export "f" is there twice`},
		{"export of no function", file(section(7, 1, 1, 'f', 0, 0)), 14, "function index 0 is out of range"},
		{"start of no function", file(section(8, 3)), 10, "function index 3 is out of range"},
		{"body missing", file(types, functions), 18, "1 functions are declared, 0 have a body"},
		{"too many locals", file(types, functions, section(10, 1, 8, 1, 0xff, 0xff, 0xff, 0xff, 0x0f, 0x7f, 0x0b)), 23, "more than 50000 locals"},
		{"element segment of an unknown form", file(section(9, 1, 8, 0, 0)), 11, "flags 8 are unknown"},
		{"data segment beyond the section", file(section(11, 1, 1, 9, 'x')), 13, "data segment needs 9 bytes, 1 are left"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			_, err := wasmfile.Parse(test.wasm)
			var fileErr *wasmfile.Error
			if !errors.As(err, &fileErr) {
				t.Fatalf("got %v", err)
			}
			if fileErr.Offset != test.offset || !strings.Contains(fileErr.Msg, test.msg) {
				t.Errorf("offset %d: %s; want offset %d, %q", fileErr.Offset, fileErr.Msg, test.offset, test.msg)
			}
		})
	}
}

// Locals cost the compiler eight bytes each, so that many functions with the most locals are a bomb.
func TestLocalsOfAModuleAreBounded(t *testing.T) {
	t.Parallel()
	const functions = 200
	body := []byte{1, 0xd0, 0x86, 0x03, 0x7f, wasmtest.End} // 50,000 of i32
	var code []byte
	for range functions {
		code = append(wasmtest.Uint(code, len(body)), body...)
	}
	wasm := wasmtest.Section(slices.Clone(header), 1, []byte{1, 0x60, 0, 0})
	wasm = wasmtest.Section(wasm, 3, append(wasmtest.Uint(nil, functions), make([]byte, functions)...))
	wasm = wasmtest.Section(wasm, 10, append(wasmtest.Uint(nil, functions), code...))
	check.Fails(t, check.Err(wasmfile.Parse(wasm)), "more than 8000000 locals")
}

func TestAnnotate(t *testing.T) {
	t.Parallel()
	wasm := sample().Bytes()
	for _, name := range []string{"first", "second", "third"} {
		out := must.Get(wasmfile.Annotate(wasm, name, []byte("payload")))(t)
		before, after := parse(t, wasm), parse(t, out)
		if got, _ := after.Custom(name); string(got) != "payload" {
			t.Errorf("%s holds %q", name, got)
		}
		check.Equal(t, after.CodeDigest(), before.CodeDigest(), name, "annotating changed the code")
		for _, c := range before.Customs {
			if got, ok := after.Custom(c.Name); c.Name != name && (!ok || !bytes.Equal(got, c.Payload)) {
				t.Errorf("annotating %s changed %s to %q", name, c.Name, got)
			}
		}
		twice, err := wasmfile.Annotate(out, name, []byte("payload"))
		if err != nil || !bytes.Equal(twice, out) {
			t.Errorf("%s: annotating twice is not annotating once (%v)", name, err)
		}
	}
	if _, err := wasmfile.Annotate(wasm[:9], "x", nil); err == nil {
		t.Error("half a file was annotated")
	}
	if _, err := wasmfile.Annotate(wasm, "", nil); err == nil {
		t.Error("an empty name was taken")
	}
}

func TestAnnotateRemovesDoubles(t *testing.T) {
	t.Parallel()
	m := sample()
	m.Customs = append(m.Customs, wasmtest.Custom{Name: "first", Payload: []byte("again")})
	out := must.Get(wasmfile.Annotate(m.Bytes(), "first", []byte("only")))(t)
	if f := parse(t, out); len(f.Customs) != 2 || f.Customs[0].Name != "first" || string(f.Customs[0].Payload) != "only" {
		t.Errorf("custom sections %q", f.Customs)
	}
}

func parse(tb testing.TB, wasm []byte) *wasmfile.File {
	tb.Helper()
	return must.Get(wasmfile.Parse(wasm))(tb)
}

// FuzzParse: no bytes panic; an error has an offset in the file; what parses can be written and parses again to the same.
func FuzzParse(f *testing.F) {
	whole := sample().Bytes()
	f.Add(whole)
	f.Add(whole[:len(whole)/2])
	f.Add(header)
	f.Add(wasmtest.Section(slices.Clone(header), 9, []byte{2, 5, 0x70, 1, 0xd0, 0x70, 0x0b, 6, 0, 0x41, 0, 0x0b, 0x70, 0}))
	f.Fuzz(func(t *testing.T, wasm []byte) {
		file, err := wasmfile.Parse(wasm)
		if err != nil {
			var fileErr *wasmfile.Error
			if !errors.As(err, &fileErr) || fileErr.Offset < 0 || fileErr.Offset > len(wasm) {
				t.Fatalf("%T: %v", err, err)
			}
			return
		}
		stripped := parse(t, file.WithoutCode())
		if len(stripped.Imports) != len(file.Imports) || len(stripped.Exports) != len(file.Exports) || len(stripped.Customs) != 0 {
			t.Fatalf("stripping changed more than custom sections: %+v, %+v", file, stripped)
		}
		out := must.Get(wasmfile.Annotate(wasm, "note", []byte("payload")))(t)
		noted := parse(t, out)
		if got, _ := noted.Custom("note"); string(got) != "payload" || noted.CodeDigest() != file.CodeDigest() {
			t.Fatalf("the note is %q", got)
		}
	})
}

// A file that is no core module is named for what it is.
func TestAccept_DI6_OtherFilesAreNamed(t *testing.T) {
	t.Parallel()
	for file, want := range map[string]string{
		"\x00asm\x0d\x00\x01\x00":               "offset 4: a WebAssembly component, which is not supported: build a core module: ",
		"\x00asm\x0d\x00\x01\x00\x07\x01\x40":   "wasm32-wasip1, not wasm32-wasip2; see docs/modules.md",
		"\x00asm\x0a\x00\x01\x00":               "offset 4: a WebAssembly component",
		"\x00asm\x02\x00\x00\x00":               "offset 4: not a version 1 WebAssembly module",
		"\x00asm\x0d\x00\x01":                   "offset 4: not a version 1 WebAssembly module",
		"\x1f\x8b\x08\x00":                      "offset 0: compressed with gzip",
		"\x28\xb5\x2f\xfd\x04":                  "offset 0: compressed with zstd",
		"PK\x03\x04":                            "offset 0: a zip archive",
		"(module (memory 1))":                   "offset 0: WebAssembly text",
		";; a\n\t(; b ;) ;; c\r\n (component)":  "offset 0: WebAssembly text",
		";; no end":                             "offset 0: not a WebAssembly file",
		"(; no end":                             "offset 0: not a WebAssembly file",
		"(modulo":                               "offset 0: not a WebAssembly file",
		"":                                      "offset 0: not a WebAssembly file",
		strings.Repeat(" ", 70_000) + "(module": "offset 0: not a WebAssembly file",
	} {
		check.Fails(t, check.Err(wasmfile.Parse([]byte(file))), want, file)
	}
}
