package docket

import (
	"bytes"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/shadowcourt/shadowcourt/abi"
)

// maxShown is how much of a value a message shows.
const maxShown = 60

// text reads the string that starts at pos. Invalid UTF-8 and lone surrogates are problems of the value, everything else
// that is no JSON ends the scan.
func (s *scanner) text() (string, bool) {
	s.pos++ // the opening quote
	rest := s.data[s.pos:]
	end := bytes.IndexByte(rest, '"')
	if end < 0 {
		s.pos = len(s.data)
		return "", s.fail("the line ends inside a string")
	}
	plain := rest[:end]
	if bytes.IndexByte(plain, '\\') < 0 {
		if i := indexControl(plain); i >= 0 {
			s.pos += i
			return "", s.fail("a string holds a raw control character")
		}
		s.pos += end + 1
		s.checkUTF8(plain)
		return string(plain), true
	}
	return s.escapedText()
}

func (s *scanner) escapedText() (string, bool) {
	var out []byte
	start := s.pos
	for s.pos < len(s.data) {
		switch b := s.data[s.pos]; {
		case b == '"':
			out = append(out, s.data[start:s.pos]...)
			s.pos++
			s.checkUTF8(out)
			return string(out), true
		case b < 0x20:
			return "", s.fail("a string holds a raw control character")
		case b == '\\':
			out = append(out, s.data[start:s.pos]...)
			var ok bool
			if out, ok = s.escape(out); !ok {
				return "", false
			}
			start = s.pos
		default:
			s.pos++
		}
	}
	return "", s.fail("the line ends inside a string")
}

// escape appends what the escape at pos stands for.
func (s *scanner) escape(out []byte) ([]byte, bool) {
	if s.pos+1 == len(s.data) {
		return out, s.fail("the line ends inside a string")
	}
	const names, values = `"\/bfnrt`, "\"\\/\b\f\n\r\t"
	b := s.data[s.pos+1]
	if i := bytes.IndexByte([]byte(names), b); i >= 0 {
		s.pos += 2
		return append(out, values[i]), true
	}
	r, ok := s.unicodeEscape()
	if !ok {
		return out, s.fail("a string holds an unknown escape")
	}
	if !utf16.IsSurrogate(r) {
		return utf8.AppendRune(out, r), true
	}
	mark := s.pos
	if low, ok := s.unicodeEscape(); ok {
		if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
			return utf8.AppendRune(out, pair), true
		}
	}
	s.pos = mark
	s.c.Reject(abi.CodeInvalidUTF8, `holds a lone surrogate \u`+strconv.FormatInt(int64(r), 16))
	return utf8.AppendRune(out, utf8.RuneError), true
}

// unicodeEscape reads \uXXXX at pos; without one it moves nothing.
func (s *scanner) unicodeEscape() (rune, bool) {
	if len(s.data)-s.pos < 6 || s.data[s.pos] != '\\' || s.data[s.pos+1] != 'u' {
		return 0, false
	}
	var r rune
	for _, b := range s.data[s.pos+2 : s.pos+6] {
		switch {
		case b >= '0' && b <= '9':
			r = r<<4 | rune(b-'0')
		case b >= 'a' && b <= 'f':
			r = r<<4 | rune(b-'a'+10)
		case b >= 'A' && b <= 'F':
			r = r<<4 | rune(b-'A'+10)
		default:
			return 0, false
		}
	}
	s.pos += 6
	return r, true
}

func (s *scanner) checkUTF8(b []byte) {
	if utf8.Valid(b) {
		return
	}
	at := 0
	for at < len(b) {
		r, size := utf8.DecodeRune(b[at:])
		if r == utf8.RuneError && size == 1 {
			break
		}
		at += size
	}
	s.c.Reject(abi.CodeInvalidUTF8, "is no valid UTF-8 from its byte "+strconv.Itoa(at+1)+" on (0x"+strconv.FormatInt(int64(b[at]), 16)+")")
}

// number reads a number literal of JSON's grammar.
func (s *scanner) number() (string, bool) {
	start := s.pos
	if s.data[s.pos] == '-' {
		s.pos++
	}
	whole := s.pos
	if s.digits() == 0 {
		return "", s.unexpected("a digit")
	}
	if s.data[whole] == '0' && s.pos-whole > 1 {
		s.pos = whole
		return "", s.fail("a number begins with 0")
	}
	if s.pos < len(s.data) && s.data[s.pos] == '.' {
		if s.pos++; s.digits() == 0 {
			return "", s.unexpected("a digit")
		}
	}
	if s.pos < len(s.data) && (s.data[s.pos] == 'e' || s.data[s.pos] == 'E') {
		s.pos++
		if s.pos < len(s.data) && (s.data[s.pos] == '+' || s.data[s.pos] == '-') {
			s.pos++
		}
		if s.digits() == 0 {
			return "", s.unexpected("a digit")
		}
	}
	return string(s.data[start:s.pos]), true
}

func (s *scanner) digits() int {
	start := s.pos
	for s.pos < len(s.data) && s.data[s.pos] >= '0' && s.data[s.pos] <= '9' {
		s.pos++
	}
	return s.pos - start
}

func indexControl(b []byte) int {
	for i, c := range b {
		if c < 0x20 {
			return i
		}
	}
	return -1
}

func firstRune(b []byte) string {
	_, size := utf8.DecodeRune(b)
	return string(b[:size])
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
