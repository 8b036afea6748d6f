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
	"github.com/shadowcourt/shadowcourt/abi/internal/model"
)

// hold demands of one message of a type that host and guest agree on it, and
// that what they accept has one canonical form.
func (p pair) hold(t testing.TB, data []byte) {
	t.Helper()
	canonical, refused := p.agree(t, data)
	if refused != nil {
		return
	}
	again, refused := p.agree(t, canonical)
	if refused != nil || !bytes.Equal(again, canonical) {
		t.Fatalf("%s: canonical form %x is read as %x (%v)", p.name, canonical, again, refused)
	}
}

// FuzzAgree feeds any bytes to the decoders of host and guest, as any type.
func FuzzAgree(f *testing.F) {
	sets, err := abitest.Sets()
	if err != nil {
		f.Fatal(err)
	}
	for _, set := range sets {
		index := slices.IndexFunc(pairs, func(p pair) bool { return p.name == set.Type })
		for i := range set.Vectors {
			v := &set.Vectors[i]
			if message, err := v.Message(); err == nil && index >= 0 && i < 8 && len(message) < 1<<12 {
				f.Add(uint8(index), message)
			}
		}
	}
	f.Add(uint8(0), []byte("\x81\xa1x\xdd\xff\xff\xff\xff"))
	f.Fuzz(func(t *testing.T, index uint8, data []byte) {
		pairs[int(index)%len(pairs)].hold(t, data)
	})
}

// sample gives the canonical bytes of some valid value.
func sample(m *model.Model, p pair, seed int) []byte {
	data := rapid.Custom(func(t *rapid.T) []byte {
		v := p.fresh()
		draw(t, m.Struct(p.name), reflect.ValueOf(v).Elem())
		return p.host(v)
	})
	return data.Example(seed)
}

// Valid messages, cut and with bytes changed, are read alike by both sides.
// The changes favour the codes of msgpack, at which decoders differ.
func TestMutatedMessagesAreReadAlike(t *testing.T) {
	t.Parallel()
	m := loadModel(t)
	codes := []byte{0xc0, 0xc1, 0xc4, 0xc6, 0xc7, 0xc9, 0xca, 0xcb, 0xcc, 0xcf, 0xd0, 0xd3, 0xd4, 0xd8, 0xd9, 0xdb, 0xdc, 0xdd, 0xde, 0xdf, 0x80, 0x9f, 0xa0, 0xff, 0x7f}
	rounds := 300
	if testing.Short() {
		rounds = 30
	}
	for i, p := range pairs {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(7, uint64(i)))
			for seed := range 5 {
				valid := sample(m, p, seed)
				for range rounds {
					data := bytes.Clone(valid)
					for range 1 + random.IntN(3) {
						data[random.IntN(len(data))] = codes[random.IntN(len(codes))]
					}
					p.hold(t, data)
					p.hold(t, data[:random.IntN(len(data)+1)])
				}
			}
		})
	}
}

// Every prefix of a valid message is rejected by both sides, by the same problems.
func TestEveryPrefixIsRefused(t *testing.T) {
	t.Parallel()
	m := loadModel(t)
	for _, p := range pairs {
		valid := sample(m, p, 3)
		for n := range min(len(valid), 400) {
			if _, refused := p.agree(t, valid[:n]); refused == nil {
				t.Errorf("%s: the first %d of %d bytes are accepted", p.name, n, len(valid))
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
		p := pairNamed(t, typ)
		for _, filler := range []byte{0xc0, 0x80, 0x01, 0xa0, 0xc1} {
			data := append(append([]byte(head), claim...), bytes.Repeat([]byte{filler}, size)...)
			for side, decode := range map[string]func([]byte) (any, error){"host": p.decodeHost, "guest": p.decodeGuest} {
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				_, err := decode(data)
				runtime.ReadMemStats(&after)
				if err == nil {
					t.Errorf("%s %s filled with %#x is accepted", side, typ, filler)
				}
				if got := after.TotalAlloc - before.TotalAlloc; got > 80*size {
					t.Errorf("%s %s filled with %#x: %d bytes for a message of %d", side, typ, filler, got, size)
				}
			}
		}
	}
}
