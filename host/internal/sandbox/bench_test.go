package sandbox

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/shadowcourt/shadowcourt/abi"
)

// guests are what the benchmarks run: a module of a hundred bytes, and one of
// the Go toolchain, whose runtime initializes itself in every instance.
func guests(b *testing.B) map[string][]byte {
	b.Helper()
	return map[string][]byte{"small": small(echoBody).Bytes(), "go": goGuest(b)}
}

func BenchmarkCompile(b *testing.B) {
	for name, wasm := range guests(b) {
		b.Run(name+"/cold", func(b *testing.B) {
			e := open(b, Config{})
			b.ReportAllocs()
			for b.Loop() {
				if err := load(b, e, wasm).Close(context.Background()); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(name+"/cached", func(b *testing.B) {
			e := open(b, Config{CacheDir: b.TempDir()})
			load(b, e, wasm)
			b.ReportAllocs()
			for b.Loop() {
				if err := load(b, e, wasm).Close(context.Background()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkInstantiate(b *testing.B) {
	for name, wasm := range guests(b) {
		b.Run(name, func(b *testing.B) {
			m := load(b, open(b, Config{}), wasm)
			b.ReportAllocs()
			for b.Loop() {
				in, err := m.entry.program.instantiate(time.Now)
				if err != nil {
					b.Fatal(err)
				}
				in.close()
			}
		})
	}
}

var resets = []Reset{ResetScan, ResetPagemap, ResetDiscard, ResetCompare, ResetFresh}

// BenchmarkCall is a whole call in pristine memory: 300 bytes there and back.
func BenchmarkCall(b *testing.B) {
	request := append([]byte("e"), make([]byte, 299)...)
	for name, wasm := range guests(b) {
		for _, reset := range resets {
			b.Run(name+"/"+reset.String(), func(b *testing.B) {
				m := load(b, open(b, Config{Reset: reset, CacheDir: filepath.Join(shared, "cache")}), wasm)
				b.ReportAllocs()
				for b.Loop() {
					out, err := m.Call(context.Background(), abi.CallNode, request)
					if err != nil || len(out.Bytes) != len(request) {
						b.Fatalf("%d bytes, %v", len(out.Bytes), err)
					}
				}
			})
		}
	}
}

// BenchmarkCallOnly is the call in a warm instance that is never reset: what
// pristine calls are compared with.
func BenchmarkCallOnly(b *testing.B) {
	request := append([]byte("e"), make([]byte, 299)...)
	for name, wasm := range guests(b) {
		b.Run(name, func(b *testing.B) {
			m := load(b, open(b, Config{}), wasm)
			in, err := m.pool.take(context.Background(), time.Now)
			if err != nil {
				b.Fatal(err)
			}
			defer in.close()
			b.ReportAllocs()
			for b.Loop() {
				in.begin(context.Background())
				out, err := in.direct(abi.ExportNode, request, m.limits.OutputBytes)
				if err != nil || len(out.Bytes) != len(request) {
					b.Fatalf("%d bytes, %v", len(out.Bytes), err)
				}
			}
		})
	}
}
