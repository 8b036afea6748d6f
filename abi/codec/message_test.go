package codec_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/codec"
	"github.com/shadowcourt/shadowcourt/abi/testkit/vectors"
	"github.com/shadowcourt/shadowcourt/internal/testkit/check"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

// decode reads a message with the strict decoder and by layout, as guests do,
// checks that the two agree, and returns the canonical bytes or the problems.
func decode(t testing.TB, m codec.Message, data []byte) ([]byte, *abi.ValidationError) {
	t.Helper()
	before := bytes.Clone(data)
	v, err := m.Decode(data)
	if !bytes.Equal(data, before) {
		t.Fatalf("%s: decoding changed the message", m.Name)
	}
	byLayout, ok := m.ReadByLayout(data)
	if rejected := problems(t, err); rejected != nil {
		if ok {
			t.Fatalf("%s: %x is read by layout, but the decoder reports %v", m.Name, data, err)
		}
		if !reflect.ValueOf(v).Elem().IsZero() {
			t.Fatalf("%s: a part of a rejected message was returned", m.Name)
		}
		return nil, rejected
	}
	canonical := m.Encode(v)
	if ok && !bytes.Equal(m.Encode(byLayout), canonical) {
		t.Fatalf("%s: %x\nstrict:    %x\nby layout: %x", m.Name, data, canonical, m.Encode(byLayout))
	}
	if !ok && m.HasLayout && bytes.Equal(data, canonical) {
		t.Fatalf("%s: %x is canonical, but not read by layout", m.Name, data)
	}
	return canonical, nil
}

// decodeTwice requires in addition that an accepted message has one canonical form.
func decodeTwice(t testing.TB, m codec.Message, data []byte) {
	t.Helper()
	canonical, rejected := decode(t, m, data)
	if rejected != nil {
		return
	}
	again, rejected := decode(t, m, canonical)
	if rejected != nil || !bytes.Equal(again, canonical) {
		t.Fatalf("%s: canonical form %x is read as %x (%v)", m.Name, canonical, again, rejected)
	}
}

func problems(t testing.TB, err error) *abi.ValidationError {
	t.Helper()
	if err == nil {
		return nil
	}
	var v *abi.ValidationError
	if !errors.As(err, &v) || len(v.Problems) == 0 {
		t.Fatalf("error is %T: %v", err, err)
	}
	return v
}

func messageNamed(t testing.TB, name string) codec.Message {
	t.Helper()
	for _, m := range codec.Messages {
		if m.Name == name {
			return m
		}
	}
	t.Fatalf("no type %q", name)
	return codec.Message{}
}

var readVectors = sync.OnceValues(vectors.Sets)

// samples gives up to n valid messages of a type in canonical form, of those that are not large, the richest last.
func samples(t testing.TB, name string, n int) [][]byte {
	t.Helper()
	sets := must.Get(readVectors())(t)
	seen := map[string]bool{}
	var list [][]byte
	for _, v := range sets[slices.IndexFunc(sets, func(s vectors.Set) bool { return s.Type == name })].Vectors {
		canonical := must.Get(hex.DecodeString(v.Canonical))(t)
		if v.Valid && len(canonical) < 1<<12 && !seen[v.Canonical] {
			seen[v.Canonical] = true
			list = append(list, canonical)
		}
	}
	slices.SortStableFunc(list, func(a, b []byte) int { return len(a) - len(b) })
	step := max(1, len(list)/n)
	var out [][]byte
	for i := len(list) - 1; i >= 0 && len(out) < n; i -= step {
		out = append(out, list[i])
	}
	slices.Reverse(out)
	return out
}

// Every canonical message is read by the layout of its type: a module would
// take twice as much fuel to decode it otherwise, and nothing else would show it.
func TestCanonicalMessagesAreReadByLayout(t *testing.T) {
	t.Parallel()
	sets := must.Get(vectors.Sets())(t)
	read := 0
	for _, set := range sets {
		m := messageNamed(t, set.Type)
		for i := range set.Vectors {
			v := &set.Vectors[i]
			message := must.Get(v.Message())(t)
			if len(message) <= abi.DefaultInputBytes {
				_, _ = decode(t, m, message)
			}
			if !v.Valid || !m.HasLayout {
				continue
			}
			canonical := must.Get(hex.DecodeString(v.Canonical))(t)
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

// FuzzAgree feeds arbitrary bytes, as any type, to the strict decoder and to the reader by layout.
func FuzzAgree(f *testing.F) {
	sets, err := vectors.Sets()
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

// mutated gives valid messages of a type, cut and with bytes changed. The changes favour the codes of msgpack, at which decoders differ.
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

// The codec as it is built for modules gives the same bytes and the same problems as the host's, for every vector and for mutated messages.
// The host's answers to the vectors are checked in package vectors.
func TestAccept_FR10_GuestCodecRejectsEveryClassOfEveryType(t *testing.T) {
	t.Parallel()
	sets := must.Get(vectors.Sets())(t)
	var asked bytes.Buffer
	var want []string
	ask := func(name string, maxBytes int, data []byte) {
		fmt.Fprintf(&asked, "%s %d %x\n", name, maxBytes, data)
		c, _ := codec.Lookup(name)
		canonical, err := c.Canonical(data, maxBytes)
		line := hex.EncodeToString(canonical)
		if rejected, ok := errors.AsType[*abi.ValidationError](err); ok {
			line = fmt.Sprintf("%+q", rejected.Problems) + strconv.Itoa(rejected.Omitted)
		}
		want = append(want, line)
	}
	for i := range sets {
		for j := range sets[i].Vectors {
			v := &sets[i].Vectors[j]
			message := must.Get(v.Message())(t)
			ask(sets[i].Type, v.Limit, message)
		}
	}
	for i, m := range codec.Messages {
		for _, data := range mutated(t, m, rand.New(rand.NewPCG(11, uint64(i))), 20) {
			ask(m.Name, 0, data)
		}
	}
	// Headers change their width at these lengths and numbers.
	for _, n := range []int{15, 16, 31, 32, 127, 128, 255, 256, 65535, 65536, math.MaxUint32, math.MaxUint32 + 1, math.MaxInt64} {
		ask("position", 0, messageNamed(t, "position").Encode(&abi.Position{Node: "x", Pass: n}))
		if n <= 65536 {
			ask("case_view", 0, messageNamed(t, "case_view").Encode(&abi.CaseView{Subject: strings.Repeat("x", n), Labels: make([]string, n)}))
		}
	}
	ask("evidence", 0, pack(t, evidence.with("relevance_confidence", math.Copysign(0, -1))))
	got := strings.Split(strings.TrimSuffix(runGuest(t, asked.Bytes()), "\n"), "\n")
	if len(got) != len(want) || len(want) < 20_000 {
		t.Fatalf("%d answers to %d messages", len(got), len(want))
	}
	lines := strings.Split(asked.String(), "\n")
	for i := range want {
		check.Equal(t, got[i], want[i], lines[i], "guest", "host")
	}
}

// runGuest builds testdata/guest for WebAssembly and runs it.
func runGuest(t *testing.T, stdin []byte) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "guest.wasm")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", file, "./testdata/guest")
	build.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	wasm := must.Get(os.ReadFile(file))(t)
	ctx := t.Context()
	r := wazero.NewRuntime(ctx)
	defer func() { _ = r.Close(ctx) }()
	wasi_snapshot_preview1.MustInstantiate(ctx, r)
	var out bytes.Buffer
	config := wazero.NewModuleConfig().WithStdin(bytes.NewReader(stdin)).WithStdout(&out).WithStderr(os.Stderr)
	must.Get(r.InstantiateWithConfig(ctx, wasm, config))(t)
	return out.String()
}
