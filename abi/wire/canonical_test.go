package wire_test

import (
	"encoding/hex"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi/abitest"
	"github.com/shadowcourt/shadowcourt/abi/wire"
)

// Every message in canonical form is read by the layout of its type: a
// module would be several times as slow otherwise, and nothing else would tell.
// What the decoder rejects is never read so.
func TestCanonicalMessagesAreReadByLayout(t *testing.T) {
	t.Parallel()
	sets, err := abitest.Sets()
	if err != nil {
		t.Fatal(err)
	}
	read := 0
	for _, set := range sets {
		if !wire.Laid(set.Type) {
			continue
		}
		for i := range set.Vectors {
			v := &set.Vectors[i]
			message, err := v.Message()
			if err != nil {
				t.Fatal(err)
			}
			if v.Limit > 0 && len(message) > v.Limit {
				continue // for the host
			}
			if !v.Valid {
				if wire.Reads(set.Type, message) {
					t.Errorf("%s, %s: is read, and must be rejected", set.Type, v.Name)
				}
				continue
			}
			canonical, err := hex.DecodeString(v.Canonical)
			if err != nil {
				t.Fatal(err)
			}
			read++
			if !wire.Reads(set.Type, canonical) {
				t.Errorf("%s, %s: is not read by layout", set.Type, v.Name)
			}
		}
	}
	if read < 100 {
		t.Errorf("only %d messages were read", read)
	}
	for _, name := range []string{"node_request", "contest_request", "edge_request"} {
		if !wire.Laid(name) {
			t.Errorf("%s has no layout", name)
		}
	}
}

func TestAFlagIsABool(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]bool{"\xc2": true, "\xc3": true, "\xc0": false, "\x00": false, "\xa0": false} {
		if got := wire.Reads("param", []byte("\x82\xa4name\xa1x\xa4flag"+value)); got != want {
			t.Errorf("a flag of %x is read: %v", value, got)
		}
	}
}
