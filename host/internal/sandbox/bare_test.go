package sandbox

import (
	"context"
	"errors"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
)

// A bare instance goes on where the last call left it, however it is metered,
// and the module closes after it.
func TestBareInstancesAreNotPutBack(t *testing.T) {
	if testing.Short() {
		t.Skip("nothing runs beside it, and the race detector makes the compiler slow")
	}
	t.Parallel()
	for _, metering := range []Metering{MeterFuel, MeterNone, MeterRuntime} {
		m, err := open(t, Config{Metering: metering, CacheDir: shared + "/cache"}).Load(t.Context(), goGuest(t))
		if err != nil {
			t.Fatal(err)
		}
		bare, err := m.Bare(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for i := range 3 {
			out, err := bare.Call(t.Context(), abi.CallNode, []byte("c"))
			if err != nil || int(out.Bytes[0]) != i+1 {
				t.Errorf("metering %d, call %d: %v, %v", metering, i, out.Bytes, err)
			}
			if metered := *out.Fuel > 100; metered != (metering == MeterFuel) {
				t.Errorf("metering %d: %d units", metering, *out.Fuel)
			}
		}
		if got := call(t, m, "c"); got[0] != 1 {
			t.Errorf("a call of the module is number %d", got[0])
		}
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		if err := m.Close(ended); !errors.Is(err, context.Canceled) {
			t.Errorf("closed while a bare instance is there: %v", err)
		}
		bare.Close()
		if err := m.Close(t.Context()); err != nil {
			t.Error(err)
		}
		if _, err := m.Bare(t.Context()); !errors.Is(err, ErrClosed) {
			t.Errorf("a bare instance of a closed module: %v", err)
		}
	}
}

func TestResetsBeginWithTheDefault(t *testing.T) {
	t.Parallel()
	e := open(t, Config{})
	if ways := Resets(); ways[0].way() != e.pager.Way() || ways[len(ways)-1] != ResetFresh {
		t.Errorf("%v, the default is %s", ways, e.pager.Way())
	}
}
