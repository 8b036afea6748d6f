package sandbox

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/codec"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
	"github.com/shadowcourt/shadowcourt/internal/testkit/tier"
	"github.com/shadowcourt/shadowcourt/internal/testkit/wasmtest"
)

// growBody grows the memory by a page, answers with the eight bytes at the
// beginning of that page and with its number, and leaves ones there.
var growBody = wasmtest.Join(
	[]byte{0x41, 1, 0x40, 0, 0x41, 16, 0x74, 0x21, 0},             // local 0 = memory.grow(1) << 16
	wasmtest.Const(2048), []byte{0x20, 0, 0x29, 3, 0, 0x37, 3, 0}, // store(2048, load(local 0))
	wasmtest.Const(2056), []byte{0x20, 0, 0x36, 2, 0}, // store(2056, local 0)
	[]byte{0x20, 0, 0x42, 0x7f, 0x37, 3, 0},                            // store(local 0, -1)
	wasmtest.Const(2048), []byte{0xad, 0x42, 32, 0x86, 0x42, 12, 0x84}, // 2048<<32 | 12
)

// Each call finds its memory as small as at the beginning, and what it grows
// by is zero, whatever earlier calls left there.
func TestAccept_SB1_AMemoryThatGrewIsSmallAgain(t *testing.T) {
	t.Parallel()
	for _, reset := range resets {
		t.Run(reset.String(), func(t *testing.T) {
			t.Parallel()
			m := load(t, open(t, Config{Reset: reset}), small(growBody).Bytes())
			calls := 500
			if reset == ResetFresh {
				calls = 20
			}
			want := []byte{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0} // zeros, and page 1
			for i := range calls {
				out, err := m.Call(context.Background(), abi.CallNode, []byte("x"))
				if err != nil {
					t.Fatalf("call %d: %v", i, err)
				}
				if !bytes.Equal(out.Bytes, want) {
					t.Fatalf("call %d sees %x, want %x", i, out.Bytes, want)
				}
			}
		})
	}
}

// The shipped modules answer the same bytes for the same fuel, however they
// are reset, in whatever order the requests come, warmed or not as one.
func TestAccept_SB1_AllResetsGiveEqualBytesAndFuel(t *testing.T) {
	t.Parallel()
	tier.Long(t, "host/internal/sandbox")
	wasm, err := os.ReadFile(filepath.Join("..", "..", "..", "bin", "modules", "challenger.wasm"))
	if err != nil {
		t.Fatalf("the modules are not built: run `make plugins` (%v)", err)
	}
	request := func(content string) []byte {
		return codec.AppendNodeRequest(nil, &abi.NodeRequest{
			Node: "n", Family: abi.FamilyIndict, Persona: abi.Persona{Name: "p", Element: abi.Fire, Alignment: "x"},
			Case: abi.CaseView{
				Labels: []string{"a", "b"}, Light: &abi.LightAnswer{Classification: "a", Confidence: 0.7},
				Evidence: []abi.Evidence{{SourceRef: "s", Content: content, RelevanceConfidence: 0.8, Supports: "a"}},
			},
		})
	}
	requests := [][]byte{request("short"), request(string(bytes.Repeat([]byte("a long line of words\n"), 4000))), {0x80}}
	warm := []Warm{{abi.CallNode, requests[0]}, {abi.CallNode, requests[0]}}
	type answer struct {
		bytes string
		fuel  uint64
	}
	var want [3]answer
	for i, reset := range append([]Reset{ResetFresh}, resets...) {
		m := must.Get(open(t, Config{Reset: reset, CacheDir: filepath.Join(shared, "cache")}).Load(context.Background(), wasm, warm...))(t)
		for round := range 3 {
			for k := range requests {
				which := (k + round) % len(requests)
				out := must.Get(m.Call(context.Background(), abi.CallNode, requests[which]))(t)
				got := answer{string(out.Bytes), *out.Fuel}
				if i == 0 && round == 0 {
					want[which] = got
				}
				if got != want[which] {
					t.Errorf("%s, request %d, round %d: %d bytes for %d, want %d bytes for %d",
						reset, which, round, len(got.bytes), got.fuel, len(want[which].bytes), want[which].fuel)
				}
			}
		}
	}
}

// A module that fails at a warming call is loaded without.
func TestAModuleThatCannotBeWarmedIsLoaded(t *testing.T) {
	t.Parallel()
	m := must.Get(open(t, Config{}).Load(context.Background(), small([]byte{wasmtest.Unreachable}).Bytes(), Warm{abi.CallNode, []byte("x")}))(t)
	if _, err := m.Call(context.Background(), abi.CallNode, []byte("x")); err == nil {
		t.Error("it does not trap any more")
	}
}
