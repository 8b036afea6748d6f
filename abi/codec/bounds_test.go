package codec_test

import (
	"errors"
	"runtime"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/codec"
	mt "github.com/shadowcourt/shadowcourt/abi/internal/msgtree"
)

// TestALongListCostsLittle decodes the response that costs most for its size: a million empty strings.
func TestALongListCostsLittle(t *testing.T) {
	empty := make([]mt.Node, 1_000_000)
	for i := range empty {
		empty[i] = mt.StringNode("")
	}
	message := mt.MapNode(mt.F("artifact", mt.MapNode(mt.F("resolve", mt.MapNode(mt.F("selected", mt.ListNode(
		mt.MapNode(mt.F("name", mt.StringNode("a")), mt.F("focus_paths", mt.ListNode(empty...)), mt.F("reason", mt.StringNode(""))),
	))))))).Bytes()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := codec.DecodeNodeResponse(message, abi.DefaultOutputBytes)
	runtime.ReadMemStats(&after)
	if invalid := (*abi.ValidationError)(nil); !errors.As(err, &invalid) || invalid.Problems[0].Code != abi.CodeBadCount {
		t.Errorf("error is %v, want bad_count", err)
	}
	if n := after.TotalAlloc - before.TotalAlloc; n > 1<<20 {
		t.Errorf("a message of %d bytes costs %d bytes", len(message), n)
	}
}
