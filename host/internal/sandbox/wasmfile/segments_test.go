package wasmfile_test

import (
	"bytes"
	"encoding/binary"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/shadowcourt/shadowcourt/host/internal/sandbox/wasmfile"
	"github.com/shadowcourt/shadowcourt/internal/testkit/wasmtest"
)

type segment struct {
	offset int
	bytes  []byte
}

func withSegments(segments []segment) []byte {
	body := wasmtest.Uint(nil, len(segments))
	for _, s := range segments {
		body = append(append(append(body, 0), wasmtest.Const(int32(s.offset))...), wasmtest.End)
		body = append(wasmtest.Uint(body, len(s.bytes)), s.bytes...)
	}
	wasm := wasmtest.Section(slices.Clone(header), 5, []byte{1, 0, 1})
	return wasmtest.Section(wasm, 11, body)
}

// segmentsOf reads a module of withSegments.
func segmentsOf(t interface{ Fatalf(string, ...any) }, wasm []byte) []segment {
	b := wasm[len(header)+5:]
	if b[0] != 11 {
		t.Fatalf("no data section in % x", wasm)
	}
	number := func() int {
		v, n := binary.Uvarint(b)
		b = b[n:]
		return int(v)
	}
	b = b[1:]
	number()
	var segments []segment
	for range number() {
		b = b[2:] // flags, i32.const
		end := bytes.IndexByte(b, wasmtest.End)
		s := segment{}
		for i, c := range b[:end] {
			s.offset |= int(c&0x7f) << (7 * i)
		}
		b = b[end+1:]
		n := number()
		s.bytes, b = b[:n], b[n:]
		segments = append(segments, s)
	}
	return segments
}

func fill(segments []segment) []byte {
	memory := make([]byte, 65536)
	for _, s := range segments {
		copy(memory[s.offset:], s.bytes)
	}
	return memory
}

// Joined segments leave the same memory, in whatever order and however they
// overlap.
func TestJoinedSegmentsMeanTheSame(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		segments := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) segment {
			return segment{
				// None of these encodes to a byte 0x0b, which ends the expression.
				offset: rapid.IntRange(0, 30).Draw(t, "offset")*20 + rapid.IntRange(0, 2).Draw(t, "stretch")*9000,
				bytes:  rapid.SliceOfN(rapid.ByteRange(1, 255), 0, 50).Draw(t, "bytes"),
			}
		}), 1, 12).Draw(t, "segments")
		if rapid.Bool().Draw(t, "ascending") {
			slices.SortStableFunc(segments, func(a, b segment) int { return a.offset - b.offset })
		}
		segments = slices.DeleteFunc(segments, func(s segment) bool { return bytes.IndexByte(wasmtest.Const(int32(s.offset))[1:], wasmtest.End) >= 0 })
		file, err := wasmfile.Parse(withSegments(segments))
		if err != nil {
			t.Fatal(err)
		}
		joined, err := file.Executable(1)
		if err != nil {
			t.Fatal(err)
		}
		got := segmentsOf(t, joined)
		if !bytes.Equal(fill(got), fill(segments)) {
			t.Fatalf("%v became %v", segments, got)
		}
		if len(got) > len(segments) {
			t.Fatalf("%d segments became %d", len(segments), len(got))
		}
	})
}

func TestNeighbouringSegmentsAreJoined(t *testing.T) {
	t.Parallel()
	file := parse(t, withSegments([]segment{{16, []byte("ab")}, {18, []byte("c")}, {30, []byte("d")}, {30 + 66, []byte("e")}}))
	joined, err := file.Executable(1)
	if err != nil {
		t.Fatal(err)
	}
	got := segmentsOf(t, joined)
	if len(got) != 2 || string(got[0].bytes) != "abc\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00d" || got[1].offset != 96 {
		t.Errorf("got %v", got)
	}
}

// What an earlier segment has written in a gap is not wiped out.
func TestGapsThatAreWrittenAreNotFilled(t *testing.T) {
	t.Parallel()
	segments := []segment{{40, []byte("earlier")}, {0, []byte("a")}, {60, []byte("b")}}
	joined, err := parse(t, withSegments(segments)).Executable(1)
	if err != nil {
		t.Fatal(err)
	}
	if got := segmentsOf(t, joined); !bytes.Equal(fill(got), fill(segments)) {
		t.Errorf("%v became %v", segments, got)
	}
}
