package codec

import (
	"math"
	"math/bits"
	"unicode/utf8"
	"unsafe"

	"github.com/shadowcourt/shadowcourt/abi"
)

// padding stands behind a message, so that whole words can be read wherever the message has a byte. It is no msgpack: a reader stops there.
const padding = "\xc1\xc1\xc1\xc1\xc1\xc1\xc1\xc1\xc1\xc1\xc1\xc1\xc1\xc1\xc1\xc1\xc1\xc1\xc1\xc1" +
	"\xc1\xc1\xc1\xc1\xc1\xc1\xc1\xc1\xc1\xc1\xc1\xc1\xc1\xc1\xc1\xc1\xc1\xc1\xc1\xc1"

// padded copies a message and its padding into a string.
func padded(data []byte) string {
	b := make([]byte, len(data)+len(padding))
	copy(b[copy(b, data):], padding)
	return unsafe.String(unsafe.SliceData(b), len(b)) // nobody else has b
}

// canonical reads a message in canonical form, which is what the host sends, in one pass over the layout of its type. In a module of the Go
// toolchain a function call costs more than what there is to do for a field, so that most is done in one function. What it does not expect
// it leaves to the decoder, which begins again and says what is wrong: it may give up anywhere, but accepts nothing that the decoder
// rejects, and gives the same values.
type canonical struct {
	s        string // the message and its padding
	end      int    // of the message
	pos      int
	problems *abi.Collector
}

// readCanonical reads a whole message into *v, or gives false with anything in it.
func readCanonical(message string, l *layout, v unsafe.Pointer) bool {
	r := canonical{s: message, end: len(message) - len(padding)}
	return r.object(l, v) && r.pos == r.end // an end before the padding
}

const highBits = 0x8080808080808080

// object reads a struct. One function does nearly all, without calls.
func (r *canonical) object(l *layout, at unsafe.Pointer) bool {
	s, pos, end := r.s, r.pos, r.end
	var left int
	switch c := s[pos]; {
	case c>>4 == 8:
		left = int(c & 15)
		pos++
	case c == 0xde:
		left = int(s[pos+1])<<8 | int(s[pos+2])
		pos += 3
	default:
		return false
	}
	for i := range l.slots {
		f := &l.slots[i]
		if pos > end {
			return false
		}
		if f.size <= 8 {
			if word(s, pos)<<f.shift != f.key[0] {
				if !f.optional {
					return false
				}
				continue
			}
		} else {
			differs := word(s, pos) ^ f.key[0]
			at, k := pos+8, 1
			for ; k < (f.size-1)>>3; k++ {
				differs |= word(s, at) ^ f.key[k&3]
				at += 8
			}
			differs |= word(s, at)<<f.shift ^ f.key[k&3]
			if differs != 0 {
				if !f.optional {
					return false
				}
				continue
			}
		}
		left--
		pos += f.size
		p := unsafe.Add(at, f.offset)
		switch f.kind {
		case slotText, slotEnum:
			c := s[pos]
			pos++
			var n int
			switch {
			case c>>5 == 5:
				n = int(c & 31)
			case c == 0xd9:
				n = int(s[pos])
				pos++
			case c == 0xda:
				n = int(s[pos])<<8 | int(s[pos+1])
				pos += 2
			case c == 0xdb:
				n = int(s[pos])<<24 | int(s[pos+1])<<16 | int(s[pos+2])<<8 | int(s[pos+3])
				pos += 4
			default:
				return false
			}
			if n > end-pos {
				return false
			}
			text := s[pos : pos+n]
			if f.kind == slotEnum {
				known := false
				for _, v := range f.values {
					if len(v) == n && v == text {
						text, known = v, true
						break
					}
				}
				if !known {
					return false
				}
			} else {
				if n == 0 && f.nonempty {
					return false
				}
				high := uint64(0)
				k := 0
				for ; k+8 <= n; k += 8 {
					high |= word(s, pos+k)
				}
				if k < n {
					high |= word(s, pos+k) << (64 - 8*uint(n-k))
				}
				if high&highBits != 0 && !utf8.ValidString(text) {
					return false
				}
			}
			pos += n
			*(*string)(p) = text
		case slotBool:
			c := s[pos]
			if c != 0xc2 && c != 0xc3 {
				return false
			}
			pos++
			*(*bool)(p) = c == 0xc3
		case slotInt, slotInt64:
			n := int64(s[pos])
			if n <= 0x7f && n >= f.low && n <= f.high {
				pos++
			} else {
				r.pos = pos
				var ok bool
				if n, ok = r.integer(f); !ok {
					return false
				}
				pos = r.pos
			}
			if f.kind == slotInt {
				*(*int)(p) = int(n)
			} else {
				*(*int64)(p) = n
			}
		case slotFloat:
			if s[pos] != 0xcb {
				return false
			}
			v := math.Float64frombits(bits.ReverseBytes64(word(s, pos+1)))
			pos += 9
			if !(v >= f.least && v <= f.most) {
				return false
			}
			if v == 0 {
				v = 0 // not -0
			}
			*(*float64)(p) = v
		case slotStruct:
			r.pos = pos
			if !r.object(f.layout, p) {
				return false
			}
			pos = r.pos
		case slotPointer:
			v := f.layout.one(p)
			r.pos = pos
			if !r.object(f.layout, v) {
				return false
			}
			pos = r.pos
		default:
			r.pos = pos
			if !r.rare(f, p) {
				return false
			}
			pos = r.pos
		}
	}
	if left != 0 || pos > end {
		return false
	}
	r.pos = pos
	if l.rules == nil {
		return true
	}
	if r.problems == nil {
		r.problems = new(abi.Collector)
	}
	l.rules(at, r.problems)
	return r.problems.Empty()
}

// rare reads what few fields are: lists, and scalars behind pointers.
func (r *canonical) rare(f *slot, p unsafe.Pointer) bool {
	switch f.kind { //nolint:exhaustive // object reads the others
	case slotTextPointer:
		text, ok := r.text(f)
		*(**string)(p) = &text
		return ok
	case slotFloatPointer:
		v, ok := r.float(f)
		*(**float64)(p) = &v
		return ok
	case slotBoolPointer:
		c := r.s[r.pos]
		v := c == 0xc3
		r.pos++
		*(**bool)(p) = &v
		return v || c == 0xc2
	}
	n, ok := r.length()
	if !ok || n > r.end-r.pos || (f.count.nonempty && n == 0) || n < f.count.least || (f.count.most > 0 && n > f.count.most) {
		return false
	}
	return n == 0 || r.list(f, p, n)
}

// list reads the n elements of a list.
func (r *canonical) list(f *slot, p unsafe.Pointer, n int) bool {
	switch f.kind {
	case slotList:
		l := f.layout
		if n > (r.end-r.pos)/l.smallest {
			return false
		}
		v := l.list(p, n)
		for range n {
			if !r.object(l, v) {
				return false
			}
			v = unsafe.Add(v, l.size)
		}
	case slotTexts, slotEnums:
		list := make([]string, n)
		*(*[]string)(p) = list
		for i := range list {
			var ok bool
			if list[i], ok = r.text(f); !ok {
				return false
			}
		}
	case slotInts:
		list := make([]int, n)
		*(*[]int)(p) = list
		for i := range list {
			v, ok := r.integer(f)
			if !ok {
				return false
			}
			list[i] = int(v)
		}
	default:
		return false
	}
	return true
}

// length reads the header of a list.
func (r *canonical) length() (int, bool) {
	s, pos := r.s, r.pos
	switch c := s[pos]; {
	case c>>4 == 9:
		r.pos++
		return int(c & 15), true
	case c == 0xdc:
		r.pos += 3
		return int(s[pos+1])<<8 | int(s[pos+2]), true
	case c == 0xdd:
		r.pos += 5
		return int(s[pos+1])<<24 | int(s[pos+2])<<16 | int(s[pos+3])<<8 | int(s[pos+4]), true
	}
	return 0, false
}

// text reads a string of a list or behind a pointer.
func (r *canonical) text(f *slot) (string, bool) {
	s, pos := r.s, r.pos
	var n int
	switch c := s[pos]; {
	case c>>5 == 5:
		n = int(c & 31)
		pos++
	case c == 0xd9:
		n = int(s[pos+1])
		pos += 2
	case c == 0xda:
		n = int(s[pos+1])<<8 | int(s[pos+2])
		pos += 3
	default:
		return "", false
	}
	if n > r.end-pos {
		return "", false
	}
	r.pos = pos + n
	text := s[pos : pos+n]
	if f.values == nil {
		return text, (n > 0 || !f.nonempty) && utf8.ValidString(text)
	}
	for _, v := range f.values {
		if v == text {
			return v, true
		}
	}
	return "", false
}

// float reads a float behind a pointer.
func (r *canonical) float(f *slot) (float64, bool) {
	if r.s[r.pos] != 0xcb {
		return 0, false
	}
	v := math.Float64frombits(bits.ReverseBytes64(word(r.s, r.pos+1)))
	r.pos += 9
	if v == 0 {
		v = 0 // not -0
	}
	return v, v >= f.least && v <= f.most
}

// integer reads an integer. No type has negative ones.
func (r *canonical) integer(f *slot) (n int64, ok bool) {
	c := r.s[r.pos]
	r.pos++
	switch {
	case c <= 0x7f:
		n = int64(c)
	case c >= 0xcc && c <= 0xcf:
		bytes := 1 << (c - 0xcc)
		u := bits.ReverseBytes64(word(r.s, r.pos)) >> (64 - 8*bytes)
		r.pos += bytes
		if u > math.MaxInt64 {
			return 0, false
		}
		n = int64(u)
	default:
		return 0, false
	}
	return n, n >= f.low && n <= f.high
}
