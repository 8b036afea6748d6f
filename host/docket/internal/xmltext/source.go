package xmltext

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/docket/internal/stream"
)

// maxTagBytes is the longest tag: its attributes take many times as much once they are read.
const maxTagBytes = 16 << 20

// source hands an XML text to the decoder byte by byte. It knows the place, and rejects what would take memory without bounds.
type source struct {
	in     *bufio.Reader
	left   int // bytes that may still come
	latin1 bool
	broken error // what in failed with, other than its end

	line, column int // of the character that was handed out last, from 1
	newline      bool

	out []byte // of the current character
	at  int

	ending string // what ends the open markup; empty in a text
	length int    // of the open markup, behind what begins it
	quote  rune   // that an attribute's value stands in
	last   []byte // of the markup, as long as its ending
}

func newSource(in io.Reader) (*source, error) {
	s := &source{in: bufio.NewReaderSize(in, 64<<10), left: docket.MaxReportBytes, line: 1}
	return s, stream.Open(s.in, "a report is text in UTF-8 or ISO 8859-1")
}

// ReadByte gives the next byte to the decoder.
func (s *source) ReadByte() (byte, error) {
	if s.at == len(s.out) {
		if err := s.next(); err != nil {
			return 0, err
		}
	}
	b := s.out[s.at]
	s.at++
	return b, nil
}

// Read is there because the decoder wants it when the encoding changes; it is not called.
func (s *source) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	b, err := s.ReadByte()
	if err != nil {
		return 0, err
	}
	p[0] = b
	return 1, nil
}

// next prepares the next character.
func (s *source) next() error {
	s.out, s.at = s.out[:0], 0
	c, err := s.character()
	if err != nil {
		if err != io.EOF { //nolint:errorlint // a reader's end is io.EOF itself
			s.broken = err
		}
		return err
	}
	if s.newline {
		s.line, s.column = s.line+1, 0
	}
	s.newline = c == '\n'
	s.column++
	if n := s.forbidden(c); n > 0 {
		_, _ = s.in.Discard(n)
		s.column += n
		c = utf8.RuneError
	}
	s.out = utf8.AppendRune(s.out, c)
	if s.left -= len(s.out); s.left < 0 {
		return &stream.TextError{Code: abi.CodeTooLarge, Detail: "the report has more than " + strconv.Itoa(docket.MaxReportBytes>>20) + " MiB: split it"}
	}
	return s.follow(c)
}

// character reads one; what XML doesn't allow is U+FFFD.
func (s *source) character() (rune, error) {
	var c rune
	if s.latin1 {
		b, err := s.in.ReadByte()
		if err != nil {
			return 0, err
		}
		c = rune(b)
	} else {
		var err error
		if c, _, err = s.in.ReadRune(); err != nil {
			return 0, err
		}
	}
	if !allowed(c) {
		return utf8.RuneError, nil
	}
	return c, nil
}

// allowed says whether XML allows a character.
func allowed(c rune) bool {
	return (c >= ' ' || c == '\t' || c == '\n' || c == '\r') && c != 0xFFFE && c != 0xFFFF && !utf16.IsSurrogate(c)
}

// forbidden says how many bytes follow an ampersand that begins a reference to a character that XML doesn't allow, as
// &#x1b; for the escape of a terminal. It stands for U+FFFD, as the character itself does.
func (s *source) forbidden(c rune) int {
	if c != '&' || s.ending != "" && s.ending != ">" {
		return 0
	}
	head, _ := s.in.Peek(maxReferenceBytes)
	reference, _, found := bytes.Cut(head, []byte(";"))
	digits, numeric := strings.CutPrefix(string(reference), "#")
	if !found || !numeric {
		return 0
	}
	base := 10
	if hex, ok := strings.CutPrefix(digits, "x"); ok {
		digits, base = hex, 16
	}
	code, err := strconv.ParseUint(digits, base, 64)
	if errors.Is(err, strconv.ErrRange) || err == nil && (code > unicode.MaxRune || !allowed(rune(code))) {
		return len(reference) + len(";")
	}
	return 0
}

const maxReferenceBytes = 32

// follow notes where markup begins and ends. The decoder keeps the attributes of a tag, and all that a DOCTYPE declares.
func (s *source) follow(c rune) error {
	if s.ending == "" {
		if c != '<' {
			return nil
		}
		s.length, s.quote, s.last = 0, 0, s.last[:0]
		for _, kind := range [...]struct{ begin, ending string }{{"!--", "-->"}, {"![CDATA[", "]]>"}, {"!", ""}, {"?", "?>"}, {"", ">"}} {
			if head, _ := s.in.Peek(len(kind.begin)); string(head) == kind.begin {
				s.ending, s.length = kind.ending, -len(kind.begin)
				break
			}
		}
		if s.ending == "" {
			return &stream.TextError{Code: codeDoctype, Detail: "has a DOCTYPE or another declaration, which a report may not have"}
		}
		return nil
	}
	if s.length += len(s.out); s.length <= 0 {
		return nil // of what begins it
	}
	if s.ending == ">" {
		switch {
		case s.length > maxTagBytes:
			return &stream.TextError{Code: abi.CodeTooLarge, Detail: "a tag has more than " + strconv.Itoa(maxTagBytes>>20) + " MiB"}
		case s.quote == 0 && (c == '"' || c == '\''):
			s.quote = c
			return nil
		case s.quote != 0:
			if c == s.quote {
				s.quote = 0
			}
			return nil
		}
	}
	if s.last = append(s.last, s.out...); len(s.last) > len(s.ending) {
		s.last = s.last[len(s.last)-len(s.ending):]
	}
	if string(s.last) == s.ending {
		s.ending = ""
	}
	return nil
}
