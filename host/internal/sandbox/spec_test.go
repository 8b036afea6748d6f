package sandbox

import (
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/codec"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

// specModule reads the bytes of the whole module that SPEC.md spells out.
func specModule(t *testing.T) []byte {
	t.Helper()
	spec := must.Get(os.ReadFile(filepath.Join("..", "..", "..", "abi", "SPEC.md")))(t)
	_, example, _ := strings.Cut(string(spec), "<!-- begin module -->\n```text\n")
	example, _, _ = strings.Cut(example, "```")
	var digits strings.Builder
	for text := range strings.Lines(example) {
		text, _, _ = strings.Cut(text, ";")
		digits.WriteString(strings.Join(strings.Fields(text), ""))
	}
	wasm, err := hex.DecodeString(digits.String())
	if err != nil || len(wasm) < 100 {
		t.Fatalf("SPEC.md has a module of %d bytes (%v)", len(wasm), err)
	}
	return wasm
}

// What SPEC.md says is a module that keeps the contract is one.
func TestTheModuleOfTheSpecKeepsTheContract(t *testing.T) {
	t.Parallel()
	m := must.Get(open(t, Config{}).Load(t.Context(), specModule(t)))(t)
	manifest, err := codec.DecodeManifest(m.Info().ManifestBytes, 0)
	if err != nil || len(manifest.Calls) != 1 || manifest.Calls[0] != abi.CallNode {
		t.Errorf("manifest %+v (%v)", manifest, err)
	}
	for _, size := range []int{1, 100_000, abi.DefaultInputBytes} {
		out, err := m.Call(t.Context(), abi.CallNode, make([]byte, size))
		if err != nil {
			t.Errorf("a request of %d bytes: %v", size, err)
			continue
		}
		response, err := codec.DecodeNodeResponse(out.Bytes, 0)
		if err != nil || response.Failure == nil || response.Failure.Code != "no_words" {
			t.Errorf("a request of %d bytes is answered with %+v (%v)", size, response, err)
		}
	}
}
