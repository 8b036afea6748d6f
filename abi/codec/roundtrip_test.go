package codec_test

import (
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// Every valid value of every type: host and guest write the same bytes, and
// read the value back from them.
func TestRoundTrip(t *testing.T) {
	t.Parallel()
	m := loadModel(t)
	for _, p := range pairs {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(t *rapid.T) {
				v := p.fresh()
				draw(t, m.Struct(p.name), reflect.ValueOf(v).Elem())
				data := p.host(v)
				if guest := p.guest(v); string(guest) != string(data) {
					t.Fatalf("host:  %x\nguest: %x", data, guest)
				}
				back, err := p.decodeHost(data)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(v, back); diff != "" {
					t.Fatal(diff)
				}
				again, err := p.decodeGuest(data)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(v, again); diff != "" {
					t.Fatal(diff)
				}
			})
		})
	}
}

// The pairs hold every type of the contract.
func TestPairsAreComplete(t *testing.T) {
	t.Parallel()
	m := loadModel(t)
	if len(m.Structs) != len(pairs) || len(pairs) == 0 {
		t.Errorf("%d types, %d pairs", len(m.Structs), len(pairs))
	}
}
