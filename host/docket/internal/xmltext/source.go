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
	"github.com/shadowcourt/shadowcourt/host/docket/internal/stream"
)

// source hands an XML text to the decoder byte by byte, and knows the place. The decoder holds each text and each tag
// whole; source sees to it that neither is long. It parts a long text by an empty comment, or a CDATA section by its end
// and the beginning of another, which changes nothing of what the text says; it rejects a long tag, and a DOCTYPE at once.
type source struct {
	in     *bufio.Reader
	limit  int // of a tag, a comment or a processing instruction
	latin1 bool
	broken error // what in failed with, other than its end

	line, column int // of the character that was handed out last, from 1
	newline      bool

	out []byte // of the current character, with what was put before it
	at  int

	inside  part
	mark    []byte  // the beginning of markup, while it isn't known what it is
	length  int     // of the markup, or of the text since it was parted
	quote   rune    // that an attribute's value stands in
	last    [2]rune // in this part
	entered bool    // this part begins behind the current character
	pending int     // characters since an ampersand, 0 outside of a reference
}

// part is where in the grammar a character stands.
type part int

const (
	inText part = iota
	inMark
	inTag
	inComment
	inInstruction
	inCDATA
)

const (
	maxTextBytes      = 32 << 10 // of a text that the decoder gets in one piece
	maxReferenceRunes = 32
)

func newSource(in io.Reader, limit int) (*source, error) {
	s := &source{in: bufio.NewReaderSize(in, 64<<10), limit: limit, line: 1}
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
	if err := s.follow(c); err != nil {
		return err
	}
	s.out = utf8.AppendRune(s.out, c)
	s.length += len(s.out)
	s.last[0], s.last[1] = s.last[1], c
	if s.entered {
		s.last, s.entered = [2]rune{}, false
	}
	return nil
}

// forbidden says how many bytes follow an ampersand that begins a reference to a character that XML doesn't allow, as
// &#x1b; for the escape of a terminal. It stands for U+FFFD, as the character itself does.
func (s *source) forbidden(c rune) int {
	if c != '&' || s.inside != inText && s.inside != inTag {
		return 0
	}
	for n := 1; n <= maxReferenceRunes; n++ {
		head, err := s.in.Peek(n)
		if err != nil || head[0] != '#' {
			return 0
		}
		if head[n-1] != ';' {
			continue
		}
		digits, base := string(head[1:n-1]), 10
		if hex, ok := strings.CutPrefix(digits, "x"); ok {
			digits, base = hex, 16
		}
		code, err := strconv.ParseUint(digits, base, 64)
		tooLarge := errors.Is(err, strconv.ErrRange) || err == nil && code > unicode.MaxRune
		if tooLarge || err == nil && (!allowed(rune(code)) || utf16.IsSurrogate(rune(code))) {
			return n
		}
		return 0
	}
	return 0
}

// allowed says whether XML allows a character.
func allowed(c rune) bool {
	return (c >= ' ' || c == '\t' || c == '\n' || c == '\r') && c != 0xFFFE && c != 0xFFFF
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

// follow notes where in the grammar c stands, and parts a text before it that is long.
func (s *source) follow(c rune) error {
	switch s.inside {
	case inText:
		s.followText(c)
	case inMark:
		return s.followMark(c)
	case inTag:
		switch {
		case s.quote == 0 && c == '>':
			s.enter(inText)
		case s.quote == 0 && (c == '"' || c == '\''):
			s.quote = c
		case s.quote == c:
			s.quote = 0
		}
	case inComment:
		if c == '>' && s.last == [2]rune{'-', '-'} {
			s.enter(inText)
		}
	case inInstruction:
		if c == '>' && s.last[1] == '?' {
			s.enter(inText)
		}
	case inCDATA:
		if c == '>' && s.last == [2]rune{']', ']'} {
			s.enter(inText)
		} else if s.length >= maxTextBytes && c != ']' && c != '>' && c != '\n' && s.last[1] != ']' {
			s.out = append(s.out, "]]><![CDATA["...)
			s.length = 0
		}
		return nil
	}
	if s.inside != inText && s.length > s.limit {
		return &stream.TextError{Code: abi.CodeTooLarge, Detail: "a tag has more than " + strconv.Itoa(s.limit) + " bytes"}
	}
	return nil
}

func (s *source) enter(p part) { s.inside, s.length, s.pending, s.entered = p, 0, 0, true }

func (s *source) followText(c rune) {
	switch {
	case c == '<':
		s.enter(inMark)
		s.mark = s.mark[:0]
		return
	case c == '&':
		s.pending = 1
	case c == ';' || s.pending > maxReferenceRunes:
		s.pending = 0
		return
	case s.pending > 0:
		s.pending++
	}
	if s.length >= maxTextBytes && s.pending == 0 && c != '\n' && c != '>' && s.last[1] != ']' {
		s.out = append(s.out, "<!---->"...)
		s.length = 0
	}
}

// followMark finds out what begins with a less-than sign.
func (s *source) followMark(c rune) error {
	s.mark = utf8.AppendRune(s.mark, c)
	comment, cdata := []byte("!--"), []byte("![CDATA[")
	switch {
	case bytes.Equal(s.mark, comment):
		s.enter(inComment)
	case bytes.Equal(s.mark, cdata):
		s.enter(inCDATA)
	case bytes.HasPrefix(comment, s.mark), bytes.HasPrefix(cdata, s.mark):
	case s.mark[0] == '!':
		return &stream.TextError{Code: codeDoctype, Detail: "has a DOCTYPE or another declaration, which a report may not have"}
	case c == '?':
		s.enter(inInstruction)
	default:
		s.enter(inTag)
		s.quote = 0
		if c == '>' {
			s.enter(inText)
		}
	}
	return nil
}
