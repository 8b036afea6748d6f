package wasmfile

import (
	"bytes"
	"regexp"
)

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
