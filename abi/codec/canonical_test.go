package codec_test

import (
	"encoding/hex"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/abitest"
)

// Every canonical message is read by the layout of its type: a module would
// take twice as much fuel to decode it otherwise, and nothing else would show it.
func TestCanonicalMessagesAreReadByLayout(t *testing.T) {
	t.Parallel()
	sets, err := abitest.Sets()
	if err != nil {
		t.Fatal(err)
	}
	read := 0
	for _, set := range sets {
		m := messageNamed(t, set.Type)
		for i := range set.Vectors {
			v := &set.Vectors[i]
			message, err := v.Message()
			if err != nil {
				t.Fatal(err)
			}
			if len(message) <= abi.DefaultInputBytes {
				_, _ = decode(t, m, message)
			}
			if !v.Valid || !m.HasLayout {
				continue
			}
			canonical, err := hex.DecodeString(v.Canonical)
			if err != nil {
				t.Fatal(err)
			}
			read++
			if _, ok := m.ReadByLayout(canonical); !ok {
				t.Errorf("%s, %s: is not read by layout", set.Type, v.Name)
			}
		}
	}
	if read < 100 {
		t.Errorf("only %d messages were read", read)
	}
	for _, name := range []string{"node_request", "contest_request", "edge_request"} {
		if !messageNamed(t, name).HasLayout {
			t.Errorf("%s has no layout", name)
		}
	}
}

func TestAFlagIsABool(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]bool{"\xc2": true, "\xc3": true, "\xc0": false, "\x00": false, "\xa0": false} {
		if _, got := messageNamed(t, "param").ReadByLayout([]byte("\x82\xa4name\xa1x\xa4flag" + value)); got != want {
			t.Errorf("a flag of %x is read: %v", value, got)
		}
	}
}
