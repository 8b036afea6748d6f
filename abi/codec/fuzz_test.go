package codec_test

import (
	"bytes"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/shadowcourt/shadowcourt/abi/abitest"
	"github.com/shadowcourt/shadowcourt/abi/codec"
	"github.com/shadowcourt/shadowcourt/abi/internal/model"
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

// sample gives the canonical bytes of some valid value.
func sample(types *model.Model, m codec.Message, seed int) []byte {
	data := rapid.Custom(func(t *rapid.T) []byte {
		v := m.New()
		draw(t, types.Struct(m.Name), reflect.ValueOf(v).Elem())
		return m.Encode(v)
	})
	return data.Example(seed)
}

// mutated gives valid messages of a type, cut and with bytes changed. The
// changes favour the codes of msgpack, at which decoders differ.
func mutated(types *model.Model, m codec.Message, random *rand.Rand, rounds int) [][]byte {
	codes := []byte{0xc0, 0xc1, 0xc4, 0xc6, 0xc7, 0xc9, 0xca, 0xcb, 0xcc, 0xcf, 0xd0, 0xd3, 0xd4, 0xd8, 0xd9, 0xdb, 0xdc, 0xdd, 0xde, 0xdf, 0x80, 0x9f, 0xa0, 0xff, 0x7f}
	var list [][]byte
	for seed := range 5 {
		valid := sample(types, m, seed)
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
	types := loadModel(t)
	rounds := 30
	if tier.Whole() {
		rounds = 300
	}
	for i, m := range codec.Messages {
		t.Run(m.Name, func(t *testing.T) {
			t.Parallel()
			for _, data := range mutated(types, m, rand.New(rand.NewPCG(7, uint64(i))), rounds) {
				decodeTwice(t, m, data)
			}
		})
	}
}

// Every prefix of a valid message is rejected.
func TestEveryPrefixIsRejected(t *testing.T) {
	t.Parallel()
	types := loadModel(t)
	for _, m := range codec.Messages {
		valid := sample(types, m, 3)
		for n := range min(len(valid), 400) {
			if _, rejected := decode(t, m, valid[:n]); rejected == nil {
				t.Errorf("%s: the first %d of %d bytes are accepted", m.Name, n, len(valid))
			}
		}
	}
}

// What a message only claims to hold takes no memory, and what it holds takes
// memory in proportion.
func TestDecodingTakesMemoryInProportion(t *testing.T) {
	const size = 1 << 18
	claim := []byte("\xdd\x00\x03\xf0\x00") // a list of 258,048
	for typ, head := range map[string]string{"discovery": "\x81\xa8findings", "audit_report": "\x81\xa7results", "case": "\x81\xa6labels", "manifest": "\x81\xa5calls"} {
		m := messageNamed(t, typ)
		for _, filler := range []byte{0xc0, 0x80, 0x01, 0xa0, 0xc1} {
			data := append(append([]byte(head), claim...), bytes.Repeat([]byte{filler}, size)...)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := m.Decode(data)
			runtime.ReadMemStats(&after)
			if err == nil {
				t.Errorf("%s filled with %#x is accepted", typ, filler)
			}
			if got := after.TotalAlloc - before.TotalAlloc; got > 80*size {
				t.Errorf("%s filled with %#x: %d bytes for a message of %d", typ, filler, got, size)
			}
		}
	}
}
