package codec

import (
	"math"
	"strconv"
	"unicode/utf8"

	"github.com/shadowcourt/shadowcourt/abi"
)

// text reads a string.
func (d *decoder) text(nonempty bool) string {
	if !d.expect(kindString) {
		return ""
	}
	b := d.bytes(d.stringLen())
	switch {
	case d.dead:
		return ""
	case nonempty && len(b) == 0: // check: empty string
		d.problems.Reject(abi.CodeEmpty, "is empty")
	case !utf8.Valid(b): // check: UTF-8 of string
		d.problems.Reject(abi.CodeInvalidUTF8, "is not valid UTF-8")
		return ""
	}
	return d.own(b)
}

// enum reads a string that is one of values, or empty if that is as good as absent.
func (d *decoder) enum(values []string, optional bool) string {
	if !d.expect(kindString) {
		return ""
	}
	b := d.bytes(d.stringLen())
	if d.dead {
		return ""
	}
	if i := find(values, b, 0); i >= 0 {
		return values[i]
	}
	if optional && len(b) == 0 {
		return ""
	}
	if !utf8.Valid(b) { // check: UTF-8 of enum
		d.problems.Reject(abi.CodeInvalidUTF8, "is not valid UTF-8")
		return ""
	}
	d.problems.Reject(abi.CodeInvalidValue, d.noneOf(b, values))
	return ""
}

// noneOf says what may stand in place of b, as long as anybody will read it.
func (d *decoder) noneOf(b []byte, values []string) string {
	if d.problems.Found() >= abi.MaxProblems {
		return ""
	}
	out := strconv.AppendQuote(nil, clip(b))
	out = append(out, " is none of "...)
	for i, v := range values {
		if i > 0 {
			out = append(out, ", "...)
		}
		out = append(out, v...)
	}
	return string(out)
}

// boolean reads a bool.
func (d *decoder) boolean() bool {
	if !d.expect(kindBool) {
		return false
	}
	return d.take(1)[0] == 0xc3
}

// integer reads a whole number in [least, most].
func (d *decoder) integer(least, most int64) int64 {
	if !d.expect(kindInt) {
		return 0
	}
	n, big, ok := d.int()
	if !ok { // check: truncated integer
		d.truncated()
		return 0
	}
	switch {
	case big != 0: // check: integer beyond 64 bits
		d.outside(strconv.FormatUint(big, 10), limit(least), limit(most))
	case n < least || n > most: // check: bounds of integer
		d.outside(strconv.FormatInt(n, 10), limit(least), limit(most))
	}
	return n
}

// float reads a number in [least, most]; a whole one becomes a float.
func (d *decoder) float(least, most float64) float64 {
	if !d.expect(kindFloat) {
		return 0
	}
	var f float64
	code, ok := d.peek()
	if ok && kindOf(code) == kindInt {
		var n int64
		var big uint64
		n, big, ok = d.int()
		if f = float64(n); big != 0 {
			f = float64(big)
		}
	} else {
		f, ok = d.double()
	}
	switch {
	case !ok: // check: truncated float
		d.truncated()
	case math.IsNaN(f) || math.IsInf(f, 0): // check: finite
		d.problems.Reject(abi.CodeNotFinite, strconv.FormatFloat(f, 'g', -1, 64)+" is not finite")
	case f < least || f > most: // check: bounds of float
		d.outside(strconv.FormatFloat(f, 'g', -1, 64), floatLimit(least), floatLimit(most))
	}
	if f == 0 {
		return 0 // not -0
	}
	return f
}

// outside reports a number beyond its limits, of which one may be open: "".
func (d *decoder) outside(n, least, most string) {
	detail := n + " is outside [" + least + ", " + most + "]"
	switch {
	case most == "":
		detail = n + " is below " + least
	case least == "":
		detail = n + " is above " + most
	}
	d.problems.Reject(abi.CodeOutOfRange, detail)
}

func limit(n int64) string {
	if n == math.MinInt64 {
		return ""
	}
	return strconv.FormatInt(n, 10)
}

func floatLimit(f float64) string {
	if f == -math.MaxFloat64 || f == math.MaxFloat64 {
		return ""
	}
	return strconv.FormatFloat(f, 'g', -1, 64)
}

// count bounds the length of a list or map. most is no bound when it is 0.
type count struct {
	nonempty    bool
	least, most int
}

func (d *decoder) count(n int, c count) {
	switch {
	case c.nonempty && n == 0: // check: empty list or map
		d.problems.Add(abi.CodeEmpty, "is empty")
	case n < c.least: // check: least count
		d.problems.Add(abi.CodeBadCount, strconv.Itoa(n)+" are fewer than "+strconv.Itoa(c.least))
	case c.most > 0 && n > c.most: // check: most count
		d.problems.Add(abi.CodeBadCount, strconv.Itoa(n)+" are more than "+strconv.Itoa(c.most))
	}
}

// list reads a list; an empty one is nil. The smallest encoding of an element bounds what is allocated before the elements are there.
func list[T any](d *decoder, c count, smallest int, read func(*decoder, *T)) []T {
	if !d.expect(kindList) {
		return nil
	}
	n, ok := d.listLen()
	if !d.enter(uint64(n), ok) {
		return nil
	}
	d.count(int(n), c)
	if n == 0 {
		d.depth--
		return nil
	}
	kept := min(int(n), d.rest()/smallest+1) // the capacity of what is made, whatever the head says
	if c.most > 0 {
		kept = min(kept, c.most)
	}
	out := make([]T, 0, kept)
	for i := range int(n) {
		var zero T
		if len(out) == 0 || (c.most == 0 || len(out) < c.most) && d.problems.Found() < abi.MaxProblems {
			out = append(out, zero)
		} else { // too many, or no rule will look at the list: one place does for the rest
			out[len(out)-1] = zero
		}
		mark := d.problems.Mark()
		read(d, &out[len(out)-1])
		if d.problems.Mark() != mark {
			d.problems.Nest(mark, abi.Index(i))
		}
		if d.dead {
			return nil
		}
	}
	d.depth--
	return out
}

// dict reads a map with string keys; an empty one is nil.
func dict[V any](d *decoder, c count, smallest int, read func(*decoder, *V)) map[string]V {
	if !d.expect(kindMap) {
		return nil
	}
	n, ok := d.mapLen()
	if !d.enter(2*uint64(n), ok) {
		return nil
	}
	d.count(int(n), c)
	if n == 0 {
		d.depth--
		return nil
	}
	out := make(map[string]V, min(int(n), d.rest()/(smallest+1)+1))
	for range n {
		key, ok := d.key()
		if d.dead {
			return nil
		}
		if !ok {
			continue
		}
		name := d.own(key)
		mark := d.problems.Mark()
		var v V
		if _, twice := out[name]; twice { // check: duplicate key of map
			d.problems.Reject(abi.CodeDuplicateKey, "occurs twice")
			d.skip()
		} else {
			read(d, &v)
			out[name] = v
		}
		if d.problems.Mark() != mark {
			d.problems.Nest(mark, abi.Key(clip(key)))
		}
		if d.dead {
			return nil
		}
	}
	d.depth--
	return out
}
