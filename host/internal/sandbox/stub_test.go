package sandbox

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

// An entry may be as it was sealed, and wazero may find nothing in it all the same: on another processor it looks for another
// name. Then it compiles the stub, which traps at every call.
func TestAStubIsNotRunInPlaceOfItsModule(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(machineCode string) error{
		"other name": func(file string) error {
			return os.Rename(file, strings.TrimRight(file, "0123456789abcdef")+strings.Repeat("0", 64))
		},
		"no file":     os.Remove,
		"other file":  func(file string) error { return os.WriteFile(filepath.Join(filepath.Dir(file), "more"), nil, 0o600) },
		"other magic": func(file string) error { return os.WriteFile(file, []byte("not wazero's"), 0o600) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, wasm, files := cached(t)
			machineCode := files[2]
			must.Do(t, change(machineCode))
			made := &cacheEntry{filepath.Dir(files[0])}
			must.Do(t, os.Remove(files[0]))
			moved := &cacheEntry{filepath.Join(t.TempDir(), "moved")}
			must.Do(t, os.Rename(made.dir, moved.dir))
			if err := made.place(moved); err != nil { // seals it anew
				t.Fatal(err)
			}
			log := again(t, dir, wasm)
			if dropped := strings.Contains(log, "compile cache entry dropped"); dropped == (name == "other file") {
				t.Errorf("log %q", log)
			}
			if log := again(t, dir, wasm); log != "" {
				t.Errorf("the cache was not mended: %s", log)
			}
		})
	}
}
