package docket

import (
	"bytes"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/docket/internal/stream"
)

// maxShown is how much of a value a message shows.
const maxShown = 60

// scanner walks one JSON text strictly (RFC 8259), and finds all that is wrong with it at once. The standard library's decoder can't be
// used: it replaces invalid UTF-8 and lone surrogates, takes the last of two equal keys and matches keys in any case.
//
// Methods return false once the text is no JSON; what is wrong with it is then in syntax. Whatever is JSON but not what
// was asked for goes to the collector, and the scan goes on behind the value.
type scanner struct {
	json   []byte
	in     *jsontext.Decoder
	syntax *stream.TextError
	c      *abi.Collector
}

func newScanner(text []byte) scanner {
	// What is allowed here is rejected by the scanner, which goes on behind it.
	in := jsontext.NewDecoder(bytes.NewBuffer(text), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	return scanner{json: text, in: in, c: &abi.Collector{}}
}

// fine notes the error of a text that is no JSON.
func (s *scanner) fine(err error) bool {
	if err != nil && s.syntax == nil {
		s.syntax = stream.JSONFault(err, s.json, 0)
	}
	return err == nil
}

// token reads the beginning or the end of an object or a list.
func (s *scanner) token() bool {
	_, err := s.in.ReadToken()
	return s.fine(err)
}

// notJSON is the problem of a text that is no JSON.
func (s *scanner) notJSON() string {
	s.syntax.Code = CodeNotJSON
	return s.syntax.Error()
}

// more says that something follows the text, and at which column.
func (s *scanner) more() (column string, more bool) {
	rest := bytes.TrimLeft(s.json[s.in.InputOffset():], " \t\r\n")
	_, at := stream.Place(s.json[:len(s.json)-len(rest)])
	return strconv.Itoa(at), len(rest) > 0
}

// field is one field of an object: how to read its value.
type field struct {
	name     string
	required bool
	read     func() bool
}

// object reads an object's fields. what names the object in messages, such as "a case".
func (s *scanner) object(what string, fields []field) bool {
	if s.in.PeekKind() != '{' {
		return s.wrongType("an object")
	}
	var seen uint64
	ok := s.members(func(key string) bool {
		i := slices.IndexFunc(fields, func(f field) bool { return f.name == key })
		if i < 0 {
			s.c.Add(abi.CodeUnknownField, "is no field of "+what, step(key))
			return s.skip()
		}
		if seen&(1<<i) != 0 {
			s.c.Reject(abi.CodeDuplicateKey, "occurs twice", step(key))
			return s.skip()
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
	if !s.token() {
		return false
	}
	for s.in.PeekKind() != '}' {
		if key, ok := s.text(); !ok || !value(key) {
			return false
		}
	}
	return s.token()
}

// list walks an array, calling element at each; problems found there get the index.
func (s *scanner) list(element func(i int) bool) bool {
	if s.in.PeekKind() != '[' {
		return s.wrongType("a list")
	}
	if !s.token() {
		return false
	}
	for i := 0; s.in.PeekKind() != ']'; i++ {
		mark := s.c.Mark()
		if !element(i) {
			return false
		}
		s.c.Nest(mark, abi.Index(i))
	}
	return s.token()
}

// text reads a string.
func (s *scanner) text() (string, bool) {
	value, err := s.in.ReadValue()
	if !s.fine(err) {
		return "", false
	}
	valid := utf8.Valid(value)
	text, err := jsontext.AppendUnquote(nil, value)
	switch {
	case !valid:
		s.c.Reject(abi.CodeInvalidUTF8, "is no valid UTF-8")
	case err != nil:
		s.c.Reject(abi.CodeInvalidUTF8, "holds a lone surrogate")
	}
	return string(text), true
}

// str reads a string; nonempty rejects "".
func (s *scanner) str(into *string, nonempty bool) bool {
	if s.in.PeekKind() != '"' {
		return s.wrongType("a string")
	}
	text, ok := s.text()
	if ok && nonempty && text == "" {
		s.c.Reject(abi.CodeEmpty, "is empty")
	}
	*into = text
	return ok
}

// number reads a number and hands it on as it is written.
func (s *scanner) number(take func(literal string)) bool {
	if s.in.PeekKind() != '0' {
		return s.wrongType("a number")
	}
	literal, err := s.in.ReadToken()
	if err == nil {
		take(literal.String())
	}
	return s.fine(err)
}

// unit reads a number in [0, 1].
func (s *scanner) unit(into *float64) bool {
	return s.number(func(literal string) {
		v, err := strconv.ParseFloat(literal, 64)
		if err != nil || v < 0 || v > 1 {
			s.c.Reject(abi.CodeOutOfRange, shorten(literal)+" is outside [0, 1]")
			return
		}
		*into = v + 0 // -0 becomes 0
	})
}

// skip passes over any value.
func (s *scanner) skip() bool { return s.fine(s.in.SkipValue()) }

// wrongType notes that the next value is none of the expected type, and passes over it.
func (s *scanner) wrongType(expected string) bool {
	is := stream.KindOf(s.in.PeekKind())
	switch {
	case !s.skip():
		return false
	case is == "null":
		s.c.Reject(abi.CodeNil, "is null, expected "+expected+": leave out what is not there")
	default:
		s.c.Reject(abi.CodeWrongType, "is "+is+", expected "+expected)
	}
	return true
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

// shorten keeps a value's beginning for a message.
func shorten(s string) string {
	if len(s) <= maxShown {
		return s
	}
	end := maxShown
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + "..."
}
