package docket

import (
	"strconv"

	"github.com/shadowcourt/shadowcourt/abi"
)

// scanner walks one JSON text under its own, strict grammar (RFC 8259). The standard library's decoder can't be used: it
// replaces invalid UTF-8 and lone surrogates, takes the last of two equal keys and matches keys in any case.
//
// Methods return false once the text is no JSON; what is wrong with it is then in syntax. Whatever is JSON but not what
// was asked for goes to the collector, and the scan goes on behind the value.
type scanner struct {
	data   []byte
	pos    int
	depth  int
	syntax string // what is wrong at pos
	c      abi.Collector
}

// field is one field of an object: how to read its value.
type field struct {
	name     string
	required bool
	read     func() bool
}

func (s *scanner) fail(what string) bool {
	s.syntax = what
	return false
}

func (s *scanner) space() {
	for s.pos < len(s.data) {
		switch s.data[s.pos] {
		case ' ', '\t', '\n', '\r':
			s.pos++
		default:
			return
		}
	}
}

// peek gives the next byte behind white space, 0 at the end.
func (s *scanner) peek() byte {
	s.space()
	if s.pos == len(s.data) {
		return 0
	}
	return s.data[s.pos]
}

// want takes the byte if it comes next.
func (s *scanner) want(b byte) bool {
	if s.peek() != b || s.pos == len(s.data) {
		return false
	}
	s.pos++
	return true
}

func (s *scanner) unexpected(expected string) bool {
	s.space()
	if s.pos == len(s.data) {
		return s.fail("the line ends where " + expected + " is expected")
	}
	return s.fail("found " + strconv.QuoteToASCII(firstRune(s.data[s.pos:])) + " where " + expected + " is expected")
}

func (s *scanner) enter() bool {
	if s.depth++; s.depth > abi.MaxDepth {
		return s.fail("lists and objects nest deeper than " + strconv.Itoa(abi.MaxDepth))
	}
	s.pos++
	return true
}

// object reads an object's fields. what names the object in messages, such as "a case".
func (s *scanner) object(what string, fields []field) bool {
	if s.peek() != '{' {
		return s.wrongType("an object")
	}
	var seen uint64
	ok := s.members(func(key string) bool {
		i := fieldIndex(fields, key)
		if i < 0 {
			s.c.Add(abi.CodeUnknownField, "is no field of "+what, step(key))
			return s.skipUnder(key)
		}
		if seen&(1<<i) != 0 {
			s.c.Reject(abi.CodeDuplicateKey, "occurs twice", step(key))
			return s.skipUnder(key)
		}
		seen |= 1 << i
		mark := s.c.Mark()
		if !fields[i].read() {
			return false
		}
		s.c.Nest(mark, abi.Field(key))
		return true
	})
	if !ok {
		return false
	}
	for i, f := range fields {
		if f.required && seen&(1<<i) == 0 {
			s.c.Reject(abi.CodeMissingField, "is missing", abi.Field(f.name))
		}
	}
	return true
}

// members walks an object, calling value behind each key.
func (s *scanner) members(value func(key string) bool) bool {
	if !s.enter() {
		return false
	}
	if s.want('}') {
		s.depth--
		return true
	}
	for {
		if s.peek() != '"' {
			return s.unexpected("a key in quotes")
		}
		key, ok := s.text()
		if !ok {
			return false
		}
		if !s.want(':') {
			return s.unexpected("a colon")
		}
		if !value(key) {
			return false
		}
		if s.want('}') {
			s.depth--
			return true
		}
		if !s.want(',') {
			return s.unexpected("a comma or the object's end")
		}
	}
}

// list walks an array, calling element at each; problems found there get the index.
func (s *scanner) list(element func(i int) bool) bool {
	if s.peek() != '[' {
		return s.wrongType("a list")
	}
	if !s.enter() {
		return false
	}
	if s.want(']') {
		s.depth--
		return true
	}
	for i := 0; ; i++ {
		mark := s.c.Mark()
		if !element(i) {
			return false
		}
		s.c.Nest(mark, abi.Index(i))
		if s.want(']') {
			s.depth--
			return true
		}
		if !s.want(',') {
			return s.unexpected("a comma or the list's end")
		}
	}
}

// str reads a string; nonempty rejects "".
func (s *scanner) str(into *string, nonempty bool) bool {
	if s.peek() != '"' {
		return s.wrongType("a string")
	}
	text, ok := s.text()
	if ok && nonempty && text == "" {
		s.c.Reject(abi.CodeEmpty, "is empty")
	}
	*into = text
	return ok
}

// unit reads a number in [0, 1].
func (s *scanner) unit(into *float64) bool {
	if b := s.peek(); b != '-' && (b < '0' || b > '9') {
		return s.wrongType("a number")
	}
	literal, ok := s.number()
	if !ok {
		return false
	}
	v, err := strconv.ParseFloat(literal, 64)
	if err != nil || v < 0 || v > 1 {
		s.c.Reject(abi.CodeOutOfRange, shorten(literal)+" is outside [0, 1]")
		return true
	}
	*into = v + 0 // -0 becomes 0
	return true
}

// skip passes over any value. Its strings are still checked.
func (s *scanner) skip() bool {
	switch b := s.peek(); {
	case b == '{':
		return s.members(s.skipUnder)
	case b == '[':
		return s.list(func(int) bool { return s.skip() })
	case b == '"':
		_, ok := s.text()
		return ok
	case b == '-' || b >= '0' && b <= '9':
		_, ok := s.number()
		return ok
	default:
		for _, word := range [...]string{"true", "false", "null"} {
			if s.word(word) {
				return true
			}
		}
		return s.unexpected("a value")
	}
}

func (s *scanner) skipUnder(key string) bool {
	mark := s.c.Mark()
	ok := s.skip()
	s.c.Nest(mark, step(key))
	return ok
}

func (s *scanner) word(word string) bool {
	if len(s.data)-s.pos < len(word) || string(s.data[s.pos:s.pos+len(word)]) != word {
		return false
	}
	s.pos += len(word)
	return true
}

// wrongType notes that the next value is none of the expected type, and passes over it.
func (s *scanner) wrongType(expected string) bool {
	b := s.peek()
	is := ""
	switch b {
	case '{':
		is = "an object"
	case '[':
		is = "a list"
	case '"':
		is = "a string"
	case 't', 'f':
		is = "a boolean"
	case 'n':
		mark := s.pos
		if s.word("null") {
			s.c.Reject(abi.CodeNil, "is null, expected "+expected+": leave out what is not there")
			return true
		}
		s.pos = mark
	default:
		is = "a number"
	}
	mark := s.c.Mark()
	if !s.skip() {
		return false
	}
	if s.c.Mark() == mark {
		s.c.Reject(abi.CodeWrongType, "is "+is+", expected "+expected)
	}
	return true
}

func fieldIndex(fields []field, name string) int {
	for i := range fields {
		if fields[i].name == name {
			return i
		}
	}
	return -1
}

// step is the path element of a key that somebody else chose.
func step(key string) abi.PathElement {
	for i := range len(key) {
		b := key[i]
		if b != '_' && (b < '0' || b > '9') && (b < 'a' || b > 'z') && (b < 'A' || b > 'Z') {
			return abi.Key(shorten(key))
		}
	}
	if key == "" || len(key) > maxShown {
		return abi.Key(shorten(key))
	}
	return abi.Field(key)
}
