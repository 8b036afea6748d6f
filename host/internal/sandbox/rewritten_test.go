package sandbox

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"runtime"
	"testing"
	"time"

	"github.com/shadowcourt/shadowcourt/host/internal/sandbox/instrument"
	"github.com/shadowcourt/shadowcourt/host/internal/sandbox/wasmfile"
	"github.com/shadowcourt/shadowcourt/internal/testkit/wasmtest"
)

func TestRewrittenModulesAreReadAsTheyWereWritten(t *testing.T) {
	t.Parallel()
	data, globals := small(echoBody), small(echoBody)
	data.Data, globals.Globals = []byte("data"), 3
	for name, wasm := range map[string][]byte{"small": small(echoBody).Bytes(), "data": data.Bytes(), "globals": globals.Bytes(), "go": goGuest(t)} {
		file, err := wasmfile.Parse(wasm)
		if err != nil {
			t.Fatal(err)
		}
		want, err := instrument.Rewrite(file, instrument.Options{Fuel: true, MaxTableEntries: 10})
		if err != nil {
			t.Fatal(err)
		}
		encoded := encodeProgram(want)
		got, err := decodeProgram(encoded)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if len(want.Segments) == 0 {
			want.Segments = nil // none is read as nil
		}
		if !reflect.DeepEqual(got, want) || name == "data" && len(got.Segments) != 1 {
			t.Errorf("%s is read as another program", name)
		}
		random := rand.New(rand.NewPCG(1, 2))
		for range 200 {
			if _, err := decodeProgram(encoded[:random.IntN(len(encoded))]); err == nil {
				t.Fatalf("%s: a part of it is read", name)
			}
		}
	}
}

// A module that comes out of the cache does the same for the same fuel.
func TestModulesOfTheCacheAreTheSame(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "cache")
	limits := Limits{WallClock: time.Minute}
	var want string
	for i := range 2 {
		m := load(t, open(t, Config{CacheDir: dir, Limits: limits}), goGuest(t))
		got, err := account(m, accounted)
		if err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			want = got
		}
		if got != want {
			t.Errorf("out of the cache:\n%s\nbefore:\n%s", got, want)
		}
	}
}

// What is decoded of a faulty entry takes no more memory than a few times its bytes, whatever it counts.
func TestFaultyEntriesTakeLittleMemory(t *testing.T) { //nolint:paralleltest // it measures what is allocated
	const size = 1 << 20
	faulty := bytes.Repeat([]byte{0xff}, size) // no number ends
	for name, data := range map[string][]byte{
		"globals":  append(binary.AppendUvarint([]byte{0, 0, 0, 0}, size), faulty...),
		"segments": append(binary.AppendUvarint([]byte{0, 0, 0, 0, 0}, size), faulty...),
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		p, err := decodeProgram(data)
		runtime.ReadMemStats(&after)
		if took := after.TotalAlloc - before.TotalAlloc; err == nil || p != nil || took > 10*size {
			t.Errorf("%s: %v, %d bytes were allocated for %d", name, err, took, len(data))
		}
	}
}

// FuzzProgram: no bytes panic; what is read is written and read again as the same.
func FuzzProgram(f *testing.F) {
	data, globals := small(echoBody), small(echoBody)
	data.Data, globals.Globals = []byte("data"), 3
	for _, m := range []wasmtest.Module{data, globals} {
		file, err := wasmfile.Parse(m.Bytes())
		if err != nil {
			f.Fatal(err)
		}
		p, err := instrument.Rewrite(file, instrument.Options{Fuel: true, MaxTableEntries: 10})
		if err != nil {
			f.Fatal(err)
		}
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
