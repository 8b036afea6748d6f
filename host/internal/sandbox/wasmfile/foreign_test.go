package wasmfile_test

import (
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/host/internal/sandbox/wasmfile"
)

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
		if _, err := wasmfile.Parse([]byte(file)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: %v, want %q", file, err, want)
		}
	}
}
