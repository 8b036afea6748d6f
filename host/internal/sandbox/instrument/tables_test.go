package instrument

import (
	"testing"

	"github.com/shadowcourt/shadowcourt/host/internal/sandbox/wasmfile"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
	"github.com/shadowcourt/shadowcourt/internal/testkit/wasmtest"
)

// However many tables a module has, they may grow to the limit together only.
func TestTablesShareTheLimit(t *testing.T) {
	t.Parallel()
	tables := []byte{4, 0x70, 0, 10, 0x6f, 0, 0, 0x70, 1, 20, 25, 0x70, 0, 30}
	wasm := wasmtest.Section([]byte{0, 'a', 's', 'm', 1, 0, 0, 0}, 4, tables)
	file := must.Get(wasmfile.Parse(wasm))(t)
	p := must.Get(Rewrite(file, Options{Fuel: true, MaxTableEntries: 100}))(t)
	rewritten := must.Get(wasmfile.Parse(p.Wasm))(t)
	want := []uint32{20, 10, 25, 40} // 40 entries are left for four tables
	for i, table := range rewritten.Tables {
		if !table.HasMax || table.Max != want[i] {
			t.Errorf("table %d may grow to %d entries, want %d", i, table.Max, want[i])
		}
	}
}

// Entries that stay for table.init are copied for every instance.
func TestKeptElementsAreBounded(t *testing.T) {
	t.Parallel()
	for entries, want := range map[int]bool{100: true, 101: false} {
		segment := wasmtest.Uint([]byte{1, 1, 0}, entries) // passive, of functions
		segment = append(segment, make([]byte, entries)...)
		wasm := []byte{0, 'a', 's', 'm', 1, 0, 0, 0}
		wasm = wasmtest.Section(wasm, 1, []byte{1, 0x60, 0, 0})
		wasm = wasmtest.Section(wasm, 3, []byte{1, 0})
		wasm = wasmtest.Section(wasm, 9, segment)
		wasm = wasmtest.Section(wasm, 10, []byte{1, 2, 0, 0x0b})
		file := must.Get(wasmfile.Parse(wasm))(t)
		if _, err := Rewrite(file, Options{Fuel: true, MaxTableEntries: 100}); (err == nil) != want {
			t.Errorf("%d entries: %v", entries, err)
		}
	}
}
