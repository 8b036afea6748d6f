package sandbox

import (
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"github.com/shadowcourt/shadowcourt/host/internal/sandbox/instrument"
	"github.com/shadowcourt/shadowcourt/host/internal/sandbox/wasmfile"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
	"github.com/shadowcourt/shadowcourt/internal/testkit/wasmtest"
)

// A module that comes out of the cache does the same for the same fuel.
func TestModulesOfTheCacheAreTheSame(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "cache")
	limits := Limits{WallClock: time.Minute}
	var want string
	for i := range 2 {
		m := load(t, open(t, Config{CacheDir: dir, Limits: limits}), goGuest(t))
		got := must.Get(account(m, accounted))(t)
		if i == 0 {
			want = got
		}
		if got != want {
			t.Errorf("out of the cache:\n%s\nbefore:\n%s", got, want)
		}
	}
}

// FuzzProgram: no bytes panic; what is read is written and read again as the same.
func FuzzProgram(f *testing.F) {
	data, globals := small(echoBody), small(echoBody)
	data.Data, globals.Globals = []byte("data"), 3
	for _, m := range []wasmtest.Module{data, globals} {
		file := must.Get(wasmfile.Parse(m.Bytes()))(f)
		p := must.Get(instrument.Rewrite(file, instrument.Options{Fuel: true, MaxTableEntries: 10}))(f)
		f.Add(encodeProgram(p))
	}
	f.Add([]byte{0, 0, 0, 1, 1, 1, 'g', 0x7f, 1, 4, 1, 'd', 0})
	f.Add([]byte{0, 0, 0, 2, 0, 0, 0})          // neither restorable nor not
	f.Add([]byte{0, 0, 0, 0, 1, 0, 0xff, 2, 0}) // no type of a value
	f.Add([]byte{0, 0, 0, 0, 0xff, 0xff, 3})    // more globals than bytes
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := decodeProgram(data)
		if err != nil {
			return
		}
		if held := len(p.Globals) + len(p.Segments) + len(p.Wasm); held > len(data) {
			t.Fatalf("%d things of %d bytes", held, len(data))
		}
		encoded := encodeProgram(p)
		again, err := decodeProgram(encoded)
		if err != nil || !reflect.DeepEqual(again, p) {
			t.Fatalf("%v: %+v is read again as %+v", err, p, again)
		}
		if len(encoded) > len(data) {
			t.Fatalf("%d bytes were read, %d are written", len(data), len(encoded))
		}
	})
}
