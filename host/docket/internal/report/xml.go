package report

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/xml"
	"errors"
	"fmt"
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

// The codes of problems that only XML can have.
const (
	// CodeNotXML: the text is no XML from some place on.
	CodeNotXML abi.Code = "not_xml"

	codeDoctype abi.Code = "doctype"
)

// MaxNesting is how deep elements may nest.
const MaxNesting = 64

// XML is a stream of XML documents, one after the other. Not safe for concurrent use.
type XML struct {
	from *source
	xml  *xml.Decoder
	path []string // the open elements
}

// NewXML makes a reader of a stream of at most docket.MaxReportBytes. The error tells of bytes that are no text in UTF-8.
func NewXML(in io.Reader) (*XML, error) {
	from, err := newSource(in)
	if err != nil {
		return nil, err
	}
	t := &XML{from: from, xml: xml.NewDecoder(from)}
	t.xml.CharsetReader = t.charset
	return t, nil
}

// Line is that of the last character that was read.
func (t *XML) Line() int { return t.from.line }

// charset is called when a document says that it is in another encoding than UTF-8.
func (t *XML) charset(label string, _ io.Reader) (io.Reader, error) {
	switch strings.ToLower(label) {
	case "us-ascii", "ascii", "utf8": // ASCII is UTF-8
	case "iso-8859-1", "latin1", "latin-1", "iso8859-1":
		t.from.latin1 = true
	default:
		return nil, &stream.TextError{Code: docket.CodeNotText, Detail: "is in the encoding " + strconv.Quote(label) + ": use UTF-8 or ISO-8859-1"}
	}
	return t.from, nil
}

// token gives the next token. The path is that behind it.
func (t *XML) token() (xml.Token, error) {
	t.from.begin()
	token, err := t.xml.Token()
	if err != nil {
		return nil, err
	}
	switch token := token.(type) {
	case xml.StartElement:
		if len(t.path) == MaxNesting {
			return nil, &stream.TextError{Code: abi.CodeTooDeep, Detail: "elements nest deeper than " + strconv.Itoa(MaxNesting)}
		}
		t.path = append(t.path, token.Name.Local)
		var names map[xml.Name]bool // most elements have no second attribute
		for i, a := range token.Attr {
			if i == 1 {
				names = map[xml.Name]bool{token.Attr[0].Name: true}
			}
			if names[a.Name] {
				return nil, &stream.TextError{Code: CodeNotXML, Detail: "is no XML: <" + Bounded(token.Name.Local) + "> has the attribute " + Bounded(a.Name.Local) + " twice"}
			}
			if i > 0 {
				names[a.Name] = true
			}
		}
	case xml.EndElement:
		t.path = t.path[:len(t.path)-1]
	}
	return token, nil
}

// Roots calls each for the root element of each document, which it has to read to its end. nothing is the error of a stream without one.
func (t *XML) Roots(nothing string, each func(xml.StartElement) error) error {
	found := false
	for {
		token, err := t.token()
		if errors.Is(err, io.EOF) {
			if !found {
				return &stream.TextError{Code: docket.CodeEmptyDocket, Detail: nothing}
			}
			return nil
		}
		if err != nil {
			return err
		}
		switch token := token.(type) {
		case xml.StartElement:
			found = true
			if err := each(token); err != nil {
				return err
			}
			t.from.latin1 = false
		case xml.CharData:
			if strings.TrimSpace(string(token)) != "" {
				return &stream.TextError{Code: CodeNotXML, Detail: "is no XML: text stands where a report should"}
			}
		}
	}
}

// Children calls each for the elements in the open one, which has to read them to their ends, and text for its text; nil
// passes over what is there. It returns behind the end of the open element.
func (t *XML) Children(each func(xml.StartElement) error, text func(string)) error {
	for {
		token, err := t.token()
		if err != nil {
			return err
		}
		switch token := token.(type) {
		case xml.StartElement:
			if each == nil {
				err = t.Skip()
			} else {
				err = each(token)
			}
			if err != nil {
				return err
			}
		case xml.CharData:
			if text != nil {
				text(string(token))
			}
		case xml.EndElement:
			return nil
		}
	}
}

// Skip passes over the open element.
func (t *XML) Skip() error {
	for depth := len(t.path); len(t.path) >= depth; {
		if _, err := t.token(); err != nil {
			return err
		}
	}
	return nil
}

// Fault is an error of the reading with its place in the stream of that name: a *docket.LineError when something is wrong with the text,
// else an error of the reader below. Nil for none, and where the reading was stopped.
func (t *XML) Fault(name string, err error) error {
	switch {
	case err == nil || errors.Is(err, stream.ErrStopped):
		return nil
	case t.from.broken != nil:
		return fmt.Errorf("reading %s, line %d: %w", name, t.from.line, t.from.broken)
	}
	var syntax *xml.SyntaxError
	fault := &stream.TextError{Code: CodeNotXML, Detail: "is no XML: " + err.Error()}
	switch {
	case errors.Is(err, io.EOF), errors.As(err, &syntax) && syntax.Msg == "unexpected EOF":
		fault.Code, fault.Detail = abi.CodeTruncated, "the report ends here, and "+t.open()+" is open"
	case errors.As(err, &syntax):
		fault.Detail = "is no XML: " + syntax.Msg
	default:
		errors.As(err, &fault)
	}
	fault.Column = t.from.column
	return docket.NewLineError(name, t.from.line, fault.Code, fault.Error())
}

// open names the innermost open element.
func (t *XML) open() string {
	if len(t.path) == 0 {
		return "a tag"
	}
	return "<" + t.path[len(t.path)-1] + ">"
}

// Attribute is the value of an attribute that is in no name space; empty where there is none.
func Attribute(e xml.StartElement, name string) string {
	for _, a := range e.Attr {
		if a.Name.Local == name && a.Name.Space == "" {
			return a.Value
		}
	}
	return ""
}

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

	kind   rune // what the token is that is read: 't' a text, '<' a tag, '!' a comment, CDATA or an instruction; 0 before its first character
	length int  // of the token
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
	if c != '&' || s.kind == '!' {
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

// begin notes that the decoder reads a token, of which it may have the first character already.
func (s *source) begin() {
	s.kind, s.length = 0, 0
	if string(s.out) == "<" {
		s.kind, s.length = '<', 1
	}
}

// follow notes what is read, and rejects what the decoder would hold without bounds: attributes, and all that a DOCTYPE declares.
func (s *source) follow(c rune) error {
	s.length += len(s.out)
	switch {
	case c == '<' && (s.kind == 0 || s.kind == 't'):
		if head, _ := s.in.Peek(2); len(head) > 0 && head[0] == '!' && (len(head) < 2 || head[1] != '-' && head[1] != '[') {
			return &stream.TextError{Code: codeDoctype, Detail: "has a DOCTYPE or another declaration, which a report may not have"}
		}
		s.kind = cmp.Or(s.kind, '<')
	case s.kind == 0:
		s.kind = 't'
	case s.kind == '<' && s.length == 2 && (c == '!' || c == '?'):
		s.kind = '!'
	case s.kind == '<' && s.length > maxTagBytes:
		return &stream.TextError{Code: abi.CodeTooLarge, Detail: "a tag has more than " + strconv.Itoa(maxTagBytes>>20) + " MiB"}
	}
	return nil
}
