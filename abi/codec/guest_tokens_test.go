//go:build !wasm

package codec

import (
	"encoding/hex"
	"math"
	"strings"
	"testing"
)

// The shortest form of every width, at its ends, read back by the tokens.
func TestIntegers(t *testing.T) {
	t.Parallel()
	for n, want := range map[int64]string{
		0: "00", 1: "01", math.MaxInt8: "7f", math.MaxInt8 + 1: "cc80", math.MaxUint8: "ccff", math.MaxUint8 + 1: "cd0100",
		math.MaxUint16: "cdffff", math.MaxUint16 + 1: "ce00010000", math.MaxUint32: "ceffffffff", math.MaxUint32 + 1: "cf0000000100000000",
		math.MaxInt64: "cf7fffffffffffffff",
		-1:            "ff", -32: "e0", -33: "d0df", math.MinInt8: "d080", math.MinInt8 - 1: "d1ff7f", math.MinInt16: "d18000",
		math.MinInt16 - 1: "d2ffff7fff", math.MinInt32: "d280000000", math.MinInt32 - 1: "d3ffffffff7fffffff", math.MinInt64: "d38000000000000000",
	} {
		e := &guestEncoder{}
		e.integer(n)
		if got := hex.EncodeToString(e.b); got != want {
			t.Errorf("%d is written as %s, want %s", n, got, want)
		}
		d := &guestTokens{data: e.b}
		if got, big, ok := d.int(); got != n || big != 0 || !ok || d.rest() != 0 {
			t.Errorf("%s is read as %d (%d, %t), want %d", want, got, big, ok, n)
		}
	}
	d := &guestTokens{data: []byte("\xcf\x80\x00\x00\x00\x00\x00\x00\x00")}
	if _, big, ok := d.int(); big != 1<<63 || !ok {
		t.Errorf("1<<63 is read as %d (%t)", big, ok)
	}
}

func TestZeroHasNoSign(t *testing.T) {
	t.Parallel()
	guest, minus := guestEncoder{}, math.Copysign(0, -1)
	guest.float(minus)
	host := appendMessage(nil, &minus, func(e *encoder, v *float64) { e.float(*v) })
	if want := "\xcb\x00\x00\x00\x00\x00\x00\x00\x00"; string(guest.b) != want || string(host) != want {
		t.Errorf("-0 is %x to the host, %x to a guest", host, guest.b)
	}
}

// Headers of strings, lists and maps change their width at these lengths.
func TestLengths(t *testing.T) {
	t.Parallel()
	for n, want := range map[int][3]string{
		15:    {"af", "9f", "8f"},
		16:    {"b0", "dc0010", "de0010"},
		31:    {"bf", "dc001f", "de001f"},
		32:    {"d920", "dc0020", "de0020"},
		255:   {"d9ff", "dc00ff", "de00ff"},
		256:   {"da0100", "dc0100", "de0100"},
		65535: {"daffff", "dcffff", "deffff"},
		65536: {"db00010000", "dd00010000", "df00010000"},
	} {
		var got [3]string
		e := &guestEncoder{}
		e.text(strings.Repeat("x", n))
		got[0] = hex.EncodeToString(e.b[:len(e.b)-n])
		e = &guestEncoder{}
		e.listLen(n)
		got[1] = hex.EncodeToString(e.b)
		e = &guestEncoder{}
		e.mapLen(n)
		got[2] = hex.EncodeToString(e.b)
		if got != want {
			t.Errorf("%d: %v, want %v", n, got, want)
		}
	}
}
