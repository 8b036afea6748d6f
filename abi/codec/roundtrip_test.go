package codec_test

import (
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/shadowcourt/shadowcourt/abi/codec"
)

// Every valid value of every type is read back from its encoding, by the strict
// decoder and by layout.
func TestRoundTrip(t *testing.T) {
	t.Parallel()
	types := loadModel(t)
	if len(types.Structs) != len(codec.Messages) {
		t.Errorf("%d types, %d messages", len(types.Structs), len(codec.Messages))
	}
	for _, m := range codec.Messages {
		t.Run(m.Name, func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(t *rapid.T) {
				v := m.New()
				draw(t, types.Struct(m.Name), reflect.ValueOf(v).Elem())
				data := m.Encode(v)
				back, err := m.Decode(data)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(v, back); diff != "" {
					t.Fatal(diff)
				}
				byLayout, ok := m.ReadByLayout(data)
				if ok != m.HasLayout {
					t.Fatalf("read by layout: %t", ok)
				}
				if diff := cmp.Diff(v, byLayout); ok && diff != "" {
					t.Fatal(diff)
				}
			})
		})
	}
}
