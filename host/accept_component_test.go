package host_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/shadowcourt/shadowcourt/host"
)

// A component in place of a module, or of a candidate, is rejected with what to build instead.
func TestAccept_DI6_ComponentsAreRejected(t *testing.T) {
	t.Parallel()
	component := []byte("\x00asm\x0d\x00\x01\x00\x07\x01\x40")
	files := modules(t)
	files["specter.wasm"] = &fstest.MapFile{Data: component}
	for name, config := range map[string]host.Config{
		"module":    {Modules: files},
		"candidate": {Candidate: &host.Candidate{Modules: map[string][]byte{"specter": component}, Share: 1}},
	} {
		err := rejection(t, config)
		for _, says := range []string{"specter", "a WebAssembly component", "GOOS=wasip1", "wasm32-wasip1, not wasm32-wasip2", "docs/modules.md", "not_wasm"} {
			if !strings.Contains(err.Error(), says) {
				t.Errorf("%s: %v does not say %q", name, err, says)
			}
		}
	}
}
