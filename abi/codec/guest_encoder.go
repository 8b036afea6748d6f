package codec

import "math"

// guestEncoder appends canonical msgpack, for guests. Its methods are not inlined: they are
// called from every field of every type, and their bodies would add a tenth of
// a megabyte to a guest.
type guestEncoder struct{ b []byte }

// number writes a code and the low bytes of n, big-endian.
//
//go:noinline
func (e *guestEncoder) number(code byte, bytes int, n uint64) {
	e.b = append(e.b, code)
	for shift := 8 * (bytes - 1); shift >= 0; shift -= 8 {
		e.b = append(e.b, byte(n>>shift))
	}
}

// sized writes a length with its code: fixed up to most, else the first of
// the codes whose width holds it. narrow is the width of the first code.
//
//go:noinline
func (e *guestEncoder) sized(n int, fixed byte, most int, first byte, narrow int) {
	switch {
	case n <= most:
		e.b = append(e.b, fixed|byte(n))
	case narrow == 1 && n <= math.MaxUint8:
		e.b = append(e.b, first, byte(n))
	case n <= math.MaxUint16:
		e.number(first+byte(2-narrow), 2, uint64(n))
	default:
		e.number(first+byte(3-narrow), 4, uint64(n))
	}
}

//go:noinline
func (e *guestEncoder) mapLen(n int) { e.sized(n, 0x80, 15, 0xde, 2) }

//go:noinline
func (e *guestEncoder) listLen(n int) { e.sized(n, 0x90, 15, 0xdc, 2) }

//go:noinline
func (e *guestEncoder) text(s string) {
	if n := len(s); n <= 31 { // as most are
		e.b = append(append(e.b, 0xa0|byte(n)), s...)
		return
	}
	e.sized(len(s), 0xa0, 31, 0xd9, 1)
	e.b = append(e.b, s...)
}

//go:noinline
func (e *guestEncoder) boolean(v bool) {
	if v {
		e.b = append(e.b, 0xc3)
	} else {
		e.b = append(e.b, 0xc2)
	}
}

//go:noinline
func (e *guestEncoder) float(f float64) {
	if f == 0 {
		f = 0 // not -0
	}
	n := math.Float64bits(f)
	e.b = append(e.b, 0xcb, byte(n>>56), byte(n>>48), byte(n>>40), byte(n>>32), byte(n>>24), byte(n>>16), byte(n>>8), byte(n))
}

//go:noinline
func (e *guestEncoder) integer(n int64) {
	switch {
	case n >= -32 && n <= math.MaxInt8:
		e.b = append(e.b, byte(n))
	case n >= 0 && n <= math.MaxUint8:
		e.b = append(e.b, 0xcc, byte(n))
	case n >= 0 && n <= math.MaxUint16:
		e.number(0xcd, 2, uint64(n))
	case n >= 0 && n <= math.MaxUint32:
		e.number(0xce, 4, uint64(n))
	case n >= 0:
		e.number(0xcf, 8, uint64(n))
	case n >= math.MinInt8:
		e.b = append(e.b, 0xd0, byte(n))
	case n >= math.MinInt16:
		e.number(0xd1, 2, uint64(n))
	case n >= math.MinInt32:
		e.number(0xd2, 4, uint64(n))
	default:
		e.number(0xd3, 8, uint64(n))
	}
}
