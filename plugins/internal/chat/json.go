package chat

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// Value is a value of a JSON document that conforms to a [Schema].
type Value struct {
	kind   Kind
	text   string
	number float64
	list   []Value  // of an array or an object
	names  []string // of an object's fields
}

// Of is a field of an object. A value without the field is the zero value.
func (v Value) Of(name string) Value {
	for i := range v.names {
		if v.names[i] == name {
			return v.list[i]
		}
	}
	return Value{}
}

// List are the elements of an array.
func (v Value) List() []Value { return v.list }

// Text is a string.
func (v Value) Text() string { return v.text }

// Number is a number.
func (v Value) Number() float64 { return v.number }

// Int is an integer.
func (v Value) Int() int { return int(v.number) }

// True says whether a boolean is true.
func (v Value) True() bool { return v.kind == Boolean && v.number != 0 }

// maxNesting bounds the depth of an answer.
const maxNesting = 16

// reader reads one JSON document strictly (RFC 8259): no duplicate names, no lone surrogates, valid UTF-8, nothing behind it.
type reader struct {
	text    string
	at      int
	problem string
}

// readJSON gives the value of a document, or what is wrong with it.
func readJSON(text string) (Value, string) {
	if !utf8.ValidString(text) {
		return Value{}, "is not UTF-8"
	}
	r := reader{text: text}
	v := r.value(0)
	r.space()
	if r.problem == "" && r.at < len(text) {
		r.fail("has more text behind the document")
	}
	return v, r.problem
}

func (r *reader) fail(what string) {
	if r.problem == "" {
		r.problem = what + " at byte " + strconv.Itoa(r.at)
		r.at = len(r.text)
	}
}

func (r *reader) space() {
	for r.at < len(r.text) && strings.IndexByte(" \t\r\n", r.text[r.at]) >= 0 {
		r.at++
	}
}

// next takes a character that must come, after white space.
func (r *reader) next(c byte) {
	if r.space(); r.at < len(r.text) && r.text[r.at] == c {
		r.at++
		return
	}
	r.fail("lacks " + strconv.QuoteRune(rune(c)))
}

// ends says whether a list is over: its end is next, or the text is broken.
func (r *reader) ends(c byte) bool {
	if r.space(); r.at >= len(r.text) {
		r.fail("ends early")
		return true
	}
	return r.text[r.at] == c
}

func (r *reader) value(depth int) Value {
	if depth > maxNesting {
		r.fail("is nested too deeply")
		return Value{}
	}
	if r.space(); r.at >= len(r.text) {
		r.fail("ends early")
		return Value{}
	}
	switch c := r.text[r.at]; {
	case c == '{':
		return r.object(depth)
	case c == '[':
		return r.array(depth)
	case c == '"':
		return Value{kind: String, text: r.str()}
	case c == '-' || '0' <= c && c <= '9':
		return r.num()
	case strings.HasPrefix(r.text[r.at:], "true"):
		r.at += 4
		return Value{kind: Boolean, number: 1}
	case strings.HasPrefix(r.text[r.at:], "false"):
		r.at += 5
		return Value{kind: Boolean}
	}
	r.fail("has no value") // null, too: no schema has it
	return Value{}
}

func (r *reader) object(depth int) Value {
	v := Value{kind: Object}
	r.at++
	for !r.ends('}') {
		if len(v.names) > 0 {
			r.next(',')
			r.space()
		}
		if r.at >= len(r.text) || r.text[r.at] != '"' {
			r.fail("has a field without a name")
			break
		}
		name := r.str()
		for i := range v.names {
			if v.names[i] == name {
				r.fail("has two fields " + strconv.Quote(name))
			}
		}
		r.next(':')
		v.names, v.list = append(v.names, name), append(v.list, r.value(depth+1))
	}
	r.next('}')
	return v
}

func (r *reader) array(depth int) Value {
	v := Value{kind: Array}
	r.at++
	for !r.ends(']') {
		if len(v.list) > 0 {
			r.next(',')
		}
		v.list = append(v.list, r.value(depth+1))
	}
	r.next(']')
	return v
}

func (r *reader) num() Value {
	from := r.at
	for r.at < len(r.text) && strings.IndexByte("+-.eE0123456789", r.text[r.at]) >= 0 {
		r.at++
	}
	word := r.text[from:r.at]
	digits := strings.TrimPrefix(word, "-")
	whole := len(digits) - len(strings.TrimLeft(digits, "0123456789"))
	rest := digits[whole:]
	n, err := strconv.ParseFloat(word, 64)
	dangling := strings.HasPrefix(rest, ".") && (len(rest) == 1 || rest[1] < '0' || rest[1] > '9')
	if err != nil || whole == 0 || whole > 1 && digits[0] == '0' || dangling {
		r.at = from
		r.fail("has no number")
	}
	return Value{kind: Number, number: n}
}

func (r *reader) str() string {
	r.at++
	var out []byte
	for r.at < len(r.text) {
		c := r.text[r.at]
		switch {
		case c == '"':
			r.at++
			return string(out)
		case c < ' ':
			r.fail("has a control character in a string")
			return ""
		case c == '\\':
			out = r.escape(out)
		default:
			out = append(out, c)
			r.at++
		}
	}
	r.fail("ends within a string")
	return ""
}

func (r *reader) escape(out []byte) []byte {
	if r.at++; r.at >= len(r.text) {
		return out
	}
	c := r.text[r.at]
	if i := strings.IndexByte(`"\/bfnrt`, c); i >= 0 {
		r.at++
		return append(out, "\"\\/\b\f\n\r\t"[i])
	}
	if c != 'u' {
		r.fail("has an unknown escape")
		return out
	}
	first := r.hex()
	if first < 0xd800 || first > 0xdfff {
		return utf8.AppendRune(out, first)
	}
	if r.at+1 < len(r.text) && r.text[r.at] == '\\' && r.text[r.at+1] == 'u' {
		r.at++
		if second := r.hex(); first < 0xdc00 && second >= 0xdc00 && second <= 0xdfff {
			return utf8.AppendRune(out, (first-0xd800)<<10|(second-0xdc00)+0x10000)
		}
	}
	r.fail("has half a surrogate pair")
	return out
}

// hex reads uXXXX.
func (r *reader) hex() rune {
	if r.at+5 <= len(r.text) {
		if n, err := strconv.ParseUint(r.text[r.at+1:r.at+5], 16, 16); err == nil {
			r.at += 5
			return rune(n)
		}
	}
	r.fail("has an unknown escape")
	return 0
}
