package codec_test

import (
	"bytes"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi/abitest"
	"github.com/shadowcourt/shadowcourt/abi/codec"
	"github.com/shadowcourt/shadowcourt/internal/testkit/tier"
)

// FuzzAgree feeds arbitrary bytes, as any type, to the strict decoder and to the reader by layout.
func FuzzAgree(f *testing.F) {
	sets, err := abitest.Sets()
	if err != nil {
		f.Fatal(err)
	}
	for _, set := range sets {
		index := slices.IndexFunc(codec.Messages, func(m codec.Message) bool { return m.Name == set.Type })
		for i := range set.Vectors {
			v := &set.Vectors[i]
			if message, err := v.Message(); err == nil && index >= 0 && i < 8 && len(message) < 1<<12 {
				f.Add(uint8(index), message)
			}
		}
	}
	f.Add(uint8(0), []byte("\x81\xa1x\xdd\xff\xff\xff\xff"))
	f.Fuzz(func(t *testing.T, index uint8, data []byte) {
		decodeTwice(t, codec.Messages[int(index)%len(codec.Messages)], data)
	})
}

// mutated gives valid messages of a type, cut and with bytes changed. The
// changes favour the codes of msgpack, at which decoders differ.
func mutated(t testing.TB, m codec.Message, random *rand.Rand, rounds int) [][]byte {
	t.Helper()
	codes := []byte{0xc0, 0xc1, 0xc4, 0xc6, 0xc7, 0xc9, 0xca, 0xcb, 0xcc, 0xcf, 0xd0, 0xd3, 0xd4, 0xd8, 0xd9, 0xdb, 0xdc, 0xdd, 0xde, 0xdf, 0x80, 0x9f, 0xa0, 0xff, 0x7f}
	var list [][]byte
	for _, valid := range samples(t, m.Name, 5) {
		for range rounds {
			data := bytes.Clone(valid)
			for range 1 + random.IntN(3) {
				data[random.IntN(len(data))] = codes[random.IntN(len(codes))]
			}
			list = append(list, data, data[:random.IntN(len(data)+1)])
		}
	}
	return list
}

func TestMutatedMessagesAreReadAlike(t *testing.T) {
	t.Parallel()
	rounds := 30
	if tier.Whole() {
		rounds = 300
	}
	for i, m := range codec.Messages {
		t.Run(m.Name, func(t *testing.T) {
			t.Parallel()
			for _, data := range mutated(t, m, rand.New(rand.NewPCG(7, uint64(i))), rounds) {
				decodeTwice(t, m, data)
			}
		})
	}
}

// Every prefix of a valid message is rejected.
func TestEveryPrefixIsRejected(t *testing.T) {
	t.Parallel()
	for _, m := range codec.Messages {
		valid := samples(t, m.Name, 1)[0]
		for n := range min(len(valid), 400) {
			if _, rejected := decode(t, m, valid[:n]); rejected == nil {
				t.Errorf("%s: the first %d of %d bytes are accepted", m.Name, n, len(valid))
			}
		}
	}
}

// What a message only claims to hold takes no memory, and what it holds takes memory in proportion: of a list that is too long, none.
func TestDecodingTakesMemoryInProportion(t *testing.T) {
	const size = 1 << 18
	claim := "\xdd\x00\x03\xf0\x00" // a list of 258,048
	costs := func(typ, head string, filler byte, most uint64) {
		data := append([]byte(head+claim), bytes.Repeat([]byte{filler}, size)...)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := messageNamed(t, typ).Decode(data)
		runtime.ReadMemStats(&after)
		if got := after.TotalAlloc - before.TotalAlloc; err == nil || got > most {
			t.Errorf("%s filled with %#x: %d bytes for a message of %d (%v)", typ, filler, got, size, err)
		}
	}
	for typ, head := range map[string]string{"discovery": "\x81\xa8findings", "audit_report": "\x81\xa7results", "case": "\x81\xa6labels", "manifest": "\x81\xa5calls"} {
		for _, filler := range []byte{0xc0, 0x80, 0x01, 0xa0, 0xc1} {
			costs(typ, head, filler, 80*size)
		}
	}
	costs("resolve_result", "\x81\xa8selected\x91\x81\xabfocus_paths", 0xa0, 1<<20)
}
