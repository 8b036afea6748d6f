package sandbox

import (
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"github.com/shadowcourt/shadowcourt/host/internal/sandbox/instrument"
	"github.com/shadowcourt/shadowcourt/host/internal/sandbox/wasmfile"
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
			want.Segments = got.Segments // nil is written as none
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
